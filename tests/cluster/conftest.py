import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.slurm import Slurm, install, missing, running, until
from tests.workflow.conftest import ROOT, Workdir, tiny_config  # noqa: F401 (a fixture)

# The environment beside the one that runs the tests, in which the executor is installed.
SNAKEMAKE = Path(f"{sys.prefix}-slurm", "bin", "snakemake")
CONDITIONS = ["baseline", "zero-dense", "uniform-vertical", "drop_intra-diagonal"]


def absent(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def slurm():
    if not SNAKEMAKE.exists():
        absent(f"{SNAKEMAKE} is not there (make .venv-slurm/installed)")
    if os.geteuid() != 0:
        absent("a Slurm is started by root alone")
    if missing():
        if shutil.which("apt-get") is None:
            absent(f"{', '.join(missing())} not installed, and no apt-get to install Slurm with")
        try:
            install()
        except subprocess.SubprocessError as error:
            absent(f"Slurm could not be installed: {error}")
    # A socket's path is limited to some 100 characters, which those of pytest can exceed.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, running(Path(folder)) as made:
        yield made


@dataclass(frozen=True)
class ClusterWorkdir(Workdir):
    slurm: Slurm

    @contextlib.contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen]:
        command = [str(SNAKEMAKE), "--profile", "profiles/slurm"]
        command += ["--directory", str(self.path), "--configfile", str(self.path / "tiny.yaml")]
        command += ["--slurm-init-seconds-before-status-checks", "1", *arguments]
        environment = {**self.slurm.environment, "OMP_NUM_THREADS": "1"}
        environment.pop("HF_HUB_OFFLINE", None)
        with open(self.path / "snakemake.out", "w") as out:
            run = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            yield run
        finally:
            if run.poll() is None:
                # As Ctrl-C, upon which Snakemake cancels its jobs.
                run.send_signal(signal.SIGINT)
                try:
                    run.wait(30)
                except subprocess.TimeoutExpired:
                    run.kill()
                    run.wait()

    def states_of(self, rule: str) -> dict[str, str]:
        jobs = self.slurm.jobs_of(rule, self.path)
        states = self.slurm.states()
        return {job: states[job] for job in jobs}

    def next_job(self, rule: str, *known: str) -> str:
        """Wait until a job of a rule, another than those that are known, loads its libraries; return it."""
        found: list[str] = []

        def job() -> bool:
            running = [job for job, state in self.states_of(rule).items() if state == "RUNNING" and job not in known]
            found[:] = [job for job in running if self.slurm.processes_of(job, "call.py")]
            return bool(found)

        until(job, f"a job of {rule}", 900)
        return found[0]

    def slurm_log(self, rule: str, job: str) -> str:
        (log,) = (self.path / ".snakemake/slurm_logs" / f"rule_{rule}").rglob(f"{job}.log")
        return log.read_text()

    def printed(self) -> str:
        return (self.path / "snakemake.out").read_text()[-6000:]


@pytest.fixture
def config(tiny_config) -> dict:  # noqa: F811
    select = {**tiny_config["select"], "conditions": CONDITIONS}
    return {**tiny_config, "controls": {"draws": 0}, "company": {"sets": 0}, "select": select}


@pytest.fixture
def workdir(tmp_path, config) -> Workdir:
    return Workdir.at(tmp_path / "local", config)


@pytest.fixture
def cluster_workdir(tmp_path, config, slurm) -> ClusterWorkdir:
    return ClusterWorkdir.at(tmp_path / "cluster", config, slurm)
