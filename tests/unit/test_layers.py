"""How the code is layered: imports go one way, scripts are thin, and nothing is imported behind the digest's back."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import headtypes
from headtypes.workflow.digest import reached_modules
from tests.support.rules import RUN_A_MODEL

PACKAGE = Path(headtypes.__file__).parent
SCRIPTS = sorted(PACKAGE.parent.glob("*.py"))
MODULES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in PACKAGE.rglob("*.py")
}


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imported(file: Path) -> set[str]:
    """The dotted names that a file imports; of our own, the modules."""
    names = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import"
            below = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            names.update(below or {node.module})
    return names


def test_imports_within_the_package_have_no_circle():
    graph = {name: imported(file) & MODULES.keys() - {name} for name, file in MODULES.items()}
    assert sum(map(len, graph.values())) > 20
    TopologicalSorter(graph).prepare()  # Raises where there is a circle, and shows it.


@pytest.mark.parametrize("name", sorted(MODULES))
def test_the_package_knows_nothing_of_snakemake(name):
    assert not {top.partition(".")[0] for top in imported(MODULES[name])} & {"snakemake", "snakemake_interface_common"}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_nothing_is_imported_by_a_name_that_is_made_at_run_time(name):
    """The digest follows imports in the syntax tree; it would not see these. To look for a package is no import."""
    for node in ast.walk(tree(MODULES[name])):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            unseen = ("import_module", "__import__", "exec", "eval", "run_module", "run_path", "exec_module")
            assert called.rpartition(".")[2] not in unseen or called == "model.eval", f"{name}:{node.lineno}: {called}"
        if isinstance(node, ast.ImportFrom):
            assert node.module != "importlib", f"{name}:{node.lineno}: imports from importlib"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_maps_inputs_and_outputs_and_holds_no_logic(script):
    body = tree(script)
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert not [node for node in ast.walk(body) if isinstance(node, definitions)]
    assert imported(script) <= MODULES.keys()
    assert "headtypes.workflow.job" in imported(script)
    uses = [node for node in ast.walk(body) if isinstance(node, ast.Name) and node.id == "snakemake"]
    assert len(uses) == 1, "snakemake is handed to `job` and used nowhere else"
    jobs = [node for node in body.body if isinstance(node, ast.With)]
    assert [ast.unparse(item.context_expr) for each in jobs for item in each.items] == ["job(snakemake)"]


def test_planning_loads_no_heavy_library():
    """Snakemake plans at every start and in every job; torch and pandas would cost it seconds each time."""
    imports = "from headtypes.models import gpus; from headtypes.workflow import digest, plan, resources"
    program = f"import sys; {imports}; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"torch", "transformers", "pandas", "numpy", "sklearn", "datasets", "huggingface_hub", "h5py"}
    assert heavy & set(found) == set()


# Scripts that run a model, or load its configuration or its tokenizer.
WITH_A_MODEL = RUN_A_MODEL | {"fetch_model", "prepare_windows"}


@pytest.mark.parametrize(
    "script", [each for each in SCRIPTS if each.stem not in WITH_A_MODEL], ids=lambda script: script.stem
)
def test_a_job_that_runs_no_model_loads_no_torch(script):
    """The import takes longer than most of these jobs, and a change of a model's code is no change of theirs."""
    reached = {name for file in reached_modules(script) for name in imported(PACKAGE.parent / file)}
    assert not {name.partition(".")[0] for name in reached} & {"torch", "transformers"}
