"""Locks of a killed run are lifted, and those of a live one are not."""

import fcntl
from pathlib import Path

import pytest

from headtypes.workflow.locks import lift_stale_locks

RUN = Path(".snakemake/run.lock")


@pytest.fixture
def lock(tmp_path, monkeypatch) -> Path:
    """A lock of Snakemake's in the working directory."""
    monkeypatch.chdir(tmp_path)
    path = Path(".snakemake/locks/0.output.lock")
    path.parent.mkdir(parents=True)
    path.write_text("results/a.csv\n")
    return path


def test_the_locks_of_a_killed_run_are_lifted(lock):
    with lift_stale_locks():
        assert not lock.exists()


def test_a_working_directory_that_nothing_ran_in_gets_a_lock(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with lift_stale_locks():
        assert RUN.exists()


def test_the_locks_of_a_live_run_hold(lock):
    with open(RUN, "w") as live:
        fcntl.flock(live, fcntl.LOCK_SH)
        with lift_stale_locks():
            assert lock.exists()


def test_a_run_is_live_for_others_until_it_lets_go(lock):
    with lift_stale_locks(), open(RUN) as other:
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Two runs may share the working directory.
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_UN)
        lock.write_text("results/b.csv\n")
        with lift_stale_locks():
            assert lock.exists()
    with lift_stale_locks():
        assert not lock.exists()


def test_where_the_file_system_has_no_locks_nothing_is_lifted(lock, monkeypatch):
    def unsupported(file, how):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with lift_stale_locks():
        assert lock.exists()
