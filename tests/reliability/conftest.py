import os
import subprocess
import sys
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support.commands import differences
from tests.workflow.conftest import Workdir, tiny_config

__all__ = ["tiny_config"]

FEATURES = "results/features/tiny/animals.h5"
PARTITION = "results/partitions/tiny/animals-kmeans-k4.csv"
# The model is found, read, clustered and ablated; as in a whole run, what lies between is a target as well.
RESULTS = (FEATURES, PARTITION, "results/ablation/tiny/animals-kmeans-k4/zero-dense/metrics.json")
TARGETS = ("--", *RESULTS)
PATIENCE_S = 600


class Place(Workdir):
    def started(self) -> subprocess.Popen:
        """A run, in a process group of its own; what it prints goes to a file beside the folder."""
        with open(self._printed, "w") as printed:
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *self.arguments(*TARGETS)],
                env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def printed(self) -> str:
        return self._printed.read_text()

    @property
    def _printed(self) -> Path:
        return self.path.with_suffix(".printed")

    def unfinished(self) -> set[str]:
        """The outputs that Snakemake takes for those of a job that has not ended."""
        return {urlsafe_b64decode(mark.name).decode() for mark in self.path.glob(".snakemake/incomplete/*")}

    def finished(self) -> dict[str, int]:
        records = (file.relative_to(self.path / "results/provenance") for file in self.records())
        paths = {f"results/{file}".removesuffix(".json") for file in records} - self.unfinished()
        # Snakemake removes what a job has made that was killed after it had recorded this.
        return {path: (self.path / path).stat().st_mtime_ns for path in paths if (self.path / path).exists()}

    def records(self) -> list[Path]:
        return [*self.path.glob("results/provenance/*/**/*.json")]

    def until(self, run: subprocess.Popen, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            assert run.poll() is None, self.printed()
            assert time.monotonic() < end, self.printed()
            time.sleep(0.02)

    def kill(self, run: subprocess.Popen, job_alone: bool = False) -> None:
        """Kill a run with all of its jobs, or a job alone, after which the run ends by itself; wait for the end."""
        below = psutil.Process(run.pid).children(recursive=True)
        jobs = [process for process in below if ".snakemake/scripts" in " ".join(_command(process))]
        if not job_alone:
            run.kill()
        for process in jobs[:1] if job_alone else below:
            if process.is_running():
                process.kill()
        run.wait(PATIENCE_S)
        _, alive = psutil.wait_procs(below, timeout=60)
        assert not alive

    def finish(self) -> None:
        """Run to the end, as after a kill: Snakemake's lock is taken away first."""
        self.snakemake("--unlock", *TARGETS)
        self.snakemake(*TARGETS)

    def findings(self, undisturbed: "Place") -> list[str]:
        found = differences(undisturbed.path / "results", self.path / "results")
        found += [f"{file} is left" for file in (self.path / "results").rglob(".*.tmp*")]
        found += [f"{path} counts as unfinished" for path in self.unfinished()]
        if self.planned(*TARGETS):
            found.append("Snakemake would run jobs")
        # What the configuration asks for beyond these targets is missing.
        *audit, count = self.command("audit", check=False).splitlines()
        assert "missing" in count
        return found + [line for line in audit if not line.startswith("missing ")]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture(scope="session")
def config(tiny_config) -> dict:
    less = {"controls": {"draws": 0}, "company": {"sets": 0}}
    return {**tiny_config, **less, "select": {**tiny_config["select"], "conditions": ["baseline", "zero-dense"]}}


@pytest.fixture
def place(tmp_path, config) -> Place:
    return Place.at(tmp_path / "place", config)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, config) -> Place:
    """A folder in which everything has been made, one job after the other, by no Snakemake that could disturb them."""
    made = Place.at(tmp_path_factory.mktemp("undisturbed"), config)
    made.make(*RESULTS)
    return made
