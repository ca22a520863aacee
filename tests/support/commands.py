"""Commands in processes of their own, what they print, and what two runs of one config have made otherwise."""

import filecmp
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OFFLINE = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def run(command: Sequence[str | Path], cwd: Path | None = None, *, check: bool = True, **environment: str) -> str:
    """Run a module of Python (`-m`), a program or a script, offline with one thread; return all that it printed."""
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


# What figures make, how long a job took, and what a run of Snakemake itself writes. And the comparison of clusterings,
# with the records of what is made from it: spectral clustering of half of eight heads depends on the last bit of a sum.
NOT_COMPARED = re.compile(
    r"^(provenance/)?(guan2020/[^/]+/|clark2019/[^/]+/|compared_types/.*(pdf|png)|index\.html)|benchmark\.tsv$"
    r"|^provenance/(guan2020/(comparison|quantities)\.)"
)


def differences(one: Path, other: Path) -> list[str]:
    results = sorted(file for file in files_below(one) | files_below(other) if not NOT_COMPARED.search(file))
    _, different, missing = filecmp.cmpfiles(one, other, results, shallow=False)
    return different + missing


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
