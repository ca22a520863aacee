"""A small workflow in which everything has been made, and a bench on which its jobs run once more, with faults."""

import contextlib
import csv
import json
import os
import shutil
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from transformers import BertForMaskedLM

from headtypes.core.files import write_json_lines
from headtypes.data.kinds.treebank import Sentence
from headtypes.planning.provenance import beside
from tests.reliability.bench import Bench
from tests.support.models import QUESTIONS, tiny_bert, tiny_language_model
from tests.support.objects import planted_decoder, sentences
from tests.support.planning import Job, take_as_made
from tests.support.workplace import Workplace
from tests.workflow.conftest import squad_file

# Ids as data may have them: none may become the name of a file.
IDS = ["../../escaped", "/tmp/escaped", "a/b", "$(touch escaped)", "; touch escaped", "q\nescaped"]

_PARTS = {"file": "dev", "training_file": "train", "test_file": "test"}
# Four sentences with a tree, and the mentions of two entities.
_CONLLU = "\n".join(
    f"{line}\n"
    for line in (
        "\n".join(
            f"{number}\t{word}\t_\t{upos}\t{xpos}\t_\t{head}\t{label}\t_\t{misc}"
            for number, (word, upos, xpos, head, label, misc) in enumerate(sentence, start=1)
        )
        for sentence in (
            (
                ("the", "DET", "DT", 2, "det", "Entity=(1"),
                ("cat", "NOUN", "NN", 3, "nsubj", "Entity=1)"),
                ("sat", "VERB", "VBD", 0, "root", "_"),
            ),
            (("it", "PRON", "PRP", 2, "nsubj", "Entity=(1)"), ("ran", "VERB", "VBD", 0, "root", "_")),
            (
                ("it", "PRON", "PRP", 2, "nsubj", "Entity=(1)"),
                ("saw", "VERB", "VBD", 0, "root", "_"),
                ("the", "DET", "DT", 4, "det", "_"),
                ("house", "NOUN", "NN", 2, "obj", "_"),
            ),
            # Long enough for Clark's Figure 5, and with so many relations and mentions that some head is right at one.
            (
                ("the", "DET", "DT", 2, "det", "Entity=(2"),
                ("dog", "NOUN", "NN", 4, "nsubj:pass", "Entity=2)"),
                ("was", "AUX", "VBD", 4, "aux:pass", "Entity=(2)"),
                ("seen", "VERB", "VBN", 0, "root", "Entity=(2)"),
                ("in", "ADP", "IN", 7, "case", "Entity=(2)"),
                ("its", "PRON", "PRP$", 7, "nmod:poss", "Entity=(2)"),
                ("house", "NOUN", "NN", 4, "obl", "Entity=(2)"),
                ("again", "ADV", "RB", 4, "advmod", "Entity=(2)"),
            ),
        )
    )
)


def _in_conllu(sentence: Sentence) -> str:
    rows = zip(sentence.words, sentence.heads, sentence.relations, strict=True)
    lines = [f"{number}\t{word}\t_\t_\t_\t_\t{head}\t{name}\t_\t_" for number, (word, head, name) in enumerate(rows, 1)]
    return "\n".join([*lines, "", ""])


def small_config(folder: Path) -> dict:
    """A configuration in which every rule has a job; the model and data that it names are put into `folder`."""
    folder.mkdir(parents=True)
    model, tokenizer = tiny_bert(layers=2, heads=4, head_size=4)
    # Beside the head for questions one for masked words, so that there are gradients on texts too.
    words = {name: weight for name, weight in BertForMaskedLM(model.config).named_parameters() if "cls." in name}
    model.save_pretrained(folder / "model", state_dict={**model.state_dict(), **words})
    tokenizer.save_pretrained(folder / "model")
    # The second has a head that finds something, and is used for it.
    decoders = {
        "decoder": tiny_language_model("llama", max_position_embeddings=256),
        "objects": planted_decoder("read"),
    }
    for name, parts in decoders.items():
        for part in parts:
            part.save_pretrained(folder / name)
    squad = squad_file(folder / "squad.json")
    data = json.loads(squad.read_text())
    asked = [question for paragraph in data["data"][0]["paragraphs"] for question in paragraph["qas"]]
    assert len(asked) == len(IDS) == 2 * len(QUESTIONS)
    for question, id_ in zip(asked, IDS, strict=True):
        question["id"] = id_
    data["data"][0]["title"] = "../animals"
    squad.write_text(json.dumps(data))
    shutil.copy(squad, folder / "training.json")
    with open(folder / "mine.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [["layer", "head", "type"], *([n // 4, n % 4, ("dense", "odd")[n % 2]] for n in range(8))]
        )
    for name in ("dev", "train", "test", "stories"):
        (folder / f"{name}.conllu").write_text(_CONLLU)
    (folder / "objects.conllu").write_text("".join(map(_in_conllu, sentences(120))))
    (folder / "vectors.txt").write_text("the 1 0\ncat 0 1\n")
    trees = {key: str(folder / f"{name}.conllu") for key, name in _PARTS.items()}
    texts = [
        {"id": f"../{number}", "paragraphs": [context, context[:30]]} for number, (_, context) in enumerate(QUESTIONS)
    ]
    write_json_lines(folder / "texts.jsonl", texts)
    source = {"file": str(squad), "training_file": str(folder / "training.json")}
    made = {"base": "tiny", "task": "animals", "batch_size": 8, "epochs": 1.0, "max_seq_length": 48}
    return {
        "tasks": {
            "animals": {"source": source, "samples": 5},
            "texts": {"kind": "text", "source": {"file": str(folder / "texts.jsonl")}, "samples": 3},
            "trees": {"kind": "treebank", "source": trees},
            "stories": {"kind": "coreference", "source": {"file": str(folder / "stories.conllu")}},
            "objects": {"kind": "treebank", "source": {"file": str(folder / "objects.conllu")}},
        },
        "models": {
            "tiny": {
                "source": {"folder": str(folder / "model")},
                "tasks": ["animals", "texts", "trees", "stories"],
                "evaluate": "animals",
            },
            "made": {"source": {"finetuned": made}, "tasks": ["animals"]},
            "tiny-decoder": {"source": {"folder": str(folder / "decoder")}, "tasks": ["animals", "trees"]},
            "tiny-objects": {"source": {"folder": str(folder / "objects")}, "tasks": ["objects"]},
            "copying": {"source": {"trained": {"layers": 2, "keep": [0, 20]}}},
            "grown-{step}": {"source": {"checkpoint": {"of": "copying", "step": "{step}"}}, "over": {"step": [0, 20]}},
        },
        "windows": {"max_seq_length": 40, "doc_stride": 10, "max_query_length": 12},
        "clustering": {"of": ["weights", "norms"], "restarts": 2},
        "stability": {"models": 2},
        "partitions": {"mine": {"file": str(folder / "mine.csv"), "model": "tiny", "task": "animals"}},
        "conditions": {"baseline": {}, "mixed": {"dense": "mean"}},
        "relations": {"least": 1},
        "probes": {"vectors": {"file": str(folder / "vectors.txt")}, "seeds": 1},
        "readings": {"segments": {"sentences": "segments"}},
        "controls": {"draws": 1, "questions": 3},
        "curves": {"orders": 1, "questions": 3},
        "detectors": {
            "models": ["tiny-decoder", "copying", "grown-{step}"],
            "sequences": 4,
            "length": 8,
            "context": 250,
            "draws": 2,
        },
        # More than one batch, so that there is something to share.
        "compute": {"batch_tokens": 512},
        "select": {"partitions": ["animals-kmeans-k4", "mine"]},
    }


@dataclass
class Finished:
    """The finished workflow, and its jobs."""

    place: Workplace
    bench: Bench

    @cached_property
    def of_rule(self) -> dict[str, str]:
        """A job of each case; see `cases`."""
        return cases(self.bench)

    def job(self, case: str) -> dict:
        """The job of a case: a rule, or one of those that merge what was shared."""
        return self.bench.jobs[self.of_rule[case]]

    def inputs(self, case: str) -> list[str]:
        """The files and folders that the job reads."""
        return [path for paths in self.job(case)["inputs"].values() for path in paths]

    def before(self, case: str, folder: Path) -> Path:
        """Make a folder as it is before a job of the case runs."""
        (folder / "results").mkdir(parents=True)
        # Tables name the samples of a task once for each partition.
        for path in dict.fromkeys(self.inputs(case)):
            if not os.path.isabs(path):
                self._bring(path, folder)
            if path.startswith("results/"):
                record = beside(path)
                if (self.place.folder / record).exists():
                    self._bring(record, folder)
        return folder

    def _bring(self, path: str | Path, folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        source = self.place.folder / path
        if source.is_dir():
            shutil.copytree(source, folder / path, copy_function=os.link)
        else:
            os.link(source, folder / path)

    def run(self, case: str, folder: Path, how: str = "plainly") -> Any:
        """Run the job of a case in a folder."""
        return self.bench.run(self.of_rule[case], folder, how)

    def copied(self, folder: Path) -> Workplace:
        """A copy of the finished workflow, in which files may be changed; those of `before` are links."""
        return Workplace(Path(shutil.copytree(self.place.folder, folder)), self.place.config)

    def runs_again(self, place: Workplace) -> set[tuple[str, ...]]:
        """The outputs of each job that Snakemake would run in a place now."""
        return {outputs_of(job) for job in place.scheduled()}

    @contextlib.contextmanager
    def replaced(self, source: Path, content: bytes) -> Iterator[None]:
        """Another file in the place of a source, for a `with` block."""
        kept = source.with_name(f".{source.name}.kept")
        shutil.move(source, kept)
        try:
            source.write_bytes(content)
            yield
        finally:
            shutil.move(kept, source)

    def after(self, outputs: set[str]) -> set[tuple[str, ...]]:
        """The outputs of each job, by Snakemake's plan, that reads these files, or what is made of them."""
        found: set[tuple[str, ...]] = set()
        for name, job in self.bench.jobs.items():
            reads = {path for paths in job["inputs"].values() for path in paths}
            if not name.endswith(", shared") and reads & outputs:
                found.add(tuple(job["outputs"]))
                outputs = outputs | set(job["outputs"])
        return found


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Iterator[Finished]:
    """The small workflow with everything made but the last figures."""
    base = tmp_path_factory.mktemp("finished")
    place = Workplace.copied(base / "place", small_config(base / "inputs"))
    bench = Bench(place.folder)
    make(bench, place.folder)
    yield Finished(place, bench)
    bench.close()


def merges(name: str, job: dict) -> bool:
    """Whether a job merges what others have shared."""
    return name.endswith(", shared") and not job["rule"].endswith("_shard")


def cases(bench: Bench) -> dict[str, str]:
    """A job of each rule, and one of each rule that merges what others have shared."""
    found: dict[str, str] = {}
    for name, job in bench.jobs.items():
        found.setdefault(f"{job['rule']}, shared" if merges(name, job) else job["rule"], name)
    return found


def make(bench: Bench, folder: Path) -> None:
    """Run the jobs that those of the cases need, and have Snakemake record that all have run."""
    wanted = {path for name in cases(bench).values() for paths in bench.jobs[name]["inputs"].values() for path in paths}
    needed = []
    for name, job in reversed(bench.jobs.items()):
        if wanted & set(job["outputs"]) and not merges(name, job):
            wanted.update(path for paths in job["inputs"].values() for path in paths)
            needed.insert(0, name)
    for name in needed:
        came = bench.run(name, folder)
        assert came["status"] == 0, f"{name}: {came['printed']}"
    for path in [path for job in bench.jobs.values() for path in job["outputs"]]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if path.startswith("results/trained/"):
            # A folder, which no job here needed.
            (folder / path).mkdir(exist_ok=True)
        if (folder / path).is_dir():
            # As Snakemake does.
            (folder / path / ".snakemake_timestamp").touch()
        elif not path.startswith("results/shards"):
            (folder / path).touch()
    take_as_made(folder)


def mark_as_running(folder: Path, outputs: list[str]) -> None:
    """Leave Snakemake's mark of a job that has begun and not ended."""
    for path in outputs:
        marks = folder / ".snakemake" / "incomplete"
        marks.mkdir(parents=True, exist_ok=True)
        name = urlsafe_b64encode(path.encode()).decode()
        assert len(name) < 255
        (marks / name).write_text('{"external_jobid": null}')


def outputs_of(job: Job) -> tuple[str, ...]:
    """The outputs of a job of a plan, without its benchmark."""
    return tuple(path.rstrip("/") for path in job.outputs if not path.endswith("benchmark.tsv"))
