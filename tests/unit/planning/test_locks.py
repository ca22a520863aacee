"""Locks of killed runs are removed, those of live ones are not, and no job outlives its run unnoticed."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headtypes.core.errors import InputError
from headtypes.planning import locks
from tests.support.places import ROOT

LOCK = Path(".snakemake/locks/0.output.lock")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory, with a lock of Snakemake's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADTYPES_RUN", raising=False)
    LOCK.parent.mkdir(parents=True)
    LOCK.write_text("results/a.csv\n")
    yield tmp_path
    while locks._held:
        locks._held.pop().close()
    locks.attach_run.cache_clear()
    locks.leave_run()


@contextmanager
def python(code: str, run: str | None = None) -> Iterator[subprocess.Popen]:
    """A process in the working directory, once it has printed a line; it is killed when the block ends.

    run: what tells it the file of the run that started it.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow_scripts")}
    if run:
        environment["HEADTYPES_RUN"] = run
    process = subprocess.Popen(
        [sys.executable, "-c", f"import time\nfrom headtypes.planning import locks\n{code}"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline(), process.stderr.read()
        yield process
    finally:
        process.kill()
        process.communicate()


RUN = "locks.attach_run(); import os; print(os.environ.get('HEADTYPES_RUN', 'none'), flush=True); time.sleep(60)"
JOB = "locks.work_for_run('cluster_heads a b'); print('working', flush=True); time.sleep(60)"


def file_of_run(process: subprocess.Popen) -> str:
    (file,) = Path(".snakemake/alive").resolve().glob(f"run.*.{process.pid}.*")
    return str(file)


def test_the_locks_of_a_killed_run_are_lifted(folder):
    with python(RUN) as run:
        run.kill()
        run.wait()
        LOCK.write_text("results/a.csv\n")
        assert locks.attach_run() is None
    assert not LOCK.exists()
    # Nothing is left of the killed run.
    assert [file.name.split(".")[-2] for file in Path(".snakemake/alive").iterdir()] == [str(os.getpid())]


def test_the_locks_of_a_live_run_hold_and_the_run_is_named(folder):
    with python(RUN) as run:
        LOCK.write_text("results/b.csv\n")
        sentence = locks.attach_run()
        assert LOCK.exists()
    assert f"process {run.pid} on" in sentence
    assert "--unlock" in sentence


def test_a_run_attaches_once_however_often_the_workflow_is_used_as_a_module(folder):
    locks.attach_run()
    LOCK.write_text("results/b.csv\n")
    locks.attach_run()
    assert LOCK.exists()


def test_a_job_ends_with_the_run_that_started_it(folder):
    with python(RUN) as run, python(JOB, file_of_run(run)) as job:
        time.sleep(0.2)
        assert job.poll() is None
        run.kill()
        assert job.wait(timeout=10) == 1
        assert "cluster_heads a b: the run that started this job has ended" in job.stderr.read()


def test_a_full_disk_keeps_no_job_from_marking_itself(folder):
    """Nothing can be written into its marker, which is locked all the same."""
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))"
    with python(RUN) as run, python(f"{full}\n{JOB}", file_of_run(run)) as job:
        (marker,) = Path(".snakemake/alive").glob(f"job.*.{job.pid}.*")
        assert marker.read_text() == ""
        assert f"a job (process {job.pid} on {socket.gethostname()}" in str(locks._others()[1])
        run.kill()
        assert job.wait(timeout=10) == 1
        assert "Traceback" not in job.stderr.read()


def test_a_job_of_a_run_that_is_gone_ends_at_once(folder):
    gone = subprocess.Popen(["true"])
    gone.wait()
    with python(f"print('started', flush=True); {JOB}", str(folder / f"run.here.{gone.pid}.0")) as job:
        assert job.wait(timeout=10) == 1


def test_a_job_whose_runs_marker_is_missing_goes_on_while_the_run_lives(folder):
    """Another machine, which does not see the lock, may have removed it."""
    with python(RUN) as run:
        marker = file_of_run(run)
        Path(marker).unlink()
        with python(JOB, marker) as job:
            time.sleep(0.3)
            assert job.poll() is None
            run.kill()
            run.wait()
            assert job.wait(timeout=10) == 1


def mark_elsewhere(what: str = "run", host: str = "node7") -> Path:
    """The marker of a process of another machine, whose lock cannot be seen."""
    marker = Path(f".snakemake/alive/{what}.{host}.{os.getpid()}.0")
    marker.parent.mkdir(exist_ok=True)
    since = "2026-01-02 03:04:05"
    marker.write_text(json.dumps([what, "a run of Snakemake", os.getpid(), host, since, "another boot"]))
    return marker


@pytest.mark.parametrize("host", ["node7", socket.gethostname()])
@pytest.mark.parametrize("what", ["run", "job"])
def test_what_another_machine_marked_keeps_the_locks_and_is_named(folder, what, host):
    """Another container may have this one's name."""
    marker = mark_elsewhere(what, host)
    sentence = locks.attach_run()
    assert marker.exists()
    assert LOCK.exists()
    assert f"process {os.getpid()} on {host}, since 2026-01-02 03:04:05" in sentence
    assert f"delete {marker}" in sentence
    locks.refuse_orphans()


def test_all_that_a_lost_machine_has_left_is_named_at_once(folder):
    """Else each of its jobs would hold back a run of its own."""
    run, job = mark_elsewhere("run"), mark_elsewhere("job")
    another = mark_elsewhere("run", "node9")
    sentence = locks.attach_run()
    assert f"delete {job} {run}." in sentence or f"delete {run} {job}." in sentence
    assert str(another) not in sentence


def test_a_run_on_another_machine_that_is_seen_to_live_is_not_to_be_deleted(folder):
    """Where the file system shares its locks, the other machine's are seen."""
    mark_elsewhere("run", "node1")
    with open(mark_elsewhere()) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        sentence = locks.attach_run()
    assert f"process {os.getpid()} on node7" in sentence
    assert "delete" not in sentence
    assert LOCK.exists()


def test_what_this_machine_marked_before_it_was_started_again_is_dead(folder):
    marker = mark_elsewhere(host=socket.gethostname())
    os.utime(marker, (1, 1))
    assert locks.attach_run() is None
    assert not marker.exists()
    assert not LOCK.exists()


def test_a_process_of_the_same_host_name_and_number_is_not_waited_for(folder, monkeypatch):
    with python(RUN) as run:
        monkeypatch.setattr(os, "getpid", lambda: run.pid)
        assert f"process {run.pid} on" in locks.attach_run()


def test_to_look_for_other_runs_changes_nothing(folder):
    with python(RUN) as run:
        LOCK.write_text("results/b.csv\n")
        assert f"process {run.pid} on" in locks.run_beside()
        run.kill()
        run.wait()
    before = sorted(Path(".snakemake").rglob("*"))
    assert locks.run_beside() is None
    assert sorted(Path(".snakemake").rglob("*")) == before
    assert "HEADTYPES_RUN" not in os.environ


def test_a_job_that_no_run_on_this_machine_started_goes_on(folder):
    with python(JOB) as job:
        time.sleep(0.3)
        assert job.poll() is None
        locks.refuse_orphans()


def test_a_stopped_orphan_keeps_a_run_from_starting_beside_it(folder, monkeypatch):
    monkeypatch.setattr(locks, "_PATIENCE_S", 0.2)
    with python(RUN) as run, python(JOB, file_of_run(run)) as job:
        job.send_signal(signal.SIGSTOP)
        # On a busy machine a thread of the job may go on for a while, and end the job with its run.
        os.waitid(os.P_PID, job.pid, os.WSTOPPED)
        run.kill()
        run.wait()
        assert locks.attach_run() is None
        assert not LOCK.exists()
        with pytest.raises(InputError, match=rf"cluster_heads a b \(process {job.pid} .*\(kill -9 {job.pid}\)"):
            locks.refuse_orphans()
        job.send_signal(signal.SIGCONT)
        job.wait(timeout=10)
        locks.refuse_orphans()


def test_the_jobs_of_a_live_run_are_no_orphans(folder):
    with python(RUN) as run, python(JOB, file_of_run(run)):
        locks.refuse_orphans()


def test_where_the_file_system_has_no_locks_nothing_is_lifted(folder, monkeypatch):
    def unsupported(file, how):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert locks.attach_run() is None
    assert LOCK.exists()
    locks.refuse_orphans()


@pytest.mark.parametrize("folder", ["/proc", "/sys"])
def test_a_working_directory_that_cannot_be_written_is_told_with_what_to_do(folder, monkeypatch):
    """As a checkout that belongs to somebody else."""
    monkeypatch.chdir(folder)
    locks.attach_run.cache_clear()
    with pytest.raises(InputError, match=rf"^{folder} cannot be written, .*name a folder with --directory\.$"):
        locks.attach_run()
