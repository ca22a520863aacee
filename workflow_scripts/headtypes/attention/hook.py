"""One door into the attention of every model that Transformers carries.

Transformers asks its `AttentionInterface` for the function that turns queries, keys and values into contexts.
The function registered here hands each layer over to a *handler* that travels as a keyword argument of the
model's forward pass: no globals, no patched model. A mask function is registered with it; without one the mask
would arrive as None, and padding would be attended to in silence.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from headtypes.models.architectures import ATTENTION, check_layer, check_layers


@dataclass(frozen=True)
class Layer:
    """What one attention layer gets.

    query: [batch, head, query, channel]; key, value: [batch, head, key, channel]. Values may have other channels than
        queries and keys. Where heads share their keys and values (Ainslie et al. 2023), those come once for each head.
    mask:  [batch or 1, 1, query, key] bool, true where attention is allowed; None where it is allowed everywhere. It
        hides padding and, in causal and in local layers, what the model does not let a token look at.
    scale: factor of the scores before softmax.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    scale: float

    def heads(self, heads: Tensor) -> "Layer":
        """Some of the layer's heads."""
        query, key, value = (tensor.index_select(1, heads) for tensor in (self.query, self.key, self.value))
        return Layer(query, key, value, self.mask, self.scale)

    def no_context(self) -> Tensor:
        """Contexts that are all zero: [batch, head, query, channel]."""
        return self.query.new_zeros((*self.query.shape[:3], self.value.shape[-1]))

    def uniform(self) -> "Layer":
        """The layer with attention that is the same on every key that a query may look at."""
        return replace(self, query=torch.zeros_like(self.query))

    def attention(self, rows: slice, scratch: Tensor | None = None) -> Tensor:
        """The attention of some query rows: [batch, head, row, key], each row sums to one.

        scratch: [2, batch, head, row, key], where given, to compute in; the second is what is returned.
        """
        scores, attention = (None, None) if scratch is None else scratch
        scores = torch.matmul(self.query[:, :, rows] * self.scale, self.key.transpose(-1, -2), out=scores)
        if self.mask is not None:
            # Added, because a masked fill of all heads takes longer than their softmax on a CPU; half of the least
            # number, so that the sum stays finite.
            forbidden = ~self.mask[:, :, rows]
            scores += torch.zeros_like(forbidden, dtype=scores.dtype).masked_fill_(
                forbidden, torch.finfo(scores.dtype).min / 2
            )
        return torch.softmax(scores, -1, out=attention)

    def context(self) -> Tensor:
        """The contexts that the plain model computes: [batch, head, query, channel]."""
        return scaled_dot_product_attention(self.query, self.key, self.value, attn_mask=self.mask, scale=self.scale)


# Takes the layer's number, counted from 0 in the order of computation, and gives its contexts
# [batch, head, query, channel].
Handler = Callable[[int, Layer], Tensor]


class _Forward:
    """One forward pass: counts the layers, since a model may use one module for several (ALBERT)."""

    def __init__(self, handler: Handler):
        self.handler = handler
        self.layers = 0

    def __call__(self, layer: Layer) -> Tensor:
        number, self.layers = self.layers, self.layers + 1
        return self.handler(number, layer)


def _attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, forward=None, **kwargs):
    check_layer(module, attention_mask, kwargs)
    sharing = query.shape[1] // key.shape[1]
    if sharing > 1:
        key, value = key.repeat_interleave(sharing, 1), value.repeat_interleave(sharing, 1)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    layer = Layer(query, key, value, attention_mask, scale)
    context = layer.context() if forward is None else forward(layer)
    return context.transpose(1, 2).contiguous(), None


def _mask(*args, allow_is_causal_skip: bool = False, **kwargs) -> Tensor | None:
    # A causal mask is made in full, since blocks of query rows need their part of it.
    return sdpa_mask(*args, allow_is_causal_skip=False, **kwargs)


AttentionInterface.register(ATTENTION, _attend)
AttentionMaskInterface.register(ATTENTION, _mask)


def run(model: torch.nn.Module, inputs: dict[str, Tensor], handler: Handler):
    """Run a model that was loaded with `ATTENTION`, each layer's attention through `handler`.

    Raises `InputError` when not every layer came by, or one whose attention is computed in another way.
    """
    forward = _Forward(handler)
    output = model(**inputs, forward=forward)
    check_layers(model, forward.layers)
    return output
