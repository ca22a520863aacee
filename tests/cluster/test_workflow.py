"""The workflow on a cluster, with profiles/slurm and a real Slurm, offline; and that Slurm, on which this rests.

In one file, so that one Slurm serves all.
"""

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cluster.conftest import CONDITIONS
from tests.cluster.slurm import ENDED, processes_of, running
from tests.support.compared import differences

pytestmark = pytest.mark.cluster

TABLES = "results/guan2020/table2.csv"
# As a user would set them, but for the memory, which is too little at first.
LITTLE_MEMORY = ["--set-resources", "prepare_windows:mem_mb=200 * 8 ** (attempt - 1)"]
ON_GPU = ["--default-resources", "gpu=1"]


def test_jobs_of_which_some_fail_in_every_way_make_the_tables_of_a_local_run(slurm, workdir, cluster_workdir):
    with cluster_workdir.started(*LITTLE_MEMORY, *ON_GPU, "--", TABLES) as run:
        cancelled = cluster_workdir.next_job("evaluate_condition")
        # Downloads are local jobs; no other asks for the network. Each job has its GPU from Slurm.
        for environment in slurm.processes_of(cancelled, "call.py").values():
            assert (environment["HF_HUB_OFFLINE"], environment["CUDA_VISIBLE_DEVICES"]) == ("1", "0")
        slurm.ask("scancel", cancelled)

        hanging = cluster_workdir.next_job("evaluate_condition", cancelled)
        slurm.overrun(hanging, "call.py")

        lost = cluster_workdir.next_job("evaluate_condition", cancelled, hanging)
        slurm.node_down()
        slurm.node_up()

        workdir.snakemake("--", TABLES)
        assert run.wait(900) == 0, cluster_workdir.printed()

    evaluations = cluster_workdir.states_of("evaluate_condition")
    # There is one GPU.
    times = sorted((slurm.told(job, "StartTime"), slurm.told(job, "EndTime")) for job in evaluations)
    assert all(end <= start for (_, end), (start, _) in pairwise(times))
    assert (evaluations.pop(cancelled), evaluations.pop(hanging)) == ("CANCELLED", "TIMEOUT")
    # Slurm has put it back into its queue, under the same id.
    assert slurm.told(lost, "Restarts") == "1"
    assert list(evaluations.values()) == ["COMPLETED"] * len(CONDITIONS)
    limits = Counter(slurm.told(job, "TimeLimit") for job in evaluations)
    assert sorted(limits.values()) == [2, len(CONDITIONS) - 2]

    tried = cluster_workdir.states_of("prepare_windows")
    assert list(tried.values()) == ["FAILED", "COMPLETED"]
    assert "exceeded memory limit" in cluster_workdir.slurm_log("prepare_windows", next(iter(tried)))

    # Jobs that run no model ask for no GPU, and what takes no time runs where Snakemake does.
    for rule in ("cluster_heads", "measure_intervals"):
        assert not any("gpu" in slurm.about(job) for job in cluster_workdir.states_of(rule))
    assert all("gpu:1" in slurm.about(job) for job in evaluations)
    for rule in ("fetch_model", "fetch_task", "sample_inputs", "sample_questions", "tabulate_guan2020"):
        assert not cluster_workdir.states_of(rule)
    assert set(slurm.states().values()) <= set(ENDED)

    assert differences(workdir.path / "results", cluster_workdir.path / "results") == []
    assert (cluster_workdir.path / TABLES).exists()


def test_jobs_get_what_they_ask_for_and_no_more(slurm):
    # They end when they are told to, however long the others take to start.
    told = slurm.folder / "told"
    waits = f"echo GPU $CUDA_VISIBLE_DEVICES; until [ -e {told} ]; do sleep 0.1; done"
    on_gpu = [slurm.submit(waits, "--gpus=1", "--mem=10") for _ in range(2)]
    lavish = slurm.submit("head -c 300M /dev/zero | tail -c 300M | sleep 60", "--mem=50")
    endless = slurm.submit("sleep 300", "--mem=10", "--time=10")
    slurm.wait(endless, ["RUNNING"])
    # As if the ten minutes were over.
    slurm.ask("scontrol", "update", f"JobId={endless}", "EndTime=now")

    slurm.wait(on_gpu[0], ["RUNNING"])
    assert slurm.states()[on_gpu[1]] == "PENDING"
    told.touch()
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
