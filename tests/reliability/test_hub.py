"""Faults at the Hub: each ends in a sentence and nothing half-taken, and the same command goes on afterwards.

The real libraries speak with a Hub on the loopback address (`tests.support.hub`), in the real jobs.
`benchmarks/hub_faults.py` tries every fault at every request.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reliability.bench import Bench
from tests.reliability.disks import mounts_allowed
from tests.support.hub import Fault, Hub
from tests.support.stand_ins import COMMITS, write_stand_ins
from tests.support.workplace import Workplace

BERT = "google-bert/bert-base-uncased"
SQUAD, REVISION = "rajpurkar/squad", COMMITS["datasets/rajpurkar/squad"]
GLUE = "nyu-mll/glue"
MODEL, DATA, PAIRS = "fetch_model bert", "fetch_task squad", "fetch_task pairs"
CONFIG = {
    "tasks": {
        "squad": {
            "kind": "question_answering",
            "source": {"hub": SQUAD, "revision": REVISION, "split": "validation"},
            "samples": 4,
        },
        # Without a revision, the current one is taken.
        "pairs": {
            "kind": "sentence_pair",
            "source": {"hub": GLUE, "name": "mrpc", "split": "validation"},
            "columns": {"first": "sentence1", "second": "sentence2", "label": "label", "id": "idx"},
        },
    },
    "models": {"bert": {"source": {"hub": BERT}, "tasks": ["squad", "pairs"]}},
}
WEIGHTS, PARQUET, CARD = r"^GET /large/.*safetensors", r"^GET /large/.*validation", "README.md$"
INFORMATION, TREE = "^GET /api/.*/revision/", "^GET /api/.*/tree/"
needs_mounts = pytest.mark.skipif(not mounts_allowed(), reason="file systems cannot be mounted here")

# Job, what is wrong with which requests, and what the sentence says.
TOLD = [
    (MODEL, "no repository", INFORMATION, [".hub: there is no model google-bert/bert-base-uncased", "hf auth login"]),
    (MODEL, "nobody", INFORMATION, [".hub: there is no model google-bert/bert-base-uncased", "HF_TOKEN"]),
    (MODEL, "no revision", INFORMATION, [".revision: google-bert/bert-base-uncased has no revision main", "another"]),
    (MODEL, "gated, not logged in", "/resolve/", ["terms to be accepted", "hf auth login"]),
    (MODEL, "gated", "/resolve/", ["terms to be accepted", "hf auth login"]),
    (MODEL, "disabled", "", ["has been disabled on the Hub", "local folder"]),
    (MODEL, "forbidden", "", ["Your token lacks a permission", "hf auth login"]),
    (MODEL, "429", INFORMATION, ["too many requests", "wait some minutes and run again"]),
    (MODEL, "500", TREE, ["now (500)", "run again later"]),
    (MODEL, "503", WEIGHTS, ["now (503)", "run again later"]),
    (MODEL, "no file", WEIGHTS, ["lacks a file that it lists", "another revision"]),
    (MODEL, "reset", WEIGHTS, ["broke off", "run again"]),
    (MODEL, "cut off", WEIGHTS, ["broke off", "run again"]),
    (MODEL, "too short", WEIGHTS, ["broke off", "run again"]),
    (MODEL, "too short", TREE, ["broke off", "run again"]),
    (MODEL, "other bytes", WEIGHTS, ["model.safetensors came damaged", "removed from the cache; run again"]),
    (MODEL, "other bytes", "GET .*/config.json", ["config.json came damaged", "removed from the cache; run again"]),
    (DATA, "no repository", CARD, [".hub: there is no data set rajpurkar/squad", "hf auth login"]),
    (DATA, "no revision", CARD, [f".revision: rajpurkar/squad has no revision {REVISION}", "another"]),
    (DATA, "gated", CARD, ["terms to be accepted", "hf auth login"]),
    (DATA, "gated", "squad.py", ["terms to be accepted", "hf auth login"]),
    (DATA, "429", PARQUET, ["too many requests", "run again"]),
    (DATA, "cut off", PARQUET, ["broke off", "run again"]),
    (DATA, "too short", PARQUET, ["broke off", "run again"]),
    (DATA, "too short", TREE, ["broke off", "run again"]),
    (DATA, "other bytes", PARQUET, [".parquet came damaged", "removed from the cache; run again"]),
    (DATA, "other bytes", CARD, ["README.md came damaged", "removed from the cache; run again"]),
]


class Bank:
    """The jobs, the Hub and the cache that they have in common."""

    def __init__(self, folder: Path):
        self.hub, self._work = Hub(write_stand_ins(folder / "hub"), COMMITS), folder / "work"
        self.home = folder / "home"
        Workplace.copied(folder / "workflow", CONFIG)
        environment = {**self.hub.environment, "HF_HOME": str(self.home)}
        self._bench = Bench(folder / "workflow", "tests.reliability.hub_bench", environment)
        self.whole, self.requests = {}, {}
        for job in (MODEL, DATA):
            with self.hub.failing(None):
                self.whole[job] = self.fetched(job)
            self.requests[job] = list(dict.fromkeys(self.hub.requests))

    def empty(self) -> None:
        """Empty the cache."""
        shutil.rmtree(self.home)
        self.home.mkdir()

    def run(self, job: str, how: str = "plainly") -> tuple[int, str, dict[str, bytes]]:
        """Run a job; return its status, what it printed, and what it made of the source."""
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir()
        answer = self._bench.run(job, self._work, how)
        made = [self._work / path for path in self._bench.jobs[job]["outputs"]]
        return answer["status"], answer["printed"], {path.name: path.read_bytes() for path in made if path.exists()}

    def fetched(self, job: str, how: str = "plainly") -> dict[str, bytes]:
        """What a job makes that must end well."""
        status, printed, made = self.run(job, how)
        assert status == 0, printed
        return made

    def refused(self, job: str, how: str = "plainly") -> str:
        """The sentence of a job that must end with one, and leave nothing half-taken."""
        status, printed, made = self.run(job, how)
        assert (status, made) == (1, {}), printed
        assert "Traceback" not in printed
        assert not list(self.home.glob("hub/**/*.incomplete"))
        sentence = re.split(r"[\r\n]", printed.strip())[-1]
        key = "models.bert.source" if job == MODEL else "tasks.squad.source"
        assert sentence.startswith(f"{job}: {key}."), printed
        assert (BERT if job == MODEL else SQUAD) in sentence
        assert sentence.endswith(".")
        return sentence

    def close(self) -> None:
        """End the processes."""
        self._bench.close()
        self.hub.stop()


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> Iterator[Bank]:
    bank = Bank(tmp_path_factory.mktemp("bank"))
    yield bank
    bank.close()


@pytest.fixture
def bank(opened) -> Bank:
    opened.empty()
    return opened


def name_of(value) -> str | None:
    return re.sub(r"[^a-zA-Z0-9 ]", "", value).strip() if isinstance(value, str) else ""


@pytest.mark.parametrize(("job", "kind", "where", "fragments"), TOLD, ids=name_of)
def test_a_fault_of_the_hub_is_told_and_the_same_command_goes_on(bank, job, kind, where, fragments):
    with bank.hub.failing(Fault(kind, where)):
        sentence = bank.refused(job)
    for fragment in fragments:
        assert fragment in sentence
    assert bank.fetched(job) == bank.whole[job]


@pytest.mark.parametrize("job", [MODEL, DATA])
def test_a_fault_at_any_request_is_told_and_the_same_command_goes_on(bank, job):
    # Files of one kind are asked for in the same way.
    asked = [request for request in bank.requests[job] if not re.search("tokenizer|vocab|train-", request)]
    assert len(asked) > 6
    for number, request in enumerate(asked):
        bank.empty()
        with bank.hub.failing(Fault(("503", "reset")[number % 2], f"^{re.escape(request)}$")):
            sentence = bank.refused(job)
        assert ("now (503)", "broke off")[number % 2] in sentence, request
        assert bank.fetched(job) == bank.whole[job], request


@pytest.mark.parametrize(("job", "where"), [(MODEL, INFORMATION), (MODEL, WEIGHTS), (DATA, TREE), (DATA, PARQUET)])
def test_an_answer_that_does_not_come_is_not_waited_for_without_end(bank, job, where):
    with bank.hub.failing(Fault("slow", where)):
        sentence = bank.refused(job, "impatient")
    assert "did not answer in time" in sentence
    assert "run again" in sentence
    assert bank.fetched(job) == bank.whole[job]


@pytest.mark.parametrize("job", [MODEL, DATA])
def test_a_hub_that_cannot_be_reached_is_told_and_a_filled_cache_does_without(bank, job):
    bank.hub.stop()
    try:
        sentence = bank.refused(job)
        assert f"{bank.hub.address} cannot be reached" in sentence
        assert "HF_ENDPOINT and HTTPS_PROXY" in sentence
    finally:
        bank.hub.start()
    assert "HF_HUB_OFFLINE forbids asking the Hub" in bank.refused(job, "offline")
    assert bank.fetched(job) == bank.whole[job]
    for fault in (Fault("503"), Fault("gated"), None):
        with bank.hub.failing(fault):
            assert bank.fetched(job, "plainly" if fault else "offline") == bank.whole[job]
    assert bank.hub.requests == []


def test_another_revision_in_the_cache_is_not_taken_for_the_one_that_is_pinned(bank):
    bank.fetched(DATA)
    for folder in list((bank.home / "datasets").rglob(REVISION)):
        folder.rename(folder.with_name("0" * 40))
    shutil.rmtree(bank.home / "hub")
    sentence = bank.refused(DATA, "offline")
    assert f"only as of revision {'0' * 40}, not {REVISION}" in sentence
    assert bank.fetched(DATA) == bank.whole[DATA]


@needs_mounts
@pytest.mark.parametrize("job", [MODEL, DATA])
@pytest.mark.parametrize(
    ("how", "why"), [("full cache", "No space left"), ("read-only cache", "Read-only file system")]
)
def test_a_cache_that_cannot_be_written_is_told(bank, job, how, why):
    sentence = bank.refused(job, how)
    assert why in sentence
    assert f"the cache, {bank.home}" in sentence
    assert "set HF_HOME" in sentence
    assert bank.fetched(job) == bank.whole[job]


@needs_mounts
def test_a_filled_cache_that_cannot_be_written_is_read(bank):
    bank.fetched(MODEL)
    bank.fetched(DATA)
    assert bank.fetched(MODEL, "read-only cache") == bank.whole[MODEL]
    assert "HF_DATASETS_CACHE" in bank.refused(DATA, "read-only cache")
    assert bank.fetched(DATA, "read-only cache, data elsewhere") == bank.whole[DATA]


def test_the_current_revision_of_a_data_set_is_recorded_and_remembered(bank):
    made = bank.fetched(PAIRS)
    record = json.loads(made["pairs.json"])
    origin = {"hub": GLUE, "name": "mrpc", "split": "validation", "revision": COMMITS[f"datasets/{GLUE}"]}
    assert record == {"task": "pairs", **origin, "rows": 12}
    assert bank.fetched(PAIRS, "offline") == made


def test_only_what_is_read_is_downloaded(bank):
    asked = " ".join(bank.requests[MODEL])
    assert "safetensors" in asked
    assert not re.search("pytorch_model|tf_model|flax_model|README", asked)


@needs_mounts
def test_a_damaged_file_of_a_cache_that_cannot_be_written_is_named(bank):
    bank.fetched(MODEL)
    (weights,) = bank.home.rglob("model.safetensors")
    weights.resolve().write_bytes(b"damaged")
    sentence = bank.refused(MODEL, "read-only cache")
    assert f"delete {weights} and run again" in sentence
    assert "removed from the cache" in bank.refused(MODEL)
    assert bank.fetched(MODEL) == bank.whole[MODEL]
