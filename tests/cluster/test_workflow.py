"""The workflow on a cluster: profiles/slurm and a real Slurm, offline."""

from collections import Counter
from itertools import pairwise

import pytest

from tests.cluster.conftest import SHARDS
from tests.cluster.slurm import ENDED
from tests.workflow.replay import differences

pytestmark = pytest.mark.cluster

MERGED = ("provenance/ablation/tiny/animals-kmeans-k4/", "provenance/features/tiny/")
TABLES = "results/guan2020/table2.csv"
# As a user would set them, but for the memory, which is too little at first.
LITTLE_MEMORY = ["--set-resources", "prepare_windows:mem_mb=200 * 8 ** (attempt - 1)"]
ON_GPU = ["--default-resources", "gpu=1"]
# The evaluations of a condition in one job.
GROUPED = ["--groups", "evaluate_shard=shards", "--group-components", f"shards={SHARDS}", "--cores", "2"]


def test_shards_of_which_some_fail_in_every_way_make_the_tables_of_one_job(slurm, workdir, cluster_workdir):
    with cluster_workdir.started(*LITTLE_MEMORY, *ON_GPU, *GROUPED, "--", TABLES) as run:
        cancelled = cluster_workdir.next_job("extract_shard")
        # Downloads are local jobs; no other asks for the network. Each job has its GPU from Slurm.
        for environment in slurm.processes_of(cancelled, "extract_features.py").values():
            assert (environment["HF_HUB_OFFLINE"], environment["CUDA_VISIBLE_DEVICES"]) == ("1", "0")
        slurm.ask("scancel", cancelled)

        hanging = cluster_workdir.next_job("extract_shard", cancelled)
        slurm.overrun(hanging, "extract_features.py")

        lost = cluster_workdir.next_job("extract_shard", cancelled, hanging)
        slurm.node_down()
        slurm.node_up()

        workdir.snakemake("--", TABLES)
        assert run.wait(900) == 0, cluster_workdir.printed()

    shards = cluster_workdir.states_of("extract_shard")
    # There is one GPU.
    times = sorted((slurm.told(job, "StartTime"), slurm.told(job, "EndTime")) for job in shards)
    assert all(end <= start for (_, end), (start, _) in pairwise(times))
    assert (shards.pop(cancelled), shards.pop(hanging)) == ("CANCELLED", "TIMEOUT")
    # Slurm has put it back into its queue, under the same id.
    assert slurm.told(lost, "Restarts") == "1"
    assert list(shards.values()) == ["COMPLETED"] * SHARDS
    limits = Counter(slurm.told(job, "TimeLimit") for job in shards)
    assert sorted(limits.values()) == [2, SHARDS - 2]

    tried = cluster_workdir.states_of("prepare_windows")
    assert list(tried.values()) == ["FAILED", "COMPLETED"]
    assert "exceeded memory limit" in cluster_workdir.slurm_log("prepare_windows", next(iter(tried)))

    # Jobs that run no model ask for no GPU, and what takes no time runs where Snakemake does.
    for rule in ("extract_features", "cluster_heads", "evaluate_condition", "measure_intervals"):
        assert not any("gpu" in slurm.about(job) for job in cluster_workdir.states_of(rule))
    assert all("gpu:1" in slurm.about(job) for job in shards)
    for rule in ("fetch_model", "fetch_task", "sample_inputs", "sample_questions", "tabulate_ablations"):
        assert not cluster_workdir.states_of(rule)
    assert not cluster_workdir.states_of("evaluate_shard")
    assert set(slurm.states().values()) <= set(ENDED)

    # What is on record says besides from how many shards they were merged.
    differing = differences(workdir.path / "results", cluster_workdir.path / "results")
    assert [file for file in differing if not file.startswith(MERGED)] == []
    assert (cluster_workdir.path / TABLES).exists()
