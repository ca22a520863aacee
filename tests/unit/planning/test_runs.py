"""What Snakemake keeps of a directory in which several runs work (`rules/runs.smk`), and how often it looks at jobs."""

import ast
import logging
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.exceptions import LockException, WorkflowError
from snakemake.scheduling.job_scheduler import JobScheduler

from headtypes.planning import locks
from tests.support.places import ROOT


@pytest.fixture
def in_use() -> str | None:
    """What was said of another live run when the rules were read."""
    return None


@pytest.fixture
def keeping(tmp_path, in_use):
    """Makes what a run has that makes some files; the class is taken out of the rules, which need a workflow."""
    parts = ast.parse((ROOT / "rules/runs.smk").read_text(encoding="utf-8")).body
    kept = [part for part in parts if isinstance(part, ast.Import | ast.ImportFrom | ast.ClassDef)]
    known = {"locks": locks, "Path": Path, "in_use": in_use, "logger": logging.getLogger("snakemake")}
    known["WorkflowError"] = WorkflowError
    exec(compile(ast.Module(kept, []), "runs.smk", "exec"), known)

    class Kept(known["Keeping"]):
        def __init__(self, *outputs: str):
            super().__init__(path=tmp_path / ".snakemake")
            self._outputs = outputs

        def all_inputfiles(self):
            return []

        def all_outputfiles(self):
            return self._outputs

    return Kept


def test_of_two_runs_that_begin_at_the_same_time_one_is_refused(keeping, monkeypatch):
    """Each looks for the locks of others before it writes its own."""
    monkeypatch.setattr(keeping, "_read_locks", slowed(keeping._read_locks))
    begun, refused = [], []
    both = threading.Barrier(2)

    def run() -> None:
        kept = keeping("results/a.csv")
        both.wait()
        try:
            with kept.lock():
                begun.append(kept)
                time.sleep(1)
        except LockException:
            refused.append(kept)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(begun), len(refused)) == (1, 1)


def slowed(read):
    def reading(self):
        found = list(read(self))
        time.sleep(0.2)
        return found

    return reading


def test_a_run_that_began_meanwhile_is_named(keeping, monkeypatch, caplog):
    """It was not there yet when the rules were read."""
    with keeping("results/a.csv").lock():
        monkeypatch.setattr(locks, "run_beside", lambda: "This directory is in use by another.")
        with pytest.raises(LockException), keeping("results/a.csv").lock():
            pass
    assert "This directory is in use by another." in caplog.text


@pytest.mark.parametrize("in_use", ["This directory is in use by another."])
def test_what_another_run_has_finished_since_the_plan_is_not_made_again(keeping, monkeypatch):
    kept = keeping("results/a.csv")
    with pytest.raises(WorkflowError, match=r"has ended while this one was planned.*: run again"), kept.lock():
        pass
    # While the other one lives, it makes other files: the locks show that.
    monkeypatch.setattr(locks, "run_beside", lambda: "This directory is in use by another.")
    with kept.lock():
        pass


def test_a_run_that_ends_leaves_the_locks_of_another(keeping):
    with keeping("results/a.csv").lock():
        with keeping("results/b.csv").lock():
            pass
        with pytest.raises(LockException), keeping("results/a.csv").lock():
            pass
    with keeping("results/a.csv").lock():
        pass


def test_locks_can_be_removed_on_demand(keeping):
    """As by --unlock."""
    held = keeping("results/a.csv").lock()
    held.__enter__()
    keeping("results/a.csv").unlock()
    with keeping("results/a.csv").lock():
        pass


def test_a_record_is_on_the_disk_once_it_is_written(keeping, monkeypatch):
    on_disk = []
    monkeypatch.setattr(os, "fsync", lambda file: on_disk.append(Path(f"/proc/self/fd/{file}").resolve()))
    kept = keeping()
    kept._write_record("results/a.csv", {})
    assert [file.parent.name for file in on_disk] == ["metadata"]


def test_the_scheduler_waits_for_one_look_at_the_jobs_at_a_time():
    """With a timer for each job that has ended, 200 jobs would have it look 200 times a second."""
    parts = ast.parse((ROOT / "rules/planning.smk").read_text(encoding="utf-8")).body
    known = {"threading": threading, "looks_again": threading.Lock()}
    kept = [part for part in parts if getattr(part, "name", None) == "look_again"]
    exec(compile(ast.Module(kept, []), "planning.smk", "exec"), known)
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(0))
    for _ in range(2):
        for _ in range(5):
            known["look_again"](scheduler, 0.05)
        assert scheduler._open_jobs.acquire(timeout=30)
        assert not scheduler._open_jobs.acquire(timeout=0.3)
    assert callable(JobScheduler._schedule_reevalutation)
