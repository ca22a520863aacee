"""How the code is layered: imports go one way, and what plans loads no heavy library."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import headtypes
from headtypes.planning.plan import STAGES

PACKAGE = Path(headtypes.__file__).parent
ROOT = PACKAGE.parents[1]
# By rule, the module of the function that its jobs call.
RUN = {name: PACKAGE / f"{stage.calls.partition(':')[0].replace('.', '/')}.py" for name, stage in STAGES.items()}
MODULES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted(PACKAGE.rglob("*.py"))
}
# From the ground up, as the map of the code lists them.
ROOMS = re.findall(r"^\| `([a-z]+)` \|", (ROOT / "docs/extend/map.md").read_text(encoding="utf-8"), re.MULTILINE)
HEAVY = {"torch", "transformers", "pandas", "numpy", "sklearn", "datasets", "huggingface_hub", "h5py", "matplotlib"}
# Rules that run a model, or load its configuration or its tokenizer.
WITH_A_MODEL = {name for name, stage in STAGES.items() if stage.runs_model}
WITH_A_MODEL |= {"fetch_model", "prepare_windows", "train_model"}


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def loading(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is loaded: neither what is inside functions nor what only checkers of types read."""
    for child in ast.iter_child_nodes(node):
        checked = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not checked and not isinstance(child, ast.FunctionDef):
            yield child
            yield from loading(child)


@cache
def imported(file: Path, nodes: Callable[[ast.AST], Iterable[ast.AST]] = ast.walk) -> set[str]:
    """The dotted names that a file imports; of our own, the modules."""
    names = set()
    for node in nodes(tree(file)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import"
            below = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            names.update(below or {node.module})
    return names


def packages(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def room(name: str) -> str:
    """The room of a module, by its dotted name."""
    return name.split(".")[1]


def test_the_list_of_rooms_is_that_of_the_folders():
    folders = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__")
    assert sorted(ROOMS) == folders


def test_a_module_imports_only_from_its_own_room_and_rooms_below():
    wrong = [
        f"{name} imports {other}"
        for name in MODULES.keys() - {"headtypes"}
        for other in imported(MODULES[name])
        if other.startswith("headtypes.") and ROOMS.index(room(other)) > ROOMS.index(room(name))
    ]
    assert not wrong


def test_imports_within_the_package_have_no_circle():
    # The package itself loads its functions when they are asked for, which is after everything else.
    graph = {name: imported(file) & MODULES.keys() - {name, "headtypes"} for name, file in MODULES.items()}
    assert sum(map(len, graph.values())) > 20
    TopologicalSorter(graph).prepare()  # Raises where there is circular, and shows it.


def test_the_init_of_a_package_is_a_docstring():
    """That of the whole one also loads, once it is asked for them, the functions that are called from elsewhere."""
    inits = [file for name, file in MODULES.items() if file.name == "__init__.py" and name != "headtypes"]
    assert [file for file in inits if [type(each) for each in tree(file).body] != [ast.Expr]] == []
    assert imported(MODULES["headtypes"], loading) <= {"typing"}


def test_the_package_knows_nothing_of_snakemake():
    snakemake = {"snakemake", "snakemake_interface_common"}
    assert [name for name, file in MODULES.items() if packages(imported(file)) & snakemake] == []


def test_planning_loads_no_heavy_library():
    """Snakemake plans at every start and in every job; torch and pandas would cost it seconds each time."""
    rules = "".join(file.read_text() for file in (ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")))
    loaded = set(re.findall(r"^from (headtypes\S*) import", rules, re.MULTILINE))
    # What a job does once it runs, too, loads its libraries with the function that it calls.
    loaded |= {name for name in MODULES if f"{name}.".startswith("headtypes.planning.")}
    program = f"import sys, {', '.join(sorted(loaded))}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    )
    assert HEAVY & set(run.stdout.split()) == set()


def test_a_job_that_runs_no_model_loads_no_torch():
    """The import takes longer than most of these jobs."""
    wrong = []
    for rule, file in RUN.items():
        loaded, ahead = set(), [file]
        while ahead:
            new = {MODULES[name] for name in imported(ahead.pop(), loading) & MODULES.keys()} - loaded
            loaded |= new
            ahead += new
        heavy = [file for file in loaded if packages(imported(file, loading)) & {"torch", "transformers"}]
        wrong += [(rule, heavy)] if heavy and rule not in WITH_A_MODEL else []
    assert not wrong
