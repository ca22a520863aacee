"""What Python itself loads of our modules when all imports run that a script can reach, also those inside of functions.

    python -m tests.support.imports

reads {name: modules} and what is loaded without being followed, and prints {name: files of ours}. It is a process that
has loaded libraries and nothing of ours; each case has a fork of it.
"""

import ast
import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from types import CodeType

from tests.support.places import ROOT, SCRIPTS


def modules_loaded(cases: Mapping[str, Collection[str]], not_followed: Collection[str]) -> dict[str, set[Path]]:
    """The files of ours that are loaded for each case: the names of a script, without `.py`, or of modules.

    not_followed: names of modules that are loaded, but what their functions import is not.
    """
    environment = {**os.environ, "PYTHONPATH": f"{SCRIPTS}:{ROOT}"}
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.imports"],
        env=environment,
        input=json.dumps([list(cases.values()), list(not_followed)], default=list),
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: set(map(Path, files)) for name, files in zip(cases, json.loads(run.stdout), strict=True)}


def _imports(node: ast.AST) -> Iterator[ast.stmt]:
    """The import statements, but for those that type checkers alone read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from _imports(child)


def _is_ours(statement: ast.stmt) -> bool:
    names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else [statement.module]
    return names[0].partition(".")[0] == "headtypes"


@cache
def _statements(file: Path, ours: bool = True) -> list[CodeType]:
    statements = [each for each in _imports(ast.parse(file.read_bytes())) if _is_ours(each) == ours]
    return [compile(ast.Module([statement], []), file, "exec") for statement in statements]


def _loaded(names: Collection[str], not_followed: Collection[str]) -> list[str]:
    followed: set[Path] = set()
    ahead = {SCRIPTS / f"{name.replace('.', '/')}.py" for name in names}
    while ahead:
        for statement in chain.from_iterable(map(_statements, ahead)):
            exec(statement, {})
        followed |= ahead
        modules = [(name, module) for name, module in sys.modules.items() if f"{name}.".startswith("headtypes.")]
        # A folder of modules without an __init__.py has no file.
        ours = {name: Path(module.__file__) for name, module in modules if module.__file__}
        ahead = {file for name, file in ours.items() if name not in not_followed} - followed
    return sorted({*map(str, followed), *map(str, ours.values())})


if __name__ == "__main__":
    for module in SCRIPTS.rglob("*.py"):
        _statements(module)
        for statement in _statements(module, ours=False):
            # Some packages are there for GPUs, or for some users, alone.
            with contextlib.suppress(ModuleNotFoundError):
                exec(statement, {})
    cases, not_followed = json.load(sys.stdin)
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        found = pool.starmap(_loaded, [(names, not_followed) for names in cases], chunksize=1)
    json.dump(found, sys.stdout)
