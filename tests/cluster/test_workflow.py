"""The workflow on a cluster: profiles/slurm and a real Slurm, offline."""

import pytest

from tests.cluster.conftest import TABLES
from tests.cluster.slurm import ENDED
from tests.workflow.replay import differences

pytestmark = pytest.mark.cluster

# As a user would set them, but for the memory, which is too little at first.
LITTLE_MEMORY = ["--set-resources", "prepare_windows:mem_mb=200 * 8 ** (attempt - 1)"]
ON_GPU = ["--default-resources", "gpu=1"]
OF_A_MODEL, OF_NO_MODEL = ("extract_features", "evaluate_condition"), ("cluster_heads", "measure_intervals")


def test_a_run_in_which_everything_fails_makes_the_tables_of_a_local_run(slurm, local, cluster_workdir):
    with cluster_workdir.started(*LITTLE_MEMORY, *ON_GPU, "--", TABLES) as run:
        cancelled = cluster_workdir.reading("extract_features")
        # Downloads are local jobs; no other asks for the network.
        (environment, *_) = slurm.environments_of("extract_features.py")
        assert (environment["HF_HUB_OFFLINE"], environment["CUDA_VISIBLE_DEVICES"]) == ("1", "0")
        slurm.ask("scancel", cancelled)

        too_long = cluster_workdir.reading("extract_features", attempt=2)
        slurm.overrun(too_long, "extract_features.py")

        lost = cluster_workdir.reading("evaluate_condition", attempt=2)
        # There is one GPU.
        assert sorted(cluster_workdir.states_of("evaluate_condition").values()) == ["PENDING", "RUNNING"]
        slurm.node_down()
        slurm.node_up()
        assert run.wait(600) == 0, cluster_workdir.printed()

    ended = cluster_workdir.states_of("extract_features")
    assert list(ended.values()) == ["CANCELLED", "TIMEOUT", "COMPLETED"]
    limits = [slurm.told(job, "TimeLimit") for job in ended]
    first, second = list(cluster_workdir.states_of("prepare_windows").items())
    assert (first[1], second[1]) == ("FAILED", "COMPLETED")
    assert "exceeded memory limit" in cluster_workdir.slurm_log("prepare_windows", first[0])
    # Slurm has put it back into its queue, under the same id.
    assert list(cluster_workdir.states_of("evaluate_condition").values()) == ["COMPLETED", "COMPLETED"]
    print(limits, slurm.ask("scontrol", "show", "job", lost))
    assert slurm.told(lost, "Restarts") == "1"

    for rules, gpu in ((OF_A_MODEL, True), (OF_NO_MODEL, False)):
        for job in (job for rule in rules for job in cluster_workdir.states_of(rule)):
            assert ("gpu:1" in slurm.ask("scontrol", "show", "job", job)) == gpu
    # Downloads and what takes no time run where Snakemake does.
    for rule in ("fetch_model", "fetch_task", "draw_samples", "draw_questions", "tabulate_ablations"):
        assert not cluster_workdir.states_of(rule)
    assert set(slurm.states().values()) <= set(ENDED)

    assert differences(local, cluster_workdir.path / "results") == []


def test_eight_shards_make_the_tables_of_one_job(local, cluster_workdir, config):
    cluster_workdir.configure({**config, "jobs": {"shards": 8}})
    one_job = ["--groups", "evaluate_shard=evaluations", "--group-components", "evaluations=8", "--cores", "2"]
    with cluster_workdir.started(*one_job, "--", TABLES) as run:
        assert run.wait(600) == 0, cluster_workdir.printed()

    assert list(cluster_workdir.states_of("extract_shard").values()) == ["COMPLETED"] * 8
    print(cluster_workdir.slurm.ask("squeue", "--states=all", "--sort=i", "-ho", "%i %k %C %m %l %M"))
    tables = sorted(path.name for path in local.glob("tables/*.csv"))
    made = cluster_workdir.path / "results"
    assert tables
    assert [(made / "tables" / name).read_bytes() for name in tables] == [
        (local / "tables" / name).read_bytes() for name in tables
    ]
    assert differences(local, made) == []
