"""Products of matrices in float32, on processors for which PyTorch chooses a slow library.

PyTorch multiplies matrices of float32 with MKL, which on processors that are not Intel's does without AVX-512. oneDNN,
which PyTorch brings along and uses for bfloat16, has AVX-512 on all of them. Both add in float32, in another order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn

_PROCESSOR = Path("/proc/cpuinfo")


@cache
def prefers_onednn() -> bool:
    """Whether this processor has AVX-512 that MKL does not use."""
    return (
        torch.backends.mkl.is_available()
        and torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and _PROCESSOR.exists()
        and "GenuineIntel" not in _PROCESSOR.read_text()
    )


class _OneDnnLinear(nn.Linear):
    def forward(self, input: Tensor) -> Tensor:
        # oneDNN's product has no gradient.
        if not torch.is_inference_mode_enabled():
            return super().forward(input)
        return torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")


@contextmanager
def fast_products(model: nn.Module) -> Iterator[None]:
    """Let a model's linear layers in float32 use oneDNN where that is faster; afterwards they are as before."""
    linear = [module for module in model.modules() if type(module) is nn.Linear and _is_slow(module.weight)]
    for module in linear:
        module.__class__ = _OneDnnLinear
    try:
        yield
    finally:
        for module in linear:
            module.__class__ = nn.Linear


def _is_slow(weight: Tensor) -> bool:
    return weight.dtype == torch.float32 and weight.device.type == "cpu" and prefers_onednn()
