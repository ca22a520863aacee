"""Commands in processes of their own, and what they print."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OFFLINE = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def run(command: Sequence[str | Path], cwd: Path | None = None, *, check: bool = True, **environment: str) -> str:
    """Run a module of Python (`-m`), a program or a script, offline with one thread; return all that it printed.

    environment: variables beside those of this process. A command that fails fails the test, unless `check` is false.
    """
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env={**os.environ, **OFFLINE, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0 or not check, f"{command}\n{done.stdout[-6000:]}"
    return done.stdout


def job_counts(printed: str) -> dict[str, int]:
    """The number of jobs of each rule, and of all as `total`, from what `snakemake --dry-run --quiet rules` prints."""
    _, _, stats = printed.partition("Job stats:")
    lines = stats.split("\n\n")[0].splitlines()[3:]
    return {name: int(count) for name, count in (line.split() for line in lines if line.strip())}
