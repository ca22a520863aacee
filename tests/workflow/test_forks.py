"""A run starts its jobs in forks of a process that has loaded the libraries, and measures them as before."""

import csv
import os
import subprocess
import sys
import time

from headtypes.core.files import sha256_file


def test_jobs_run_in_forks_give_the_same_and_are_measured(workdir, tmp_path_factory):
    temporary = tmp_path_factory.mktemp("of-the-run")
    environment = {**os.environ, "TMPDIR": str(temporary), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, *workdir.arguments("--", "types")[1:]]
    asked = set()
    with open(tmp_path_factory.mktemp("printed") / "of-the-run.txt", "w+") as printed:
        with subprocess.Popen(command, env=environment, stdout=printed, stderr=printed) as run:
            while run.poll() is None:
                asked |= {path.name for path in temporary.glob("forks-*/*.json")}
                time.sleep(0.1)
        printed.seek(0)
        assert run.returncode == 0, printed.read()
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
