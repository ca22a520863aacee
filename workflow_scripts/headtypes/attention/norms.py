"""Norms: attention times the length of what each token hands over through a head (Kobayashi et al. 2020).

A query gets from a key `A[s, t] v_t W_O`, with `v_t` the key's value, its bias included, and `W_O` the head's
slice of the layer's output projection. Its length is `A[s, t] ||v_t W_O||`: a factor for each key and head, so that
norms are read in blocks as weights are.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

import torch
from accelerate.utils import align_module_device
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from headtypes.attention.hook import ATTENTION, Layer, run
from headtypes.core.errors import InputError
from headtypes.models.architectures import through_interface
from headtypes.models.model_config import layers_and_heads
from headtypes.models.placement import device_of


class KeyLengths:
    """A callable (layer from 0, v, slice of the heads that v has, by default all) -> ||v W_O||, [sample, head, token].

    v: [sample, head, token, channel] values, biases included, for the length of what each token hands over through each
        head; or head outputs, for the length of what a head adds. W_O: the head's slice of the output projection.
    Raises `InputError` if a layer does more to its head outputs than multiply them by a matrix.
    """

    def __init__(self, model: PreTrainedModel):
        self._roots = list(_roots(model))

    def __call__(
        self, number: int, vectors: Float[Tensor, "batch some row channel"], heads: slice = slice(None)
    ) -> Float[Tensor, "batch some row"]:
        return (vectors.float() @ self._roots[number][heads].to(vectors.device)).norm(dim=-1)


def scale_rows(
    attention: Float[Tensor, "sample head row key"], lengths: Float[Tensor, "sample head key"]
) -> Float[Tensor, "sample head row key"]:
    """Return a[k] / (sum_j a[j] * l[j]), in place, for rows a of attention and lengths l; rows of zeros stay zero."""
    # In this order, products of several heads take an eighth of the time.
    sums = torch.matmul(lengths[:, :, None], attention.transpose(-1, -2)).transpose(-1, -2)
    # Products take half the time of quotients.
    return attention.mul_(sums.masked_fill_(sums == 0, torch.inf).reciprocal_())


def _roots(model: PreTrainedModel) -> Iterator[Float[Tensor, "head channel root"]]:
    # Of each layer R^T of its heads, where W_O^T = Q R is a QR decomposition, so that ||v R^T|| = ||v W_O||.
    _, heads = layers_and_heads(model)
    for number, layer in enumerate(_probe_layers(model)):
        readers = [module for module in layer.readers if not isinstance(module, nn.Identity | nn.Dropout)]
        module = readers[0] if len(readers) == 1 else None
        if not isinstance(module, nn.Linear | Conv1D) or not module.weight.is_floating_point():
            raise InputError(
                f"{type(model).__name__} does more to the head outputs of layer {number + 1} than multiply them by a "
                "matrix, so that its heads have no norms; read weights alone (clustering.of, or divided_by of the "
                "task)."
            )
        with align_module_device(module):
            weight = module.weight.detach() if isinstance(module, Conv1D) else module.weight.detach().transpose(0, 1)
            projection: Float[Tensor, "head width channel"] = weight.unflatten(0, (heads, -1)).double().transpose(1, 2)
            _, root = torch.linalg.qr(projection, mode="r")
            yield root.transpose(1, 2).float().contiguous()


_TOKENS = 3


# An attention layer as seen in a run of the model with random head outputs, `outputs`, [1, token, channel].
# before:  the modules called between the previous attention layer and this one, each with its first tensor argument.
# readers: modules without submodules whose first tensor is `outputs`. written: output of the last of these modules.
# after:   the first tensor argument of each module called between this layer and the next attention layer.
@dataclass
class _Probed:
    outputs: Tensor
    before: list[tuple[nn.Module, Tensor]]
    readers: list[nn.Module] = field(default_factory=list)
    written: Tensor | None = None
    after: list[Tensor] = field(default_factory=list)


def _probe_layers(model: PreTrainedModel) -> list[_Probed]:
    layers: list[_Probed] = []
    called: list[tuple[nn.Module, Tensor]] = []

    def attend(number: int, layer: Layer) -> Tensor:
        outputs = torch.randn_like(layer.zero_outputs())
        layers.append(_Probed(outputs.transpose(1, 2).flatten(2), called.copy()))
        called.clear()
        return outputs

    def look(module: nn.Module, arguments: tuple, named: Mapping) -> None:
        tensors = (argument for argument in (*arguments, *named.values()) if isinstance(argument, Tensor))
        read = next(tensors, None)
        if read is None or not read.is_floating_point():
            return
        # A copy, since what is read may be changed in place.
        called.append((module, read.clone()))
        if not layers:
            return
        layers[-1].after.append(called[-1][1])
        outputs, is_leaf = layers[-1].outputs, not list(module.children())
        if is_leaf and read.numel() == outputs.numel() and torch.equal(read.reshape(-1), outputs.reshape(-1)):
            layers[-1].readers.append(module)

    def note(module: nn.Module, arguments: tuple, output: object) -> None:
        if layers and layers[-1].readers and module is layers[-1].readers[-1] and isinstance(output, Tensor):
            layers[-1].written = output.reshape(1, _TOKENS, -1).clone()

    ids = torch.zeros((1, _TOKENS), dtype=torch.int64, device=device_of(model))
    with through_interface(model, ATTENTION) as left, torch.inference_mode(), torch.random.fork_rng():
        for module in model.modules():
            left.enter_context(module.register_forward_pre_hook(look, with_kwargs=True))
            left.enter_context(module.register_forward_hook(note))
        torch.manual_seed(0)
        run(model, {"input_ids": ids, "attention_mask": torch.ones_like(ids)}, attend)
    return layers


class ResidualStream:
    """The residual stream that each attention layer of a model adds its output to, while the model runs.

    Within `with stream.open():`, runs of the model set `latest`: [batch, token, width] the stream, with padding, before
    the running layer adds its output. Raises `InputError` if an output is changed before it is added, say by a norm.
    """

    def __init__(self, model: PreTrainedModel):
        self._readers = {_reader(model, number, layer) for number, layer in enumerate(_probe_layers(model))}
        self.latest: Tensor | None = None

    def open(self) -> ExitStack:
        with ExitStack() as left:
            left.callback(setattr, self, "latest", None)
            for module in self._readers:
                left.enter_context(module.register_forward_pre_hook(self._keep, with_kwargs=True))
            return left.pop_all()

    def _keep(self, module: nn.Module, arguments: tuple, named: Mapping) -> None:
        self.latest = next(argument for argument in (*arguments, *named.values()) if isinstance(argument, Tensor))


def _reader(model: PreTrainedModel, number: int, layer: _Probed) -> nn.Module:
    # The module whose input is the stream that the layer adds its output to. A module after the layer reads this input
    # plus the layer's output or, in models that add attention and feed-forward layers together, this input alone. If
    # several modules fit, it is the first with the smallest rounding error.
    written, nearest, least = layer.written, None, torch.inf
    for module, stream in layer.before:
        if written is not None and stream.shape == written.shape:
            # What attention reads as it is may be a norm of the stream, of which the feed-forward layer makes use too.
            *_, projected = (each for _, each in layer.before if each.shape == stream.shape)
            is_projected = torch.equal(projected, stream)
            sums = stream + written
            # Each term is rounded to this precision.
            close = max(1e-4, 2.5 * torch.finfo(sums.dtype).eps)
            near = close * sums.abs().max().item()
            for read in (output.reshape(sums.shape) for output in layer.after if output.numel() == sums.numel()):
                beside = not is_projected and torch.equal(read, stream)
                if beside or torch.allclose(read, sums, rtol=close, atol=near):
                    off = 0.0 if beside else (read - sums).abs().max().item()
                    nearest, least = (module, off) if off < least else (nearest, least)
    if nearest is not None:
        return nearest
    raise InputError(
        f"{type(model).__name__} changes the output of attention layer {number + 1} before it adds it to the residual "
        "stream, or adds it to something else, so that what its heads write has no size beside the stream."
    )
