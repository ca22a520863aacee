"""Places of a model: the GPUs that a process takes, and the layers that lie on several, in memory or on disk.

Planning imports this module, and so nothing heavy is imported at the top.
"""

import contextlib
import fcntl
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import torch
    from torch import nn

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


GB = 1e9
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_memory_of: dict[str, Mapping[str, float] | None] = {}


def limit(model: str, memory: Mapping[str, float] | None) -> None:
    """Remember how many GB of a model's weights may lie in each place, outside its record, so that nothing runs
    again.
    """
    _memory_of[model] = memory


def limits_of(model: str) -> Mapping[str, float] | None:
    return _memory_of.get(model)


def gpus_for(parameters: int, precision: str, memory: Mapping[str, float] | None) -> int:
    """Return the number of GPUs that the weights of a model need; memory: GB by place, as in the configuration."""
    most = (memory or {}).get("gpu")
    return 1 if most is None else max(1, math.ceil(parameters * BYTES[precision] / (most * GB)))


def places(memory: Mapping[str, float], gpus: int, folder: str) -> dict[str, Any]:
    """Return the arguments of `from_pretrained` that say where layers lie.

    gpus: number of GPUs that the process has; folder: for layers on disk.
    """
    most = {gpu: int(memory["gpu"] * GB) for gpu in range(gpus)} if "gpu" in memory else {}
    if "cpu" in memory:
        most["cpu"] = int(memory["cpu"] * GB)
    return {"device_map": "auto", "max_memory": most or None, "offload_folder": folder}


def device_of(model: "nn.Module") -> "torch.device":
    """Return the device on which a model, or one of its modules, begins to compute."""
    import torch

    for module in model.modules():
        device = getattr(getattr(module, "_hf_hook", None), "execution_device", None)
        if device is not None:
            return torch.device(device)
    return next(model.parameters()).device


@contextmanager
def at_hand(module: "nn.Module") -> Iterator[None]:
    """Bring the weights of a module to its device while the context lasts, if they lie elsewhere."""
    with ExitStack() as entered:
        if hasattr(module, "_hf_hook"):
            from accelerate.utils import align_module_device

            entered.enter_context(align_module_device(module))
        yield


def replace_for(stack: ExitStack, module: "nn.Module", name: str, value: Callable) -> None:
    """Replace a method of one module until a stack is closed, also where accelerate has replaced it before."""
    if name in vars(module):
        stack.callback(setattr, module, name, vars(module)[name])
    else:
        stack.callback(delattr, module, name)
    setattr(module, name, value)
