"""Gives each process its share of a machine's GPUs. No result depends on which ones it gets."""

import contextlib
import fcntl
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TextIO

VISIBLE = "CUDA_VISIBLE_DEVICES"
_SECONDS_BETWEEN_LOOKS = 1.0


def visible_gpus(named: str | None, nodes: int) -> list[str]:
    """List the GPUs that processes may use, by their CUDA names, once per process that may take it at a time.

    named: CUDA_VISIBLE_DEVICES, read up to the first entry that is not a GPU, such as -1; None where it is not set.
    nodes: number of the machine's GPUs.
    """
    if named is None:
        return [str(number) for number in range(nodes)]
    names = [name.strip() for name in named.split(",")]
    ends = [index for index, name in enumerate(names) if name in ("", "-1", "NoDevFiles")]
    return names[: ends[0]] if ends else names


def take_gpu(gpus: Sequence[str], folder: Path) -> tuple[str, TextIO]:
    """Reserve a GPU by a lock file in `folder`, waiting while other processes hold all of them.

    Returns the GPU and its lock, which the system releases when the file is closed or the process ends in any way.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Every GPU is given to one process before any is given to a second.
    shares = sorted((gpus[:index].count(gpu), index, gpu) for index, gpu in enumerate(gpus))
    has_said_so = False
    while True:
        for share, _, gpu in shares:
            lock = open(folder / f"{gpu.replace('/', '_')}.{share}.lock", "w")  # noqa: SIM115
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
            else:
                return gpu, lock
        if not has_said_so:
            print(f"All GPUs ({', '.join(gpus)}) are taken by other jobs; waiting for one.", file=sys.stderr)
            has_said_so = True
        time.sleep(_SECONDS_BETWEEN_LOOKS)


@cache
def keep_to_gpus(number: int) -> list[TextIO]:
    """Take some of this machine's GPUs, until the process ends, and hide the others from CUDA, before it starts.

    If no more than these have been chosen already, by a cluster or by the user, no lock is taken: each job may see its
    own under the same names.
    """
    named = os.environ.get(VISIBLE)
    gpus = visible_gpus(named, sum(map(_opens, _nodes())))
    if not gpus or (named is not None and len(gpus) <= number):
        return []
    folder, taken = Path(tempfile.gettempdir()) / f"headtypes-gpus-{os.getuid()}", {}
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "several.lock", "w") as several:
        if number > 1:
            # Two processes that each wait for the other's GPUs would wait for ever.
            fcntl.flock(several, fcntl.LOCK_EX)
        while len(taken) < min(number, len(set(gpus))):
            gpu, lock = take_gpu([gpu for gpu in gpus if gpu not in taken], folder)
            taken[gpu] = lock
    os.environ[VISIBLE] = ",".join(taken)
    return list(taken.values())


def _nodes() -> list[Path]:
    return list(Path("/dev").glob("nvidia[0-9]*"))


def _opens(node: Path) -> bool:
    with contextlib.suppress(OSError):
        os.close(os.open(node, os.O_RDWR))
        return True
    return False
