"""What a stage says of a rule is what the function does that it calls."""

import ast

from headtypes.core.stage import Stage
from headtypes.planning.code import covered_files, loaded_modules
from headtypes.planning.plan import RESULTS, STAGES
from tests.support.places import SCRIPTS

TEXTS = {"samples", "questions", "rows", "texts"}
LOADERS = {SCRIPTS / f"headtypes/{name}.py" for name in ("models/loading", "training/finetuning")}


def inputs_of(stage: Stage) -> set[str]:
    module, _, function = stage.calls.partition(":")
    tree = ast.parse((SCRIPTS / f"headtypes/{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert function in functions, f"the stage {stage.name} calls {stage.calls}, which is not there"
    nodes = [*ast.walk(functions[function])]
    for call in [node for node in nodes if isinstance(node, ast.Call)]:
        if ast.unparse(call.func) in functions and "inputs" in map(ast.unparse, call.args):
            nodes += ast.walk(functions[ast.unparse(call.func)])
    named = [ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)]
    return {name.split(".")[1] for name in named if name.startswith("inputs.")}


def test_a_stage_runs_a_model_if_its_function_loads_one():
    covered = {name: covered_files(loaded_modules(stage.calls, {})) for name, stage in STAGES.items()}
    loading = {name for name, files in covered.items() if LOADERS & files}
    assert {name for name, stage in STAGES.items() if stage.runs_model} == loading


def test_a_stage_reads_the_texts_that_its_function_reads():
    read = {name: inputs_of(stage) & TEXTS for name, stage in STAGES.items()}
    assert read == {name: {stage.reads} if stage.reads else set() for name, stage in STAGES.items()}


def test_a_stage_that_names_its_inputs_names_what_its_function_reads():
    naming = [stage for stage in STAGES.values() if stage.inputs]
    # The files that a task's data come from are in the spec.
    assert {stage.name: set(stage.named_inputs) - {"files"} for stage in naming} == {
        stage.name: inputs_of(stage) for stage in naming
    }


def test_a_stage_has_results_and_reads_its_texts_by_an_input():
    assert STAGES.keys() == {result.rule for result in RESULTS}
    assert [
        stage.name for stage in STAGES.values() if stage.inputs and stage.reads not in (None, *stage.named_inputs)
    ] == []
