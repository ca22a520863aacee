"""Which runs and jobs are alive in a working directory: locks of killed runs are removed, and orphans end or are named.

Every run of Snakemake, and every job, holds a lock on a file of its own in `.snakemake/alive` for as long as it lives.
The kernel releases a file lock when the process that holds it ends, however it ends. Where the file system keeps locks
within each machine, those of other machines cannot be seen: what another machine has marked is never taken for dead.
"""

import atexit
import fcntl
import json
import os
import re
import secrets
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TextIO

from headtypes.core.errors import InputError

_FOLDER = Path(".snakemake")
_ALIVE = _FOLDER / "alive"
# Jobs that run beside Snakemake have this from it: the file whose lock shows that their run is alive.
_RUN = "HEADTYPES_RUN"
# An orphan ends as soon as it notices that its run has ended.
_PATIENCE_S = 3.0
# What a marker is of, on which host and by which process; the end of the name tells containers apart.
_NAME = re.compile(r"(run|job)\.(.+?)\.(\d+)(?:\.[0-9a-f]{8})?")
# Differs between kernels and between starts of one; containers of one machine share it, and its file locks.
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Alive:
    """A process that works in the working directory.

    what:  a run, or the job of a run.
    title: of a job, its rule and wildcards.
    boot:  the start of the machine's kernel.
    file:  its marker.
    is_held: whether the lock of its marker is seen to be held: it lives, wherever it is.
    """

    what: Literal["run", "job"]
    title: str
    process: int
    host: str
    started: str
    boot: str
    file: Path
    is_held: bool

    @property
    def is_here(self) -> bool:
        """Whether it belongs to this machine, whose file locks tell whether it lives.

        One of this name and of an earlier start is taken for this machine, too, if it began before this start.
        """
        if self.boot == _boot() or _boot() == "":
            return True
        return self.host == socket.gethostname() and self.file.stat().st_mtime < time.time() - time.clock_gettime(
            time.CLOCK_BOOTTIME
        )

    def __str__(self) -> str:
        """What it is and where, for messages."""
        return f"{self.title} (process {self.process} on {self.host}, since {self.started})"


@cache
def attach_run() -> str | None:
    """Mark this process as a live run of the working directory until it ends, and remove the locks of killed runs.

    Snakemake cannot tell the locks of a killed run from those of a live one. Where no other run is alive, all of them
    are stale, and removed. Where the file system has no file locks, they are left as they are.

    returns a sentence about another live run; None where there is none.
    """
    path = _mark("run", "a run of Snakemake")
    if path is None:
        return None
    os.environ[_RUN] = str(path.absolute())
    others = _others(tidy=True)
    if not others or all(other.what == "job" and other.is_here for other in others):
        for stale in (_FOLDER / "locks").glob("*.lock"):
            stale.unlink()
    return _in_use(others)


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Let the others of a folder wait until the block ends; where the file system has no file locks, they do not."""
    with open(folder / "turn", "a") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run_beside() -> str | None:
    """The sentence about another live run; changes nothing."""
    return _in_use(_others())


def check_writable() -> None:
    """Raise `InputError` where a run could not mark itself, and Snakemake would say so with a traceback."""
    _check_writable(next(path for path in (_ALIVE, _FOLDER, Path()) if path.exists()))


def only_to_read(where: Path) -> Path | None:
    """Make a folder in place of Snakemake's own where that cannot be written: even to plan, it makes files in it.

    returns the folder, in `where`, with links to what is known of earlier runs; None where Snakemake's own will do.
    """
    with suppress(InputError):
        check_writable()
        return None
    folder = Path(tempfile.mkdtemp(dir=where))
    for kept in filter(Path.is_dir, (_FOLDER.absolute() / name for name in ("metadata", "incomplete"))):
        (folder / kept.name).symlink_to(kept)
    return folder


def _in_use(others: list[Alive]) -> str | None:
    runs = [other for other in others if other.what == "run" or not other.is_here]
    if not runs:
        return None
    # Of one that is seen to live there is nothing to find out.
    named = next((run for run in runs if run.is_held), runs[0])
    sentence = (
        f"This directory is in use by {named}. If Snakemake says that it cannot be locked, wait until that run has "
        "ended: with --unlock, both would write the same files."
    )
    if named.is_held:
        return sentence
    # Its jobs have markers of their own, and have ended with it.
    markers = [str(run.file) for run in runs if (run.host, run.boot) == (named.host, named.boot)]
    return f"{sentence} Whether it lives cannot be seen from here; if it does not, delete {' '.join(markers)}."


def refuse_orphans() -> None:
    """Raise `InputError` where a job outlived the run that started it, since it could overwrite newer results."""
    end = time.monotonic() + _PATIENCE_S
    while (others := _others()) and all(other.what == "job" and other.is_here for other in others):
        if time.monotonic() > end:
            raise InputError(
                f"A job of a killed run is still alive in this directory: {others[0]}. "
                f"Wait until it has ended, or end it (kill -9 {others[0].process}), and run again."
            )
        time.sleep(0.05)


def leave_run() -> None:
    """Let jobs outlive the process of Snakemake, as on the nodes of a cluster."""
    os.environ.pop(_RUN, None)


def work_for_run(title: str) -> None:
    """Mark this process as a live job until it ends, and end it as soon as the run that started it has ended.

    Without this, the job of a killed run would go on and overwrite what the next run makes. Does nothing for a job
    that no run on this machine has started.
    """
    run = os.environ.get(_RUN)
    if run is None:
        return
    _mark("job", title)
    threading.Thread(target=_end_with, args=(Path(run), title), daemon=True).start()


def _end_with(run: Path, title: str) -> None:
    try:
        with open(run) as file:
            # Waits until the run lets go of it.
            fcntl.flock(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        # Another machine may have removed it. Where the run's process is there, so is the run.
        process = int(run.name.split(".")[-2])
        with suppress(PermissionError):
            while _runs(process):
                time.sleep(1)
    except OSError:
        return
    print(f"{title}: the run that started this job has ended, and so does the job; run again.", file=sys.stderr)
    os._exit(1)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


# Kept open, since the locks are released when the files are closed.
_held: list[TextIO] = []


def _mark(what: Literal["run", "job"], title: str) -> Path | None:
    """Lock a file of this process; None where the file system has no locks."""
    # Where it cannot be made, Snakemake would say so with a traceback.
    with suppress(OSError):
        _ALIVE.mkdir(parents=True, exist_ok=True)
    _check_writable(_ALIVE)
    # In two containers, host and process can be the same.
    # Absolute, since Snakemake leaves the folder of --directory before it ends.
    path = _ALIVE.absolute() / f"{what}.{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        file = _locked(path)
    except OSError:
        return None
    told = [what, title, os.getpid(), socket.gethostname(), time.strftime("%Y-%m-%d %H:%M:%S"), _boot()]
    # On a full disk, the lock and the name are there all the same. Unbuffered: nothing is left to fail at the end.
    with suppress(OSError):
        os.write(file.fileno(), json.dumps(told).encode())
    _held.append(file)
    atexit.register(path.unlink, missing_ok=True)
    return path


def _check_writable(folder: Path) -> None:
    if not os.access(folder, os.W_OK):
        raise InputError(f"{Path.cwd()} cannot be written, and results go there; name a folder with --directory.")


def _locked(path: Path) -> TextIO:
    while True:
        file = open(path, "a+")  # noqa: SIM115
        fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have taken the file for that of a dead one, and removed it, before it was locked.
        if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
            return file
        file.close()


def _others(tidy: bool = False) -> list[Alive]:
    """The other live processes of the working directory, runs first; tidy: remove the markers of dead ones."""
    return sorted(_living(tidy), key=lambda other: other.what != "run")


def _living(tidy: bool) -> Iterator[Alive]:
    own = {os.path.realpath(file.name) for file in _held}
    for path in sorted(_ALIVE.glob("*")):
        if os.path.realpath(path) in own or not _NAME.fullmatch(path.name):
            continue
        try:
            with open(path) as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                if not (other := _read(path, is_held=False)).is_here:
                    yield other
                elif tidy:
                    path.unlink(missing_ok=True)
        except BlockingIOError:
            yield _read(path, is_held=True)
        except OSError:
            continue


def _read(path: Path, is_held: bool) -> Alive:
    try:
        return Alive(*json.loads(path.read_text()), path, is_held)
    except (ValueError, TypeError, OSError):
        # It is being written, or it is an earlier version's, which has no suffix.
        what, host, process = _NAME.fullmatch(path.name).groups()
        boot = _boot() if host == socket.gethostname() else "unknown"
        return Alive(what, f"a {what}", int(process), host, "now", boot, path, is_held)


@cache
def _boot() -> str:
    """Identifies this start of the machine's kernel; empty where the system does not say."""
    with suppress(OSError):
        return _BOOT.read_text().strip()
    return ""
