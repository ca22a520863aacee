"""Tasks on the first rows of the demo's data."""

import json
from functools import cache
from itertools import count
from pathlib import Path

from headtypes.data.fetching import read_file
from headtypes.data.tasks import KINDS
from tests.support.places import ROOT

PAIRS = {"first": "sentence1", "second": "sentence2", "label": "label", "id": "id"}
_FILES = {
    "question_answering": "questions_{part}.json",
    "sentence_pair": "paraphrase_{part}.tsv",
    "text": "paragraphs.jsonl",
    "treebank": "trees_{part}.conllu",
    "coreference": "stories.conllu",
}


def demo_file(kind: str, part: str = "dev") -> Path:
    """A file of the demo: the part (dev or train) of its data of a kind that is evaluated, or learned."""
    return ROOT / "demo" / _FILES[kind].format(part=part)


@cache
def demo_rows(kind: str, size: int, part: str = "dev") -> list:
    path = str(demo_file(kind, part))
    data, _ = read_file(path, KINDS[kind].form)
    return KINDS[kind].rows_of_file(data, path, "", PAIRS if kind == "sentence_pair" else None)[:size]


def demo_task(folder: Path, kind: str, size: int, training_size: int | None = None) -> dict:
    source = {"file": _first(folder, kind, "dev", size)}
    if training_size is not None:
        source["training_file"] = _first(folder, kind, "train", training_size)
    columns = {"columns": {"label": "label", "id": "id"}} if kind == "sentence_pair" else {}
    return {"kind": kind, "source": source, **columns}


def _first(folder: Path, kind: str, part: str, size: int) -> str:
    path = demo_file(kind, part)
    text = path.read_text(encoding="utf-8")
    match kind:
        case "question_answering":
            data, number = json.loads(text), count()
            for article in data["data"]:
                for paragraph in article["paragraphs"]:
                    paragraph["qas"] = [asked for asked in paragraph["qas"] if next(number) < size]
            text = json.dumps(data)
        case "coreference":
            text = "".join(f"# newdoc{each}" for each in text.split("# newdoc")[1 : size + 1])
        case "treebank":
            text = "".join(f"{each}\n\n" for each in text.split("\n\n")[:size])
        case _:
            text = "".join(text.splitlines(keepends=True)[: size + (kind == "sentence_pair")])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_text(text, encoding="utf-8")
    return str(folder / path.name)
