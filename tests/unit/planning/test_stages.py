"""What a stage says of a rule is what the rule's script does."""

import ast

import pytest

from headtypes.planning.code.digest import reached_modules
from headtypes.planning.stages.registry import STAGES
from tests.support.places import SCRIPTS

# Inputs that hold texts.
TEXTS = {"samples", "questions", "rows", "texts"}
# What loads a model's weights.
LOADERS = {"headtypes/models/loading.py", "headtypes/training/finetuning.py"}


def inputs_of(script) -> set[str]:
    """The inputs that a script names."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    named = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {name.removeprefix("inputs.") for name in named if name.startswith("inputs.")}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_runs_a_model_if_its_script_loads_one(name):
    reached = reached_modules(SCRIPTS / f"{STAGES[name].script}.py")
    assert STAGES[name].runs_model == bool(LOADERS & reached)


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_reads_the_texts_that_its_script_reads(name):
    read = inputs_of(SCRIPTS / f"{STAGES[name].script}.py") & TEXTS
    assert read == ({STAGES[name].reads} if STAGES[name].reads else set())
