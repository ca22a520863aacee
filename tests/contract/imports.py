"""What Python itself loads of a workflow's modules when it runs the imports of a script.

    python -m tests.contract.imports WORKFLOW_SCRIPTS

prints {script: its modules}, as paths from that folder. Each script has a process of its own: a fork of one that has
loaded the libraries and nothing of ours.
"""

import ast
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.places import ROOT
from tests.workflow.replay import LIBRARIES


def loaded_modules(scripts: Path) -> dict[str, set[str]]:
    """The modules that each script of a folder loads, by its name; the script is one of them."""
    command = [sys.executable, "-m", "tests.contract.imports", str(scripts)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return {script: set(modules) for script, modules in json.loads(run.stdout).items()}


def _loaded(scripts: Path, script: Path) -> list[str]:
    """Run every import of a script and of what it loads, those inside of functions too, and say what is then loaded."""
    run: set[Path] = set()
    ahead = [script]
    while ahead:
        for file in ahead:
            for node in ast.walk(ast.parse(file.read_bytes())):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    # Triton is there for GPUs alone.
                    with contextlib.suppress(ModuleNotFoundError):
                        exec(compile(ast.Module([node], []), file, "exec"), {})
        run.update(ahead)
        ahead = sorted(_of_ours(scripts) - run)
    return sorted(file.relative_to(scripts).as_posix() for file in run)


def _of_ours(scripts: Path) -> set[Path]:
    files = [Path(module.__file__) for module in list(sys.modules.values()) if getattr(module, "__file__", None)]
    return {file for file in files if file.is_relative_to(scripts)}


def _in_a_fork(scripts: Path, script: Path) -> list[str]:
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        with open(writing, "w") as pipe:
            json.dump(_loaded(scripts, script), pipe)
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        answer = pipe.read()
    os.waitpid(process, 0)
    return json.loads(answer)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(folder))
    for library in LIBRARIES:
        __import__(library)
    assert not _of_ours(folder)
    json.dump({file.stem: _in_a_fork(folder, file) for file in sorted(folder.glob("*.py"))}, sys.stdout)
