"""The data of a task: read once from the Hub or a file into rows of one form, then drawn from."""

import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from datasets import load_dataset
from huggingface_hub import HfApi

from headtypes.base.errors import InputError, nearest, one_line
from headtypes.base.files import read_json_lines, sha256_file
from headtypes.tasks.squad import questions_from_rows, questions_of, read_squad
from headtypes.world.tasks import make_entailment, make_paraphrases, make_question_answering


def _delimited(path: str, **form) -> pd.DataFrame:
    with warnings.catch_warnings():
        # Without these two, a field too many in every line would shift the columns, or be dropped.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(path, dtype=str, keep_default_na=False, index_col=False, **form)


_READERS = {
    # Quotes are part of the sentences in the GLUE files, which are separated by tabs alone.
    ".tsv": lambda path: _delimited(path, sep="\t", quoting=3),
    ".csv": _delimited,
    ".jsonl": lambda path: pd.DataFrame(read_json_lines(path), dtype=object),
    ".parquet": pd.read_parquet,
}


def fetch_task(task: str, kind: str, source: dict, columns: dict | None) -> tuple[list[dict], dict]:
    """Read a task's data, downloading them where they come from the Hub.

    kind:    question_answering, or sentence_pair with `columns` (first, second and perhaps label and id).
    source:  as in the configuration: hub with name, revision and split; or file; or world with seed, split and size.
    returns  the rows and a record of where they come from: task, source, revision as resolved, rows.
        Question answering: id, article, question, context, answers and answer_starts. Sentence pairs: id, first,
        second, label.
    Raises `InputError` when the data cannot be had or are not in the form that the kind asks for.
    """
    if "world" in source:
        rows = _from_world(**source)
        return rows, {"task": task, **source, "revision": None, "rows": len(rows)}
    if "hub" in source:
        table, origin = _from_hub(task, source)
        where = source["hub"]
    else:
        where, table = source["file"], None
        if not Path(where).is_file():
            raise InputError(f"tasks.{task}.source.file: there is no file {where}.")
        origin = {"file": where, "sha256": sha256_file(where), "revision": None}
    if kind == "question_answering":
        rows = read_squad(where) if table is None else questions_from_rows(table, where)
    else:
        frame = _read_table(where) if table is None else table.to_pandas()
        rows = _pairs(frame, columns, where, f"tasks.{task}.columns")
    return rows, {"task": task, **origin, "rows": len(rows)}


def sample_inputs(rows: list[dict], *, kind: str, samples: int, seed: int) -> list[dict]:
    """Draw inputs for the distance features, without replacement, in the order of the data.

    returns id, first, second: question and context, or the two sentences. All rows where there are fewer.
    """
    first, second = ("question", "context") if kind == "question_answering" else ("first", "second")
    return [
        {"id": rows[index]["id"], "first": rows[index][first], "second": rows[index][second]}
        for index in _draw(len(rows), samples, seed)
    ]


def sample_questions(rows: list[dict], *, questions: int | str, seed: int | None) -> list[dict]:
    """Draw questions for evaluation, without replacement, in the order of the data; or take all."""
    return rows if questions == "all" else [rows[index] for index in _draw(len(rows), questions, seed)]


def _draw(rows: int, wanted: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).permutation(rows)[:wanted])


def _from_world(world: str, seed: int, split: str, size: int) -> list[dict]:
    if world == "question_answering":
        return questions_of(make_question_answering(seed, split, size), "the generated world")
    make, first, second = {
        "paraphrase": (make_paraphrases, "sentence1", "sentence2"),
        "entailment": (make_entailment, "premise", "hypothesis"),
    }[world]
    return [
        {"id": f"{split}-{number:05d}", "first": row[first], "second": row[second], "label": row["label"]}
        for number, row in enumerate(make(seed, split, size))
    ]


def _from_hub(task: str, source: dict):
    hub, name, revision = source["hub"], source.get("name"), source.get("revision")
    try:
        if revision is None:
            revision = HfApi().dataset_info(hub).sha
        data = load_dataset(hub, name, revision=revision, split=source["split"])
    except Exception as error:
        raise InputError(
            f"tasks.{task}.source: {hub} ({', '.join(filter(None, (name, revision, source['split'])))}) cannot be "
            f"loaded: {one_line(error)}. Connect to the Hub once, check name, revision and split, or give a local "
            "file."
        ) from error
    return data, {"hub": hub, "name": name, "split": source["split"], "revision": revision}


def _read_table(path: str) -> pd.DataFrame:
    suffix = Path(path).suffix.lower()
    if suffix not in _READERS:
        raise InputError(f"{path}: sentence pairs are read from {', '.join(_READERS)}; found {suffix or 'no suffix'}.")
    try:
        return _READERS[suffix](path)
    except (ValueError, TypeError, AttributeError, OSError, pd.errors.ParserWarning) as error:
        raise InputError(f"{path} cannot be read as {suffix[1:]} ({one_line(error)}).") from error


def _pairs(frame: pd.DataFrame, columns: dict, where: str, key: str) -> list[dict]:
    if frame.empty:
        raise InputError(f"{where} has no rows.")
    present = [str(column) for column in frame.columns]
    frame = frame.set_axis(present, axis=1)
    for column in columns.values():
        if column not in present:
            raise InputError(
                f"{key}: {where} has no column {column}.{nearest(column, present)} It has {', '.join(present)}."
            )
    pairs = pd.DataFrame({key: frame[column].to_numpy(object) for key, column in columns.items()})
    for row, pair in enumerate(zip(pairs["first"], pairs["second"], strict=True), start=1):
        if not all(isinstance(text, str) and text.strip() for text in pair):
            raise InputError(f"{where}: row {row} has no text in {columns['first']} or {columns['second']}.")
    ids = _plain(pairs["id"], where, columns["id"]) if "id" in columns else range(len(pairs))
    ids = [str(id_) for id_ in ids]
    if len(set(ids)) < len(ids):
        raise InputError(f"{key}.id: the column {columns['id']} of {where} does not hold every id once.")
    labels = _plain(pairs["label"], where, columns["label"]) if "label" in columns else [None] * len(pairs)
    return [
        {"id": id_, "first": first, "second": second, "label": label}
        for id_, first, second, label in zip(ids, pairs["first"], pairs["second"], labels, strict=True)
    ]


def _plain(values: Iterable, where: str, column: str) -> list[str | int | bool]:
    """Ids or labels as they go into JSON: text and whole numbers."""
    plain = []
    for row, value in enumerate(values, start=1):
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # pandas turns whole numbers into these where one is missing.
        if value == "" or not isinstance(value, str | int):
            raise InputError(f"{where}: row {row} has {value!r} in {column}; text or a whole number is needed.")
        plain.append(value)
    return plain
