"""Which results heads of several models are aligned by: those that all of the models have."""

import pytest

from headtypes.analyses.detectors.analysis import DETECTORS
from headtypes.analyses.relations.analysis import RELATIONS
from headtypes.analyses.surface.analysis import SURFACE
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from tests.support.configs import edited, full_config

MODELS = ["one", "two", "three"]


@pytest.fixture
def shared(tmp_path):
    """Three models that read a text, another one and a treebank, all with detectors."""
    full = full_config(tmp_path)
    bank, text = (next(it for it in full["tasks"].values() if it.get("kind") == kind) for kind in ("treebank", "text"))
    model = {**full["models"]["base"], "tasks": ["text", "other", "bank"], "evaluate": None, "published": {}}
    return {
        "tasks": {"text": text, "other": text, "bank": bank},
        "models": {name: {**model} for name in MODELS},
        "detectors": {"models": MODELS},
        "conditions": {},
    }


def aligned(raw, analysis, task="text") -> list[tuple[str, ...]]:
    return [tuple(entry) for entry in Plan(read_config(raw)).aligned(analysis, task)]


def test_what_is_known_of_attention_is_of_the_compared_task_alone(shared):
    for task in ("text", "other"):
        assert aligned(shared, SURFACE, task) == [(model, task) for model in MODELS]
    fewer = edited(shared, "models/two/tasks", ["other", "bank"])
    assert aligned(edited(fewer, "models/four", shared["models"]["one"]), SURFACE) == [
        (model, "text") for model in ("one", "three", "four")
    ]


def test_what_else_heads_do_counts_on_every_task_that_all_compared_models_have(shared):
    assert aligned(shared, RELATIONS) == [(model, "bank") for model in MODELS]
    assert aligned(shared, DETECTORS) == [(model, "random tokens") for model in MODELS]
    assert aligned(edited(shared, "models/two/tasks", ["text", "other"]), RELATIONS) == []
    assert aligned(edited(shared, "detectors/models", ["one", "three"]), DETECTORS) == []
    # A model that does not read the compared task does not count.
    fourth = edited(shared, "models/four", {**shared["models"]["one"], "tasks": ["other"]})
    assert aligned(fourth, RELATIONS) == [(model, "bank") for model in MODELS]
    assert aligned(fourth, RELATIONS, "other") == []
