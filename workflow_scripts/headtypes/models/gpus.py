"""One GPU for each process: which of several it computes on. Which one that is changes no result."""

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
    """The GPUs that a process may use, by the names that CUDA gives them, each as often as it may be taken.

    named: CUDA_VISIBLE_DEVICES, None where it is not set. CUDA reads it up to the first entry that is none, such as -1.
        One that is named twice may be taken by two processes at a time.
    nodes: the GPUs of the machine.
    """
    if named is None:
        return [str(number) for number in range(nodes)]
    names = [name.strip() for name in named.split(",")]
    ends = [place for place, name in enumerate(names) if name in ("", "-1", "NoDevFiles")]
    return names[: ends[0]] if ends else names


def take_gpu(gpus: Sequence[str], folder: Path) -> tuple[str, TextIO]:
    """Take a GPU that no other process has taken in the same folder; wait where all are taken.

    gpus: as `visible_gpus` gives them.
    returns the GPU and its lock, which the kernel takes back when the file is closed, or the process ends, however it
        ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # The first place of each comes before the second place of any.
    places = sorted((gpus[:place].count(gpu), place, gpu) for place, gpu in enumerate(gpus))
    told = False
    while True:
        for share, _, gpu in places:
            lock = open(folder / f"{gpu.replace('/', '_')}.{share}.lock", "w")  # noqa: SIM115
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
            else:
                return gpu, lock
        if not told:
            print(f"All GPUs ({', '.join(gpus)}) are taken by other jobs; waiting for one.", file=sys.stderr)
            told = True
        time.sleep(_SECONDS_BETWEEN_LOOKS)


@cache
def keep_to_one_gpu() -> TextIO | None:
    """Take one of this machine's GPUs, until the process ends, and hide the others from CUDA.

    To be called before CUDA starts, which looks at what is visible once. A GPU that somebody has chosen, as a cluster
    does for each job, or the user, is neither asked for nor waited for: jobs may see each its own under one name.
    """
    named = os.environ.get(VISIBLE)
    gpus = visible_gpus(named, sum(map(_opens, _nodes())))
    if not gpus or (named is not None and len(gpus) == 1):
        return None
    gpu, lock = take_gpu(gpus, Path(tempfile.gettempdir()) / f"headtypes-gpus-{os.getuid()}")
    os.environ[VISIBLE] = gpu
    return lock


def number_of_gpus() -> int:
    """How many processes may each take a GPU at a time."""
    return len(visible_gpus(os.environ.get(VISIBLE), len(_nodes())))


def _nodes() -> list[Path]:
    return list(Path("/dev").glob("nvidia[0-9]*"))


def _opens(node: Path) -> bool:
    """A cluster's job sees the nodes of GPUs that are not its own, but may not open them."""
    with contextlib.suppress(OSError):
        os.close(os.open(node, os.O_RDWR))
        return True
    return False
