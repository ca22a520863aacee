"""The residual stream that each attention layer adds its output to, while a model runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from headtypes.attention.probe import Probed, probe_layers
from headtypes.core.errors import InputError

# Share of a sum by which it may be off in half precision.
_CLOSE = 0.02


class ResidualStream:
    """Keeps what the next attention layer will be added to.

    It is what some module reads before the layer, and a module after it with the layer's output added; or, where
    attention and feed-forward layers are added together, what is read on both sides. Raises `InputError` where a
    layer's output is changed before it is added, by a norm for example.
    """

    def __init__(self, model: PreTrainedModel):
        self._readers = {_reader(model, number, layer) for number, layer in enumerate(probe_layers(model))}
        self._latest: Tensor | None = None

    @property
    def latest(self) -> Float[Tensor, "batch token width"]:
        """That of the layer whose attention is computed now, padding included."""
        return self._latest

    @contextmanager
    def open(self) -> Iterator[None]:
        hooks = [module.register_forward_pre_hook(self._keep, with_kwargs=True) for module in self._readers]
        try:
            yield
        finally:
            self._latest = None
            for hook in hooks:
                hook.remove()

    def _keep(self, module: nn.Module, arguments: tuple, named: Mapping) -> None:
        self._latest = next(argument for argument in (*arguments, *named.values()) if isinstance(argument, Tensor))


def _reader(model: PreTrainedModel, number: int, layer: Probed) -> nn.Module:
    """Return the first module that reads the stream before a layer: later ones may read it normalised.

    Where layers without heads come before it, the stream differs a little from that module's input.
    """
    written, nearest, least = layer.written, None, torch.inf
    for module, stream in layer.before:
        if written is not None and stream.shape == written.shape:
            # What attention reads as it is may be a norm of the stream, of which the feed-forward layer makes use too.
            *_, projected = (each for _, each in layer.before if each.shape == stream.shape)
            is_projected = torch.equal(projected, stream)
            sums = stream + written
            near = _CLOSE * sums.abs().max().item()
            for read in (output.reshape(sums.shape) for output in layer.after if output.numel() == sums.numel()):
                beside = not is_projected and torch.equal(read, stream)
                if beside or torch.allclose(read, sums, rtol=_CLOSE, atol=near):
                    off = 0.0 if beside else (read - sums).abs().max().item()
                    nearest, least = (module, off) if off < least else (nearest, least)
    if nearest is not None:
        return nearest
    raise InputError(
        f"{type(model).__name__} changes the output of attention layer {number + 1} before it adds it to the residual "
        "stream, or adds it to something else, so that what its heads write has no size beside the stream."
    )
