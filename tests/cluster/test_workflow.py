"""The workflow on a cluster: profiles/slurm and a real Slurm, offline."""

import pytest

from tests.cluster.slurm import ENDED, until
from tests.workflow.replay import differences

pytestmark = pytest.mark.cluster

TABLES = "results/tables/table2.csv"


def test_a_run_in_which_a_job_is_killed_makes_the_tables_of_a_local_run(slurm, workdir, cluster_workdir):
    with cluster_workdir.started("--", TABLES) as run:
        # Once it has left Snakemake's hands and reads the model.
        until(lambda: slurm.environments_of("extract_features.py"), "the job", 120)
        (job,) = slurm.jobs_of("extract_features")
        # Downloads are local jobs; no other asks for the network.
        assert all(each.get("HF_HUB_OFFLINE") == "1" for each in slurm.environments_of("extract_features.py"))
        slurm.ask("scancel", job)
        workdir.snakemake("--", TABLES)
        assert run.wait(400) == 0, cluster_workdir.printed()

    killed, again = slurm.jobs_of("extract_features")
    assert [slurm.states()[each] for each in (killed, again)] == ["CANCELLED", "COMPLETED"]
    for rule in ("prepare_windows", "cluster_heads", "evaluate_condition", "measure_intervals"):
        assert slurm.jobs_of(rule)
    # Downloads and what takes no time run where Snakemake does.
    for rule in ("fetch_model", "fetch_task", "draw_samples", "draw_questions", "tabulate_ablations"):
        assert not slurm.jobs_of(rule)
    assert set(slurm.states().values()) <= set(ENDED)

    assert differences(workdir.path / "results", cluster_workdir.path / "results") == []
    assert (cluster_workdir.path / TABLES).exists()
