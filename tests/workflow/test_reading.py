"""What only reads: plans, previews and audits of a folder that cannot be written, such as an archive of results."""

import shutil
import subprocess
import sys

import pytest

from tests.reliability.disks import mounts_allowed
from tests.support.places import ROOT

TARGETS = ("--", "results/sources/models/tiny.json")
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@pytest.mark.skipif(not mounts_allowed(), reason="read-only folders cannot be mounted here")
def test_what_only_reads_needs_no_folder_that_can_be_written(workdir):
    """What Snakemake keeps of earlier runs is read there too."""
    workdir.snakemake(*TARGETS)
    shutil.rmtree(workdir.path / ".snakemake/shadow")
    before = sorted(workdir.path.rglob("*"))

    def read_only(*command: str) -> str:
        given = ["--directory", str(workdir.path), "--configfile", str(workdir.path / "tiny.yaml")]
        mounted = ["unshare", "--mount", "sh", "-c", READ_ONLY, str(workdir.path), sys.executable, *command]
        run = subprocess.run(
            [*mounted, "--snakefile", str(ROOT / "Snakefile"), *given, *TARGETS], capture_output=True, text=True
        )
        return run.stdout + run.stderr

    assert read_only(f"{ROOT}/commands/audit.py").startswith("All results are as they should be.\n")
    assert read_only(f"{ROOT}/commands/preview.py").startswith("Nothing to be done.")
    assert "Nothing to be done" in read_only("-m", "snakemake", "--dry-run")
    assert read_only("-m", "snakemake", "--cores", "1", "--forceall").count("name a folder with --directory") == 1
    assert sorted(workdir.path.rglob("*")) == before


def test_a_run_in_another_folder_leaves_no_marker_behind(workdir):
    workdir.snakemake(*TARGETS)
    assert list((workdir.path / ".snakemake/alive").iterdir()) == []


def test_a_preview_is_not_taken_for_a_run_beside_which_orphans_are_none(workdir):
    """While it is running, the next run has to find the jobs of a killed one."""
    code = (
        "import os, sys; from planning import planned; planned(sys.argv[1:]); print(os.path.exists('.snakemake/alive'))"
    )
    command = [sys.executable, "-c", code, *workdir.arguments(*TARGETS)[3:]]
    run = subprocess.run(command, cwd=ROOT / "commands", capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr
