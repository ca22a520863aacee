"""One GPU for each process, told with locks alone: no GPU is needed."""

import subprocess
import sys
import time

import pytest

from headtypes.models import gpus
from headtypes.models.gpus import keep_to_gpus, take_gpu, visible_gpus
from tests.support.places import SCRIPTS

# Takes a GPU, says which, and keeps it until a line comes.
JOB = """
import sys
from pathlib import Path
from headtypes.models.gpus import take_gpu
gpu, lock = take_gpu(sys.argv[2].split(","), Path(sys.argv[1]))
print(gpu, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize(
    ("named", "nodes", "expected"),
    [
        (None, 0, []),
        (None, 3, ["0", "1", "2"]),
        ("2,0", 4, ["2", "0"]),
        ("GPU-8f2c, MIG-51", 8, ["GPU-8f2c", "MIG-51"]),
        ("0,0,1", 2, ["0", "0", "1"]),
        ("", 2, []),
        ("-1", 2, []),
        ("1,-1,0", 2, ["1"]),
        ("NoDevFiles", 2, []),
    ],
)
def test_the_gpus_that_cuda_would_show(named, nodes, expected):
    assert visible_gpus(named, nodes) == expected


@pytest.fixture
def start(tmp_path):
    """Start a job that takes one of some GPUs; return it and what it has taken so far."""
    jobs = []

    def started(names: str):
        command = [sys.executable, "-c", JOB, str(tmp_path / "locks"), names]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        job = subprocess.Popen(command, **pipes, text=True, cwd=SCRIPTS)
        jobs.append(job)
        return job

    yield started
    for job in jobs:
        job.kill()
        job.communicate()


def taken(job) -> str:
    line = job.stdout.readline().strip()
    assert line, job.stderr.read()
    return line


def test_no_two_processes_share_a_gpu_and_the_next_gets_that_of_one_that_was_killed(start):
    first, second = start("0,1"), start("0,1")
    assert {taken(first), taken(second)} == {"0", "1"}
    third = start("0,1")
    assert third.stderr.readline() == "All GPUs (0, 1) are taken by other jobs; waiting for one.\n"
    time.sleep(1.2)
    assert third.poll() is None
    second.kill()
    assert taken(third) in ("0", "1")
    assert first.poll() is None


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with some GPUs, of which jobs may open some."""

    def made(nodes: int, *, named: str | None = None, closed: int = 0):
        paths = [tmp_path / f"nvidia{number}" for number in range(nodes)]
        for path in paths[closed:]:
            path.touch()
        monkeypatch.setattr(gpus, "_nodes", lambda: paths)
        monkeypatch.setattr(gpus.tempfile, "gettempdir", lambda: str(tmp_path))
        monkeypatch.delenv(gpus.VISIBLE, raising=False)
        if named is not None:
            monkeypatch.setenv(gpus.VISIBLE, named)
        keep_to_gpus.cache_clear()

    yield made
    keep_to_gpus.cache_clear()


def test_a_process_sees_the_one_gpu_that_it_has_taken(machine, tmp_path):
    machine(2)
    keep_to_gpus(1)
    assert gpus.os.environ[gpus.VISIBLE] == "0"
    # A second model in the same process stays where the first is; another process goes elsewhere.
    keep_to_gpus(1)
    (folder,) = tmp_path.glob("headtypes-gpus-*")
    assert take_gpu(["0", "1"], folder)[0] == "1"


@pytest.mark.parametrize("named", ["0", "GPU-8f2c", ""])
def test_what_a_scheduler_has_chosen_stays_and_is_not_waited_for(machine, tmp_path, named):
    """Two jobs of a cluster on one node may see each its own GPU under the same name."""
    machine(2, named=named)
    assert keep_to_gpus(1) == []
    assert gpus.os.environ[gpus.VISIBLE] == named
    assert not list(tmp_path.glob("headtypes-gpus-*"))


def test_a_model_on_several_gpus_takes_as_many(machine, tmp_path):
    machine(3)
    keep_to_gpus(2)
    assert gpus.os.environ[gpus.VISIBLE] == "0,1"
    (folder,) = tmp_path.glob("headtypes-gpus-*")
    assert take_gpu(["0", "1", "2"], folder)[0] == "2"


def test_a_machine_without_a_gpu_is_left_alone(machine, tmp_path):
    machine(0)
    assert keep_to_gpus(1) == []
    assert gpus.VISIBLE not in gpus.os.environ
    assert not list(tmp_path.glob("headtypes-gpus-*"))
