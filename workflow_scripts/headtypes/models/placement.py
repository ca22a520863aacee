"""GPUs of a process, places of a large model's layers, usable precisions; planning imports this without PyTorch."""

import contextlib
import fcntl
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import torch
    from torch import nn

VISIBLE = "CUDA_VISIBLE_DEVICES"
_SECONDS_BETWEEN_LOOKS = 1.0


# CUDA reads `named` up to the first entry that is no GPU, such as -1; a GPU that comes twice allows two processes.
def _visible_gpus(named: str | None, nodes: int) -> list[str]:
    if named is None:
        return [str(number) for number in range(nodes)]
    names = (name.strip() for name in named.split(","))
    return list(takewhile(lambda name: name not in ("", "-1", "NoDevFiles"), names))


def _take_gpu(gpus: Sequence[str], folder: Path) -> tuple[str, TextIO]:
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
    """Reserve GPUs for this process until it ends, and return the open lock files, one for each GPU.

    number: GPUs to reserve, or all if there are fewer; waits until other processes leave that many. CUDA sees no other.
    Returns [], and reserves nothing, without a GPU, or if CUDA_VISIBLE_DEVICES already names `number` GPUs or fewer.
    """
    # A cluster may give each job its own GPU under the same name, so that locks by name would make jobs wait.
    named = os.environ.get(VISIBLE)
    gpus = _visible_gpus(named, sum(map(_opens, _nodes())))
    if not gpus or (named is not None and len(gpus) <= number):
        return []
    folder, taken = Path(tempfile.gettempdir()) / f"headtypes-gpus-{os.getuid()}", {}
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "several.lock", "w") as several:
        if number > 1:
            # Two processes that each wait for the other's GPUs would wait for ever.
            fcntl.flock(several, fcntl.LOCK_EX)
        while len(taken) < min(number, len(set(gpus))):
            gpu, lock = _take_gpu([gpu for gpu in gpus if gpu not in taken], folder)
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


def usable_precision(precision: str, work: str = "") -> str:
    """Return the precision in which this machine computes a model: `precision`, or float32 instead of a slow bfloat16.

    work: name of the work for a warning on standard error that it runs in float32; no warning if "".
    Call `keep_to_gpus` first, because this function makes PyTorch look for GPUs.
    """
    import torch

    # A step of training in emulated bfloat16 took 7.3 times as long.
    if precision != "bfloat16" or torch.accelerator.is_available() or torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return precision
    if work:
        print(f"{work}: in float32, since this processor has no instructions for {precision}", file=sys.stderr)
    return "float32"


GB = 1e9
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# {model that is larger than a device: {"gpu": most GB of its weights on each GPU, "cpu": most GB in memory}, or one}.
MEMORY: dict[str, Mapping[str, float]] = {}


def gpus_for(parameters: int, precision: str, memory: Mapping[str, float] | None) -> int:
    """Return how many GPUs a model's weights need, at least 1; memory: {"gpu": most GB on each}, None for no limit."""
    most = (memory or {}).get("gpu")
    return 1 if most is None else max(1, math.ceil(parameters * BYTES[precision] / (most * GB)))


def device_of(model: "nn.Module") -> "torch.device":
    """Return the device for the inputs of a model or module, even if weights wait on another until they are used."""
    import torch

    for module in model.modules():
        device = getattr(getattr(module, "_hf_hook", None), "execution_device", None)
        if device is not None:
            return torch.device(device)
    return next(model.parameters()).device


def replace_method(stack: ExitStack, module: "nn.Module", name: str, value: Callable) -> None:
    """Replace the method `name` of one module by `value`; when `stack` is closed, the module's method is as before."""
    if name in vars(module):  # As accelerate leaves it.
        stack.callback(setattr, module, name, vars(module)[name])
    else:
        stack.callback(delattr, module, name)
    setattr(module, name, value)
