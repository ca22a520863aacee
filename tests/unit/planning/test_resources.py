"""What jobs ask for: more than was measured, never many times more, and more with every attempt."""

import json
from types import SimpleNamespace

import pytest

from headtypes.analyses.distances.analysis import extract_features
from headtypes.analyses.types.analysis import cluster_heads
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.resources import UNKNOWN, ModelSize, Needs, _with_model, gpus, model_size, needs

MINILM = ModelSize(layers=6, heads=12, width=384, parameters=22_566_146, max_length=512)
LARGE = ModelSize(layers=24, heads=16, width=1024, parameters=335_143_938, max_length=512)


@pytest.mark.parametrize(
    ("computes", "model", "batch", "longest", "tokens", "megabytes", "seconds"),
    [
        ("forward", MINILM, 4096, 512, 32_859, 829, 17),
        ("forward", MINILM, 4096, 512, 227_546, 831, 45),
        ("forward", MINILM, 4096, 384, 2_800_275, 1313, 2577),
        ("forward", LARGE, 4096, 384, 7_684, 2966, 22),
        ("divergence", MINILM, 4096, 128, 128_000, 817, 80),
        ("gradients", MINILM, 4096, 512, 32_859, 1345, 19),
        ("gradients", MINILM, 4096, 384, 2_800_275, 1704, 3143),
        ("gradients", LARGE, 4096, 384, 7_684, 6649, 43),
        ("training", LARGE, 32 * 63, 63, 3 * 1_046, 8857, 290),
        ("training", MINILM, 16 * 162, 162, 350_000, 2079, 153),
    ],
)
def test_a_job_asks_for_more_than_was_measured_and_not_for_many_times_more(
    computes, model, batch, longest, tokens, megabytes, seconds
):
    asked = _with_model(computes, model, batch, longest, tokens)
    assert 1.5 * megabytes < asked.mem_mb < 2.5 * megabytes
    assert seconds / 60 < asked.minutes < 60 + 6 * seconds / 60


def test_every_attempt_asks_for_twice_as_much():
    assert [Needs(3, 5).at(attempt) for attempt in (1, 2, 3)] == [(3, 5), (6, 10), (12, 20)]


def test_a_model_on_several_devices_asks_for_their_gpus_and_holds_what_the_machine_may():
    one, several = (_with_model("forward", LARGE, 4096, 512, 1, memory=it) for it in (None, {"gpu": 1.0, "cpu": 0.2}))
    assert several.mem_mb < one.mem_mb


@pytest.fixture
def plan():
    source = {"hub": "some/one"}
    tasks = {"squad": {"source": {"hub": "some/questions"}}}
    models = {
        "one": {"source": source, "tasks": ["squad"], "evaluate": "squad"},
        "large": {"source": source, "tasks": ["squad"], "memory": {"gpu": 1.0}},
    }
    return Plan(read_config({"tasks": tasks, "models": models, "conditions": {"baseline": {}}}))


@pytest.fixture
def record(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(LARGE._asdict()))
    return tmp_path / "one.json"


def test_the_needs_of_a_job_follow_from_its_inputs(plan, record, tmp_path):
    (tmp_path / "short").write_bytes(b"x" * 1000)
    (tmp_path / "long").write_bytes(b"x" * 4_000_000)
    wildcards = SimpleNamespace(model="one", task="squad")
    short, long = (
        needs(plan, extract_features, wildcards, SimpleNamespace(model=record, samples=tmp_path / name))
        for name in ("short", "long")
    )
    assert short.mem_mb < long.mem_mb
    assert short.minutes < long.minutes
    with pytest.raises(FileNotFoundError):
        needs(plan, extract_features, wildcards, SimpleNamespace(model=record, samples=tmp_path / "none"))


def test_a_job_without_a_model_asks_for_memory_by_the_size_of_its_files(plan, tmp_path):
    files = [tmp_path / name for name in ("empty", "one", "two")]
    for file, megabytes in zip(files, (0, 3, 3), strict=True):
        with file.open("wb") as written:
            written.truncate(megabytes * 1_000_000)
    none, some = (needs(plan, cluster_heads, None, inputs).mem_mb for inputs in (files[:1], files))
    assert none < 1200
    assert some - none == 90


def test_gpus_are_as_many_as_the_weights_need(plan, record):
    assert (gpus(plan, "one", record), gpus(plan, "large", record)) == (1, 2)


def test_a_record_that_cannot_be_read_is_taken_for_a_large_model(tmp_path):
    (tmp_path / "one.json").write_text("{}")
    assert model_size(tmp_path / "one.json") == UNKNOWN
