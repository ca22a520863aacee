"""Products of matrices in float32, on processors for which PyTorch chooses a slow library.

PyTorch uses MKL, which does without AVX-512 on processors that are not Intel's; oneDNN, which it brings along, has it
on all of them. Both add in float32, in another order.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headtypes.models.placement import device_of, replace_for


@cache
def prefers_onednn() -> bool:
    """Whether oneDNN is the faster one: on a processor with AVX-512 that is not Intel's, as Linux says."""
    processor = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return (
        "avx512f" in processor
        and "GenuineIntel" not in processor
        and torch.backends.mkl.is_available()
        and torch.backends.mkldnn.is_available()
        # PyTorch can be told to do without (`ATEN_CPU_CAPABILITY`).
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
    )


def product(left: Tensor, right: Tensor, out: Tensor | None = None) -> Tensor:
    """Product [..., row, column] of matrices, a single one by oneDNN if faster; out: memory that may remain unused."""
    leading = left.shape[:-2]
    if leading.numel() == 1 and _is_slow(left) and torch.is_inference_mode_enabled():
        rows, weight = left.flatten(0, -2), right.flatten(0, -2).transpose(0, 1)
        if weight.is_contiguous() or weight.transpose(0, 1).is_contiguous():
            return _linear(rows, weight).unflatten(0, (*leading, -1))
    return torch.matmul(left, right, out=out)


class _FixedLinear(torch.autograd.Function):
    """A linear layer whose weights are fixed, so that its input alone has a gradient."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(weight)
        return _linear(input, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (weight,) = ctx.saved_tensors
        return _linear(gradient.contiguous(), weight.transpose(0, 1)), None, None


class _OneDnnLinear(nn.Linear):
    def forward(self, input: Tensor) -> Tensor:
        if torch.is_inference_mode_enabled():
            return _linear(input, self.weight, self.bias)
        if any(parameter.requires_grad for parameter in self.parameters()):
            return super().forward(input)
        return _FixedLinear.apply(input, self.weight, self.bias)


@contextmanager
def fast_products(model: nn.Module) -> Iterator[None]:
    """Let linear layers in float32 use oneDNN where that is faster; with weights to learn, in inference mode alone."""
    linear = [
        module
        for module in model.modules()
        # With other weights, oneDNN is the slower one.
        if type(module) is nn.Linear and _is_slow(module.weight, device_of(module)) and module.weight.is_contiguous()
    ]
    with ExitStack() as restored:
        for module in linear:
            restored.callback(setattr, module, "__class__", nn.Linear)
            module.__class__ = _OneDnnLinear
            if "_old_forward" in vars(module):
                # What accelerate calls once it has brought the weights.
                replace_for(restored, module, "_old_forward", partial(_OneDnnLinear.forward, module))
        yield


def _is_slow(matrix: Tensor, device: torch.device | None = None) -> bool:
    return matrix.dtype == torch.float32 and (device or matrix.device).type == "cpu" and prefers_onednn()


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(input, weight, bias, "none", [], "")
