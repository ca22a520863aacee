"""A run starts its jobs in forks of a process that has loaded the libraries, and measures them as before."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from headtypes.core.files import sha256_file
from tests.support.waiting import until


@contextmanager
def running(workdir, temporary: Path, *targets: str) -> Iterator[subprocess.Popen]:
    """A run by Python itself, whose server has its folder in `temporary`."""
    command = [sys.executable, *workdir.arguments("--", *targets)[1:]]
    environment = {**os.environ, "TMPDIR": str(temporary), "HF_HUB_OFFLINE": "1"}
    with open(workdir.path / "printed.txt", "w") as printed:
        yield subprocess.Popen(command, env=environment, stdout=printed, stderr=printed, start_new_session=True)


def test_jobs_run_in_forks_give_the_same_and_are_measured(workdir, tmp_path_factory):
    temporary = tmp_path_factory.mktemp("of-the-run")
    asked = set()
    with running(workdir, temporary, "types") as run:
        while run.poll() is None:
            asked |= {path.name for path in temporary.glob("forks-*/[0-9]*.json")}
            time.sleep(0.1)
    assert run.returncode == 0, (workdir.path / "printed.txt").read_text()
    # One for the program of each job, beside that of the shell that has started it.
    jobs = list((workdir.path / "results").rglob("*benchmark.tsv"))
    assert len(asked) >= len(jobs) > 5
    assert not list(temporary.glob("forks-*"))
    results = workdir.path / "results"
    again = workdir.replay("types")
    tables = sorted(file.relative_to(results) for file in results.glob("partitions/*/*.csv"))
    assert tables
    assert all(sha256_file(results / table) == sha256_file(again / table) for table in tables)
    for file in results.rglob("*benchmark.tsv"):
        (row,) = csv.DictReader(file.read_text().splitlines(), delimiter="\t")
        # No job loads its own code in less.
        assert float(row["cpu_time"]) > 0.05, file
        assert float(row["max_rss"]) > 50, file


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_nothing_is_left_of_a_run_that_ends_early(workdir, tmp_path_factory, how):
    temporary = tmp_path_factory.mktemp("of-the-run")
    with running(workdir, temporary, "types") as run:
        until(lambda: list(temporary.glob("forks-*/[0-9]*.json")))
        if how == "killed":
            run.kill()
        else:
            os.killpg(run.pid, signal.SIGINT)
        run.wait()
    until(lambda: not list(temporary.glob("forks-*")))
    until(lambda: not [each for each in psutil.process_iter(["cwd"]) if each.info["cwd"] == str(workdir.path)])
