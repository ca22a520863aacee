"""Which modules of ours a job has loaded although an edit of them would not run it again."""

import os
import subprocess
import sys
from functools import cache

from headtypes.planning.code import NOT_COUNTED, covered_files, loaded_modules
from headtypes.planning.plan import STAGES
from tests.support.places import SCRIPTS


def forget_ours() -> None:
    """Have the next job in this process load its modules itself."""
    for name in [name for name in sys.modules if f"{name}.".startswith("headtypes.")]:
        del sys.modules[name]


def uncovered(record: dict) -> set[str]:
    """The names of these modules, by the record of a result; without those that every job loads to get its paths."""
    covered = covered_files(loaded_modules(STAGES[record["rule"]].calls, record["spec"]))
    files = {name: SCRIPTS / f"{name.replace('.', '/')}.py" for name in {*record["modules"]} - _of_any_job()}
    # Folders have no code of their own.
    return {name for name, file in files.items() if file.is_file() and file not in covered}


@cache
def _of_any_job() -> set[str]:
    program = f"import sys, call, {', '.join(sorted(NOT_COUNTED))}; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, check=True)
    return set(run.stdout.decode().split())
