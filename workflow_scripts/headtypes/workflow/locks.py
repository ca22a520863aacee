"""Snakemake's locks on a working directory: those left by a killed run are removed, those of a live run are kept."""

import fcntl
from pathlib import Path
from typing import TextIO

_FOLDER = Path(".snakemake")


def lift_stale_locks() -> TextIO:
    """Remove the locks that killed runs left in the working directory.

    Snakemake cannot tell the lock of a killed run from that of a live one. The kernel can: it releases a file lock
    when the process that holds it ends, however it ends. Every live run shares one on a file of ours, so a run that
    gets it exclusively is the only one, and all of Snakemake's locks are stale. Where the file system has no such
    locks, they are left as they are.

    returns the file with our lock, which marks this run as live until the file is closed or the process ends.
    """
    locks = _FOLDER / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    run = open(_FOLDER / "run.lock", "w")  # noqa: SIM115
    try:
        fcntl.flock(run, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    except OSError:
        # Without file locks a live run cannot be seen, so every lock may be that of one.
        return run
    else:
        for stale in locks.glob("*.lock"):
            stale.unlink()
    fcntl.flock(run, fcntl.LOCK_SH)
    return run
