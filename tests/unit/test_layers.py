"""How the code is layered: imports go one way, scripts are thin, and nothing is imported behind the digest's back."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import headtypes
from headtypes.planning.digest import reached_modules
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


# From the ground up, as the package's docstring lists them.
ROOMS = re.findall(r"^([a-z]+)  +\S", headtypes.__doc__, re.MULTILINE)


def room(name: str) -> str:
    """The room of a module, by its dotted name."""
    return name.split(".")[1]


def test_the_list_of_rooms_is_that_of_the_folders():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert len(ROOMS) == len(set(ROOMS))
    assert set(ROOMS) == folders


@pytest.mark.parametrize("name", sorted(MODULES.keys() - {"headtypes"}))
def test_a_module_imports_only_from_its_own_room_and_rooms_below(name):
    ours = {other for other in imported(MODULES[name]) if other.startswith("headtypes.")}
    assert {room(other) for other in ours} <= set(ROOMS[: ROOMS.index(room(name)) + 1])


def test_imports_within_the_package_have_no_circle():
    graph = {name: imported(file) & MODULES.keys() - {name} for name, file in MODULES.items()}
    assert sum(map(len, graph.values())) > 20
    TopologicalSorter(graph).prepare()  # Raises where there is circular, and shows it.


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("__init__.py")), ids=lambda file: file.parent.name)
def test_the_init_of_a_package_is_a_docstring(file):
    (statement,) = tree(file).body
    assert isinstance(statement, ast.Expr)


def test_no_folder_grows_beyond_what_a_reader_can_survey():
    for folder in {file.parent for file in MODULES.values()}:
        files = list(folder.glob("*.py"))
        assert sum(len(file.read_text().splitlines()) for file in files) <= 2500, folder
        assert len(files) <= 17, folder


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
    assert "headtypes.planning.job" in imported(script)
    uses = [node for node in ast.walk(body) if isinstance(node, ast.Name) and node.id == "snakemake"]
    assert len(uses) == 1, "snakemake is handed to `job` and used nowhere else"
    jobs = [node for node in body.body if isinstance(node, ast.With)]
    assert [ast.unparse(item.context_expr) for each in jobs for item in each.items] == ["job(snakemake)"]


def test_planning_loads_no_heavy_library():
    """Snakemake plans at every start and in every job; torch and pandas would cost it seconds each time."""
    planning = [name for name in sorted(MODULES) if name != "headtypes" and room(name) in ("config", "workflow")]
    # What a job does once it runs, too, has its libraries loaded by its script.
    program = f"import sys, {', '.join([*planning, 'headtypes.models.gpus'])}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    )
    heavy = {"torch", "transformers", "pandas", "numpy", "sklearn", "datasets", "huggingface_hub", "h5py", "matplotlib"}
    assert heavy & set(run.stdout.split()) == set()


# Scripts that run a model, or load its configuration or its tokenizer.
WITH_A_MODEL = RUN_A_MODEL | {"fetch_model", "prepare_windows"}


@pytest.mark.parametrize(
    "script", [each for each in SCRIPTS if each.stem not in WITH_A_MODEL], ids=lambda script: script.stem
)
def test_a_job_that_runs_no_model_loads_no_torch(script):
    """The import takes longer than most of these jobs, and a change of a model's code is no change of theirs."""
    reached = {name for file in reached_modules(script) for name in imported(PACKAGE.parent / file)}
    assert not {name.partition(".")[0] for name in reached} & {"torch", "transformers"}
