"""A profile of the user's lies over profiles/slurm, as docs/run/cluster.md says."""

import re
import subprocess

import pytest

from tests.cluster.conftest import SNAKEMAKE, absent
from tests.support.places import ROOT

pytestmark = pytest.mark.slow


def test_what_a_cluster_requires_stands_in_a_profile_of_ones_own(tmp_path):
    if not SNAKEMAKE.exists():
        absent(f"{SNAKEMAKE} is not there (make .venv-slurm/installed)")
    page = (ROOT / "docs/run/cluster.md").read_text(encoding="utf-8")
    (tmp_path / "my-cluster").mkdir()
    (tmp_path / "my-cluster/config.yaml").write_text(
        re.search(r"```yaml\n(default-resources:.*?)```", page, re.DOTALL)[1]
    )
    both = re.search(r"snakemake (--profile profiles/slurm --profile) my-cluster", page)[1].split()
    command = [SNAKEMAKE, *both, tmp_path / "my-cluster", "--directory", tmp_path / "run", "--dry-run"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    asked = dict(re.findall(r"^rule (\w+):\n(?:    .*\n)*?    resources: (.*)$", printed, re.MULTILINE))
    assert len(asked) > 30
    of_all = "slurm_account=my-account, slurm_partition=my-partition"
    assert all("tmpdir=/scratch" in it and of_all in it for it in asked.values())
    assert f"{of_all}, gpu=1, gpu_model=a100" in asked["evaluate_condition"]
    assert f"{of_all}, gpu=0" in asked["cluster_heads"]
