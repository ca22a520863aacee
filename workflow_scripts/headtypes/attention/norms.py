"""Norms: attention times the length of what each token hands over through a head (Kobayashi et al. 2020).

A query gets from a key `A[s, t] v_t W_O`, with `v_t` the key's value, its bias included, and `W_O` the head's
slice of the layer's output projection. Its length is `A[s, t] ||v_t W_O||`: a factor for each key and head, so that
norms are read in blocks as weights are. With `W_O^T = Q R`, `||v W_O|| = ||v R^T||`, which has as many numbers as a
value instead of as many as the model is wide.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from headtypes.attention.hook import Layer
from headtypes.attention.probe import probe_layers
from headtypes.core.errors import InputError
from headtypes.models.model_config import layers_and_heads
from headtypes.models.placement import at_hand


class KeyLengths:
    """The length of what each token hands over through each head of a model, `||v_t W_O||`.

    Raises `InputError` where what a head hands over is not its values times a matrix.
    """

    def __init__(self, model: PreTrainedModel):
        self._roots = list(_roots(model))

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "batch head key"]:
        return self.of(number, slice(None), layer.value)

    def of(
        self, number: int, heads: slice, vectors: Float[Tensor, "batch some row channel"]
    ) -> Float[Tensor, "batch some row"]:
        """Return the lengths, float32, of values or head outputs of some heads after the output projection."""
        return (vectors.float() @ self._roots[number][heads].to(vectors.device)).norm(dim=-1)


def scale_rows(
    attention: Float[Tensor, "sample head row key"], lengths: Float[Tensor, "sample head key"]
) -> Float[Tensor, "sample head row key"]:
    """Divide rows of attention, in place, by the sum of their norms: times the lengths, they are shares of it, or zero.

    lengths: as `KeyLengths` has them.
    """
    # In this order, products of several heads take an eighth of the time.
    sums = torch.matmul(lengths[:, :, None], attention.transpose(-1, -2)).transpose(-1, -2)
    # Products take half the time of quotients.
    return attention.mul_(sums.masked_fill_(sums == 0, torch.inf).reciprocal_())


def _roots(model: PreTrainedModel) -> Iterator[Float[Tensor, "head channel root"]]:
    """Yield for each layer a root of each head's slice of the output projection."""
    _, heads = layers_and_heads(model)
    for number, layer in enumerate(probe_layers(model)):
        module = _projection(model, number, layer.readers)
        with at_hand(module):
            weight = module.weight.detach() if isinstance(module, Conv1D) else module.weight.detach().transpose(0, 1)
            # `R^T` of `W_O^T = Q R` gives every value the length that the projection gives it.
            projection: Float[Tensor, "head width channel"] = weight.unflatten(0, (heads, -1)).double().transpose(1, 2)
            _, root = torch.linalg.qr(projection, mode="r")
            yield root.transpose(1, 2).float().contiguous()


def _projection(model: PreTrainedModel, number: int, readers: list[nn.Module]) -> nn.Linear | Conv1D:
    readers = [module for module in readers if not isinstance(module, nn.Identity | nn.Dropout)]
    if len(readers) != 1 or not isinstance(readers[0], nn.Linear | Conv1D) or not readers[0].weight.is_floating_point():
        raise InputError(
            f"{type(model).__name__} does more to the head outputs of layer {number + 1} than multiply them by a "
            "matrix, so that its heads have no norms; read weights alone (clustering.of, or divided_by of the task)."
        )
    return readers[0]
