"""What the tests of this folder rest on: the Slurm that they start."""

import tempfile
from pathlib import Path

import pytest

from tests.cluster.slurm import processes_of, running

pytestmark = pytest.mark.cluster


def test_jobs_get_what_they_ask_for_and_no_more(slurm):
    on_gpu = [slurm.submit("echo GPU $CUDA_VISIBLE_DEVICES; sleep 2", "--gpus=1", "--mem=10") for _ in range(2)]
    lavish = slurm.submit("head -c 300M /dev/zero | tail -c 300M | sleep 60", "--mem=50")
    endless = slurm.submit("sleep 300", "--mem=10", "--time=10")
    slurm.wait(endless, ["RUNNING"])
    # As if the ten minutes were over.
    slurm.ask("scontrol", "update", f"JobId={endless}", "EndTime=now")

    slurm.wait(on_gpu[0], ["RUNNING"])
    assert slurm.states()[on_gpu[1]] == "PENDING"
    for job in on_gpu:
        assert slurm.wait(job) == "COMPLETED"
        assert slurm.printed(job) == "GPU 0\n"
    assert slurm.wait(lavish) == "FAILED"
    assert "exceeded memory limit" in slurm.printed(lavish)
    assert slurm.wait(endless) == "TIMEOUT"


def test_the_node_fails_and_comes_back(slurm):
    job = slurm.submit("sleep 300", "--mem=10", "--no-requeue")
    slurm.wait(job, ["RUNNING"])
    slurm.node_down()
    assert slurm.wait(job) == "NODE_FAIL"
    slurm.node_up()
    assert slurm.wait(slurm.submit("true", "--mem=10")) == "COMPLETED"


@pytest.mark.usefixtures("slurm")
def test_nothing_is_left_behind_even_after_an_error():
    def fail_with_a_job_that_does_not_want_to_end(second):
        job = second.submit("trap '' TERM; sleep 300 & wait; sleep 300", "--mem=10")
        second.wait(job, ["RUNNING"])
        assert len(processes_of(second)) > 3
        raise ZeroDivisionError

    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        # Beside the Slurm of the other tests.
        with pytest.raises(ZeroDivisionError), running(Path(folder)) as second:
            fail_with_a_job_that_does_not_want_to_end(second)
        assert processes_of(second) == []
