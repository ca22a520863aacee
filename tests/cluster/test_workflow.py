from collections import Counter
from itertools import pairwise

import pytest

from tests.cluster.conftest import CONDITIONS
from tests.cluster.slurm import ENDED
from tests.support.commands import differences

pytestmark = pytest.mark.slow

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
    for rule in ("fetch_model", "fetch_task", "sample_inputs", "sample_questions", "tabulate_types"):
        assert not cluster_workdir.states_of(rule)
    assert set(slurm.states().values()) <= set(ENDED)

    assert differences(workdir.path / "results", cluster_workdir.path / "results") == []
    assert (cluster_workdir.path / TABLES).exists()
