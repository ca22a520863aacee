"""What Python itself loads of a workflow's modules when it runs the imports of a script.

    python -m tests.contract.imports WORKFLOW_SCRIPTS

prints {script: its modules}, as paths from that folder. Python is asked what each import statement brings, and the
answers are followed from script to module to module.
"""

import ast
import builtins
import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.support.places import ROOT


def loaded_modules(scripts: Path) -> dict[str, set[str]]:
    """The modules that each script of a folder loads, by its name; the script is one of them."""
    # The program itself must not have loaded any of ours.
    from tests.support.warm import python

    command = [python(), "-m", "tests.contract.imports", str(scripts)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return {script: set(modules) for script, modules in json.loads(run.stdout).items()}


class _Imports(defaultdict[str, set[str]]):
    """{file: the files of ours that its imports load}, noted while Python imports."""

    def __init__(self, scripts: Path) -> None:
        super().__init__(set)
        self._scripts, self._import, self._import_module = scripts, builtins.__import__, importlib.import_module
        self._run: set[str] = set()
        builtins.__import__, importlib.import_module = self._noted, self._noted_module

    def run(self, file: str) -> None:
        """Run every import of a file once, those inside of functions too."""
        if file in self._run:
            return
        self._run.add(file)
        for node in ast.walk(ast.parse(Path(file).read_bytes())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                # Triton is there for GPUs alone.
                with contextlib.suppress(ModuleNotFoundError):
                    exec(compile(ast.Module([node], []), file, "exec"), {"__file__": file})

    def _noted(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        module = self._import(name, globals, locals, fromlist, level)
        self._note((globals or {}).get("__file__"), name, *(f"{name}.{each}" for each in fromlist or ()))
        return module

    def _noted_module(self, name: str, package: str | None = None) -> Any:
        module = self._import_module(name, package)
        self._note(sys._getframe(1).f_globals.get("__file__"), name)
        return module

    def _note(self, importer: str | None, *names: str) -> None:
        for name in names if str(importer).startswith(f"{self._scripts}/") else ():
            parts = name.split(".")
            modules = (sys.modules.get(".".join(parts[:count])) for count in range(1, len(parts) + 1))
            files = {getattr(module, "__file__", None) for module in modules} - {None}
            self[importer].update(file for file in files if Path(file).is_relative_to(self._scripts))


def _loaded(imports: _Imports, script: str) -> set[str]:
    loaded, ahead = set(), {script}
    while ahead:
        loaded |= ahead
        for file in ahead:
            imports.run(file)
        ahead = set().union(*(imports[file] for file in ahead)) - loaded
    return loaded


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(folder))
    imports, scripts = _Imports(folder), sorted(folder.glob("*.py"))
    found = {script.stem: _loaded(imports, str(script)) for script in scripts}
    json.dump(
        {name: sorted(os.path.relpath(file, folder) for file in files) for name, files in found.items()}, sys.stdout
    )
