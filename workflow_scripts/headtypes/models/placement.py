"""Places of the layers of a model larger than one device: on several GPUs, in the machine's memory, on disk.

Accelerate brings each layer to where it is computed, so that no number depends on it. Planning imports this module, and
so nothing heavy is imported at the top.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import nn

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
