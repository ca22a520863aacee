"""What only reads: plans and audits of a folder that cannot be written, such as an archive of results."""

import re
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
        mounted = ["unshare", "--mount", "sh", "-c", READ_ONLY, str(workdir.path), sys.executable]
        run = subprocess.run([*mounted, *command, *given], cwd=ROOT, capture_output=True, text=True)
        return run.stdout + run.stderr

    def planned(*options: str) -> str:
        return read_only("-m", "snakemake", *TARGETS[1:], *options)

    audited = read_only("commands/audit.py")
    assert "missing  results/" in audited
    assert not re.search("^(damaged|foreign|stale) ", audited, re.MULTILINE)
    assert "Nothing to be done" in planned("--dry-run")
    assert planned("--cores", "1", "--forceall").count("name a folder with --directory") == 1
    assert sorted(workdir.path.rglob("*")) == before


def test_a_run_in_another_folder_leaves_no_marker_behind(workdir):
    workdir.snakemake(*TARGETS)
    assert list((workdir.path / ".snakemake/alive").iterdir()) == []
