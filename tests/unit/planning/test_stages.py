"""What a stage says of a rule is what the rule's script does."""

import ast

from headtypes.planning.code import covered_files
from headtypes.planning.registry import STAGES
from tests.support.places import SCRIPTS

# Inputs that hold texts.
TEXTS = {"samples", "questions", "rows", "texts"}
# What loads a model's weights.
LOADERS = {SCRIPTS / f"headtypes/{name}.py" for name in ("models/loading", "training/finetuning")}


def inputs_of(script) -> set[str]:
    """The inputs that a script names."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    named = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {name.removeprefix("inputs.") for name in named if name.startswith("inputs.")}


def test_a_stage_runs_a_model_if_its_script_loads_one():
    loading = {name for name, stage in STAGES.items() if LOADERS & covered_files(SCRIPTS / f"{stage.script}.py")}
    assert {name for name, stage in STAGES.items() if stage.runs_model} == loading


def test_a_stage_reads_the_texts_that_its_script_reads():
    read = {name: inputs_of(SCRIPTS / f"{stage.script}.py") & TEXTS for name, stage in STAGES.items()}
    assert read == {name: {stage.reads} if stage.reads else set() for name, stage in STAGES.items()}
