"""What is asked of a model's weights, and where they may lie, changes no result, and runs nothing again."""

import hashlib
import json
import re

import numpy as np
import pytest
from safetensors.numpy import save

from tests.support.configs import DELETE, edited
from tests.support.planning import PlanningError
from tests.support.workplace import Workplace

WEIGHTS = save({"encoder.layer.0.weight": np.ones(3, np.float32), "qa_outputs.weight": np.ones(2, np.float32)})
RIGHT, PIN = hashlib.sha256(WEIGHTS).hexdigest(), "models/one/source/sha256"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Workplace:
    """A working directory with one model, in which everything has been made."""
    folder = tmp_path_factory.mktemp("pinned")
    model = folder / "inputs/model"
    model.mkdir(parents=True)
    (model / "config.json").write_text(json.dumps({"num_hidden_layers": 1, "num_attention_heads": 8}))
    (model / "model.safetensors").write_bytes(WEIGHTS)
    config = {
        "tasks": {"squad": {"source": {"hub": "some/questions"}}},
        "models": {"one": {"source": {"folder": str(model)}, "tasks": ["squad"], "evaluate": "squad"}},
        "conditions": {"baseline": {}, "zero-dense": {"dense": "zero"}},
    }
    return finish(Workplace.copied(folder, config))


def finish(place: Workplace) -> Workplace:
    """Make everything, and the record of the model as the job that fetches it would write it."""
    model = str(place.folder / "inputs/model")
    record = place.folder / "results/sources/models/one.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"folder": model, "weights": {"model.safetensors": RIGHT}}))
    place.finish()
    made = place.folder / "results/provenance/sources/models/one.json.json"
    spec = {"model": "one", "source": {"folder": model, "subfolder": ".", "pickle": False}}
    made.write_text(json.dumps({**json.loads(made.read_text()), "spec": spec}))
    return place


def test_a_right_sha256_that_is_added_or_taken_away_schedules_nothing(place):
    assert place.scheduled() == []
    pinned = edited(place.config, PIN, RIGHT)
    with place.configured(pinned):
        assert place.scheduled() == []
        finish(place)
    with place.configured(edited(pinned, PIN, DELETE)):
        assert place.scheduled() == []


@pytest.mark.parametrize("memory", [{"cpu": 1.0}, {"gpu": 2.0, "cpu": 1.0}])
def test_where_the_weights_may_lie_schedules_nothing(place, memory):
    with place.configured(edited(place.config, "models/one/memory", memory)):
        assert place.scheduled() == []


@pytest.mark.parametrize(
    ("edits", "begins"),
    [
        (
            {"clustering": {"k": [50]}, "conditions/high": {"9-14": "zero"}},
            ["clustering.k: models.one: ", "conditions.high: models.one: "],
        ),
        ({"seed": "many", "clustering": {"k": [1]}}, ["seed: ", "clustering.k.0: "]),
    ],
)
def test_each_mistake_begins_a_line_and_ends_with_its_place(place, edits, begins):
    changed = place.config
    for path, value in edits.items():
        changed = edited(changed, path, value)
    with place.configured(changed), pytest.raises(PlanningError) as caught:
        place.scheduled()
    lines = [line for line in str(caught.value).splitlines() if "config: " in line]
    assert len(lines) == len(begins)
    for line, key in zip(lines, begins, strict=True):
        assert re.fullmatch(rf"(WorkflowError: )?config: {re.escape(key)}.* \[config\.yaml, line \d+\]", line)


def test_a_wrong_sha256_is_refused_before_anything_runs(place):
    """Of a model that has not been fetched, by the job that fetches it."""
    with place.configured(edited(place.config, PIN, "0" * 64)), pytest.raises(PlanningError) as caught:
        place.scheduled()
    assert "config: models.one.source.sha256: it is not that of " in str(caught.value)
    assert RIGHT in str(caught.value)
