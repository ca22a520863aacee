"""One GPU for each process, told with locks alone; a model whose layers lie in several places gives the same numbers.

These may differ in the last bits, since how a processor adds up can depend on where in memory weights lie."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from headtypes.analyses.ablation.evaluation import Evaluator, Settings
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.outputs.measure import measure_outputs
from headtypes.attention.one_pass import ModelOnTask
from headtypes.data.kinds.question_answering import build_windows
from headtypes.models import placement
from headtypes.models.loading import load_model
from headtypes.models.placement import MEMORY, VISIBLE, _take_gpu, _visible_gpus, device_of, gpus_for, keep_to_gpus
from tests.support.models import tiny_bert, tiny_family
from tests.support.reading import measured
from tests.support.records import SAMPLES, questions, recorded


@pytest.mark.parametrize(
    ("named", "nodes", "expected"),
    [
        (None, 0, []),
        (None, 3, ["0", "1", "2"]),
        ("2,0", 4, ["2", "0"]),
        ("GPU-8f2c, MIG-51", 8, ["GPU-8f2c", "MIG-51"]),
        ("0,0,1", 2, ["0", "0", "1"]),
        ("", 2, []),
        ("-1", 2, []),
        ("1,-1,0", 2, ["1"]),
        ("NoDevFiles", 2, []),
    ],
)
def test_the_gpus_that_cuda_would_show(named, nodes, expected):
    assert _visible_gpus(named, nodes) == expected


def test_no_two_hold_a_gpu_and_the_next_gets_that_of_one_that_has_ended(tmp_path, capsys):
    """Locks are of open files, so that one process tells as much as several."""
    (one, _), (other, lock) = (_take_gpu(["0", "1"], tmp_path) for _ in range(2))
    assert {one, other} == {"0", "1"}
    with ThreadPoolExecutor(1) as waiting:
        third = waiting.submit(_take_gpu, ["0", "1"], tmp_path)
        time.sleep(1.2)
        assert not third.done()
        assert capsys.readouterr().err == "All GPUs (0, 1) are taken by other jobs; waiting for one.\n"
        lock.close()
        assert third.result()[0] == other


@pytest.fixture
def machine(tmp_path, monkeypatch):
    def made(nodes: int, named: str | None = None):
        paths = [tmp_path / f"nvidia{number}" for number in range(nodes)]
        for path in paths:
            path.touch()
        monkeypatch.setattr(placement, "_nodes", lambda: paths)
        monkeypatch.setattr(placement.tempfile, "gettempdir", lambda: str(tmp_path))
        # Set first, so that what is taken here is taken back after the test.
        monkeypatch.setenv(VISIBLE, named or "")
        if named is None:
            monkeypatch.delenv(VISIBLE)
        keep_to_gpus.cache_clear()

    yield made
    keep_to_gpus.cache_clear()


@pytest.mark.parametrize(("number", "taken"), [(1, "0"), (2, "0,1")])
def test_a_process_sees_the_gpus_that_it_has_taken_and_another_takes_the_next(machine, tmp_path, number, taken):
    machine(3)
    for _ in range(2):
        keep_to_gpus(number)
        assert os.environ[VISIBLE] == taken
    (folder,) = tmp_path.glob("headtypes-gpus-*")
    assert _take_gpu(["0", "1", "2"], folder)[0] == str(number)


@pytest.mark.parametrize(("nodes", "named"), [(2, "0"), (2, "GPU-8f2c"), (2, ""), (0, None)])
def test_what_a_scheduler_has_chosen_stays_and_is_not_waited_for(machine, tmp_path, nodes, named):
    """Two jobs of a cluster on one node may see each its own GPU under the same name."""
    machine(nodes, named)
    assert keep_to_gpus(1) == []
    assert os.environ.get(VISIBLE) == named
    assert not list(tmp_path.glob("headtypes-gpus-*"))


def test_a_process_takes_its_gpu_before_it_looks_for_one(machine, tmp_path, monkeypatch):
    """PyTorch keeps to the GPUs that it sees at the first look."""
    record = recorded(*tiny_bert(layers=1), tmp_path / "model")
    machine(2)
    of_another = _take_gpu(["0", "1"], tmp_path / f"headtypes-gpus-{os.getuid()}")
    seen = []
    for module in (torch.accelerator, torch.cuda):
        monkeypatch.setattr(module, "is_available", lambda: seen.append(os.environ.get(VISIBLE)))
    load_model(record, "bfloat16")
    assert of_another[0] == "0"
    assert set(seen) == {"1"}


KIND = {"kind": "question_answering"}
SETTINGS = {"precision": "float32", "batch_tokens": 512}


@pytest.fixture(scope="module", params=["llama", "gptj", "bert"])
def both(request, tmp_path_factory):
    model, tokenizer = tiny_family(request.param)
    folder = tmp_path_factory.mktemp("models")
    most = sum(each.numel() for each in model.parameters()) * 4 * 0.8 / 1e9
    MEMORY["parts"] = {"cpu": most}
    whole, parts = (recorded(model, tokenizer, folder / name) for name in ("whole", "parts"))
    return whole, replace(parts, name="parts"), tokenizer


def runs(both):
    return [ModelOnTask(record, task="t", **SETTINGS) for record in both[:2]]


def test_layers_lie_on_disk_and_are_computed_where_the_inputs_are(both):
    model = load_model(both[1], "float32")
    assert {each.is_meta for each in model.parameters()} == {True, False}
    assert device_of(model) == torch.device("cpu")


@pytest.mark.parametrize("norms", [False, True], ids=["weights", "norms"])
def test_features_are_the_same(both, norms):
    found = [measured(extract_features, each, SAMPLES, norms=norms, **KIND) for each in runs(both)]
    for name in ("distance", "norms") if norms else ("distance",):
        np.testing.assert_allclose(*(getattr(each, name) for each in found), rtol=1e-5, atol=1e-6)


def test_what_heads_write_is_the_same(both):
    found = [measured(measure_outputs, each, SAMPLES, **KIND) for each in runs(both)]
    np.testing.assert_allclose(*(each.written for each in found), rtol=1e-5, atol=1e-6)


def test_answers_without_heads_are_the_same(both):
    *records, tokenizer = both
    rows, windows = questions(), build_windows(questions(), tokenizer, max_seq_length=60)
    shape = records[0].layers, records[0].heads
    sets = [np.full(shape, "keep", object) for _ in range(3)]
    sets[1][1, 0], sets[2][0, 1] = "zero", "uniform"
    settings = Settings(max_answer_length=30, **KIND, **SETTINGS)
    for (answers, scores), (same, others) in zip(
        *(Evaluator(rows, windows, each, None, settings).evaluate(sets, "test") for each in records), strict=True
    ):
        assert answers == same
        assert scores.equals(others)


@pytest.mark.parametrize(
    ("precision", "memory", "number"),
    [("bfloat16", {"gpu": 72}, 2), ("float32", {"gpu": 72}, 4), ("float32", {"cpu": 10}, 1), ("float32", None, 1)],
)
def test_a_model_of_70_billion_weights_asks_for_as_many_gpus_as_they_fill(precision, memory, number):
    assert gpus_for(70_553_706_496, precision, memory) == number
