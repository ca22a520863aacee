"""Which runs and jobs are alive in a working directory: locks of killed runs are lifted, and orphans end or are named.

Every run of Snakemake, and every job, holds a lock on a file of its own in `.snakemake/alive` for as long as it lives.
The kernel releases a file lock when the process that holds it ends, however it ends.
"""

import atexit
import fcntl
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TextIO

from headtypes.core.errors import InputError

_FOLDER = Path(".snakemake")
# Jobs that run beside Snakemake have this from it: the file whose lock shows that their run is alive.
_RUN = "HEADTYPES_RUN"
# An orphan ends as soon as it notices that its run has ended.
_PATIENCE_S = 3.0


@dataclass(frozen=True)
class Alive:
    """A process that works in the working directory.

    what:  a run, or the job of a run.
    title: of a job, its rule and wildcards.
    """

    what: Literal["run", "job"]
    title: str
    process: int
    host: str
    started: str

    def __str__(self) -> str:
        """What it is and where, for messages."""
        return f"{self.title} (process {self.process} on {self.host}, since {self.started})"


@cache
def join_run() -> str | None:
    """Mark this process as a live run of the working directory until it ends, and lift the locks of killed runs.

    Snakemake cannot tell the locks of a killed run from those of a live one. Where no other run is alive, all of them
    are stale, and removed. Where the file system has no file locks, they are left as they are.

    returns a sentence about another live run; None where there is none.
    """
    path = _mark("run", "a run of Snakemake")
    if path is None:
        return None
    os.environ[_RUN] = str(path.absolute())
    runs = [other for other in _others() if other.what == "run"]
    if runs:
        return (
            f"This directory is in use by {runs[0]}. If Snakemake says that it cannot be locked, wait until that run "
            "has ended: with --unlock, both would write the same files."
        )
    for stale in (_FOLDER / "locks").glob("*.lock"):
        stale.unlink()
    return None


def refuse_orphans() -> None:
    """Raise `InputError` where a job outlived the run that started it, since it could overwrite newer results."""
    end = time.monotonic() + _PATIENCE_S
    while (others := _others()) and all(other.what == "job" for other in others):
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
        pass  # A later run has tidied up.
    except OSError:
        return
    print(f"{title}: the run that started this job has ended, and so does the job; run again.", file=sys.stderr)
    os._exit(1)


# Kept open, since the locks are released when the files are closed.
_held: list[TextIO] = []


def _mark(what: Literal["run", "job"], title: str) -> Path | None:
    """Lock a file of this process; None where the file system has no locks."""
    folder = _FOLDER / "alive"
    # Where it cannot be made, Snakemake would say so with a traceback.
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise InputError(f"{Path.cwd()} cannot be written, and results go there; name a folder with --directory.")
    path = folder / f"{what}.{socket.gethostname()}.{os.getpid()}"
    try:
        file = _locked(path)
    except OSError:
        return None
    file.truncate(0)
    json.dump([what, title, os.getpid(), socket.gethostname(), time.strftime("%Y-%m-%d %H:%M:%S")], file)
    file.flush()
    _held.append(file)
    atexit.register(path.unlink, missing_ok=True)
    return path


def _locked(path: Path) -> TextIO:
    while True:
        file = open(path, "a+")  # noqa: SIM115
        fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have taken the file for that of a dead one, and removed it, before it was locked.
        if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
            return file
        file.close()


def _others() -> list[Alive]:
    """The other live processes of the working directory, runs first; files of dead ones are removed."""
    return sorted(_living(), key=lambda other: other.what != "run")


def _living() -> Iterator[Alive]:
    own = {os.path.realpath(file.name) for file in _held}
    for path in sorted((_FOLDER / "alive").glob("*")):
        if os.path.realpath(path) in own:
            continue
        try:
            with open(path) as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
        except BlockingIOError:
            yield _read(path)
        except OSError:
            continue


def _read(path: Path) -> Alive:
    what, host, process = path.name.split(".", 1)[0], *path.name.split(".", 1)[1].rsplit(".", 1)
    try:
        return Alive(*json.loads(path.read_text()))
    except (ValueError, TypeError, OSError):
        # It is being written.
        return Alive(what, f"a {what}", int(process), host, "now")
