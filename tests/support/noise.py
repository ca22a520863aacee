"""Noise on what the layers of models return: no two computations agree in the last bits, as on another processor."""

import zlib

import torch
from torch.nn.modules.module import register_module_forward_hook


class Noise:
    """Relative noise, of this size in float32, on what every layer that consists of no others returns in a call."""

    def __init__(self, size: float):
        self._steps = size / torch.finfo(torch.float32).eps
        self._generator, self._on = torch.Generator(), False
        register_module_forward_hook(self._disturbed)

    def begin(self, test: str, *, on: bool) -> None:
        """Draw anew for a test by its name, so that it fails alone as it fails among others; or not at all."""
        self._generator.manual_seed(zlib.crc32(test.encode()))
        self._on = on

    def _disturbed(self, module: torch.nn.Module, inputs: tuple, output: object) -> torch.Tensor | None:
        # A row of a table is the same on every processor.
        computed = self._on and not isinstance(module, torch.nn.Embedding) and not list(module.children())
        if not computed or not isinstance(output, torch.Tensor) or not output.is_floating_point() or output.is_meta:
            return None
        drawn = torch.randn(output.shape, generator=self._generator, dtype=torch.float64)
        noise = drawn * self._steps * torch.finfo(output.dtype).eps
        return output * (1 + noise).to(output.device, output.dtype)
