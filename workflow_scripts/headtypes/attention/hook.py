"""The hook into the attention of every supported model: what is called for each layer of a forward pass.

Transformers asks its `AttentionInterface` for the function that turns queries, keys and values into head outputs. The
function registered here calls a *hook* with each layer. The hook travels as a keyword argument of the model's forward
pass, so there are no globals and no patched models. A mask function is registered too: without one the mask would
arrive as None, and padding would silently be attended to.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import sdpa_mask

from headtypes.models.architectures import check_layer, check_layers
from headtypes.models.products import product

# The name by which the hook is registered with Transformers.
ATTENTION = "headtypes"


@dataclass(frozen=True)
class Layer:
    """The inputs of one attention layer.

    query, key, value: if heads share keys and values (Ainslie et al. 2023), these are repeated for each head.
    mask:  true where attention is allowed; None where it is allowed everywhere. It hides padding and, in causal and in
        local layers, what the model does not let a token look at.
    scale: factor of the scores before the softmax.
    """

    query: Float[Tensor, "batch head query channel"]
    key: Float[Tensor, "batch head key channel"]
    value: Float[Tensor, "batch head key value_channel"]
    mask: Bool[Tensor, "#batch 1 query key"] | None
    scale: float

    def heads(self, heads: Tensor | slice) -> "Layer":
        """Some of the layer's heads; a slice of them is not copied."""
        # Unlike this, `index_select` copies all heads first if they lie scattered.
        return Layer(self.query[:, heads], self.key[:, heads], self.value[:, heads], self.mask, self.scale)

    def contiguous(self) -> "Layer":
        """The same layer, its numbers side by side in memory."""
        return Layer(self.query.contiguous(), self.key.contiguous(), self.value.contiguous(), self.mask, self.scale)

    def uniform(self) -> "Layer":
        """The same layer, but with attention spread evenly over the keys that a query may look at."""
        return replace(self, query=torch.zeros_like(self.query))

    def attention(self, rows: slice, scratch: Tensor | None = None) -> Float[Tensor, "batch head row key"]:
        """The attention of some query rows; each row sums to one.

        scratch: [2, batch, head, row, key] to compute in; the second half is what is returned.
        """
        scores, attention = (None, None) if scratch is None else scratch
        scores = product(self.query[:, :, rows] * self.scale, self.key.transpose(-1, -2), out=scores)
        if self.mask is not None:
            # The mask is added, because a masked fill of all heads takes longer than their softmax on a CPU. Half of
            # the lowest number keeps the sum finite.
            forbidden = ~self.mask[:, :, rows]
            scores += torch.zeros_like(forbidden, dtype=scores.dtype).masked_fill_(
                forbidden, torch.finfo(scores.dtype).min / 2
            )
        return torch.softmax(scores, -1, out=attention)

    def head_outputs(self) -> Float[Tensor, "batch head query value_channel"]:
        """What the plain model computes: attention times values, before the output projection."""
        return scaled_dot_product_attention(self.query, self.key, self.value, attn_mask=self.mask, scale=self.scale)

    def zero_outputs(self) -> Float[Tensor, "batch head query value_channel"]:
        """Head outputs that are all zero."""
        return self.query.new_zeros((*self.query.shape[:3], self.value.shape[-1]))


# Gets the layer's number, counted from 0 in the order of computation, and returns its head outputs
# [batch, head, query, channel].
Hook = Callable[[int, Layer], Tensor]


class Forward:
    """One forward pass: counts the layers, since a model may use one module for several (ALBERT)."""

    def __init__(self, hook: Hook):
        """Begin with no layers."""
        self.hook = hook
        self.layers = 0

    def __call__(self, layer: Layer) -> Tensor:
        """The head outputs of the next layer."""
        number, self.layers = self.layers, self.layers + 1
        return self.hook(number, layer)


def _attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, forward=None, **kwargs):
    check_layer(module, attention_mask, kwargs)
    sharing = query.shape[1] // key.shape[1]
    if sharing > 1:
        key, value = key.repeat_interleave(sharing, 1), value.repeat_interleave(sharing, 1)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    layer = Layer(query, key, value, attention_mask, scale)
    outputs = layer.head_outputs() if forward is None else forward(layer)
    return outputs.transpose(1, 2).contiguous(), None


def _mask(*args, allow_is_causal_skip: bool = False, **kwargs) -> Tensor | None:
    # A causal mask is made in full, since blocks of query rows need their part of it.
    return sdpa_mask(*args, allow_is_causal_skip=False, **kwargs)


AttentionInterface.register(ATTENTION, _attend)
AttentionMaskInterface.register(ATTENTION, _mask)


@contextmanager
def open_attention(model: PreTrainedModel) -> Iterator[None]:
    """Let `run` call hooks in a model, however it was loaded; afterwards its attention is computed as before."""
    before = model.config._attn_implementation
    model.set_attn_implementation(ATTENTION)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def run(model: PreTrainedModel, inputs: dict[str, Tensor], hook: Hook):
    """Run a model whose attention is open (`open_attention`), and call `hook` with each of its layers.

    Raises `InputError` when some layer's attention does not come through the interface or is computed in another way.
    """
    return run_forward(model, inputs, Forward(hook))


def run_forward(model: PreTrainedModel, inputs: dict[str, Tensor], forward: Forward):
    """As `run`, with a forward pass that has been made already."""
    output = model(**inputs, forward=forward)
    check_layers(model, forward.layers)
    return output
