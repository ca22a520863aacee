"""Gradients of a loss with respect to attention, read in the backward pass without keeping a map.

The gradient with respect to the attention from token s to token t, taken as a free variable after the softmax, is the
product of the gradient with respect to the head's output at s with the value at t. The backward pass computes the
attention of a layer anew, block by block, and comes upon these products on its way.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headtypes.attention.batches import Batch
from headtypes.attention.hook import Group, Layer, Scratch, equal_lengths


class AttentionGradients:
    """The hook of a batch: leaves the attention as it is, and in the backward pass reads its gradients.

    anchor: the variable whose gradient the backward pass is to compute, so that it reaches every layer.
    """

    def __init__(self, batch: Batch, members: Sequence[Bool[np.ndarray, "token kind"]], shape: tuple[int, int]):
        self.anchor = torch.zeros((), device=batch.device, requires_grad=True)
        self.groups = equal_lengths(batch.lengths, batch.device)
        self._members = {
            group.samples.start: torch.from_numpy(np.stack(members[group.samples])).to(batch.device)
            for group in self.groups
        }
        self._sums = torch.zeros(len(members), *shape, members[0].shape[1], dtype=torch.float64, device=batch.device)

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "batch head query channel"]:
        return _Attention.apply(layer.query, layer.key, layer.value, self.anchor, layer, number, self)

    def means(self) -> Float[Tensor, "batch layer head kind"]:
        """Return the mean of each head's gradients in each input, after the backward pass; 0 where the kind has no
        token.
        """
        means = torch.empty_like(self._sums)
        for group in self.groups:
            pairs = group.length * self._members[group.samples.start].sum(1)
            means[group.samples] = self._sums[group.samples] / pairs.clamp(min=1)[:, None, None]
        return means

    def add(self, number: int, group: Group, gradient: Float[Tensor, "sample head row key"]) -> None:
        """Add what some query rows of a group have in a layer, dLoss / dA."""
        by_key = gradient.abs().sum(2, dtype=torch.promote_types(gradient.dtype, torch.float32))
        members = self._members[group.samples.start].to(by_key.dtype)
        self._sums[group.samples, number] += by_key @ members


class _Attention(torch.autograd.Function):
    """Head outputs of a layer, from its groups; the backward pass keeps nothing of a map beyond the current block."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        anchor: Tensor,
        layer: Layer,
        number: int,
        gradients: AttentionGradients,
    ) -> Tensor:
        ctx.save_for_backward(query, key, value)
        ctx.rest = replace(layer, query=None, key=None, value=None), number, gradients
        outputs = layer.zero_outputs()
        for group in gradients.groups:
            outputs[group.samples, :, : group.length] = group.of(layer).head_outputs()
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rest, number, gradients = ctx.rest
        query, key, value = ctx.saved_tensors
        layer, scratch = replace(rest, query=query, key=key, value=value), Scratch()
        # No layer below the first one needs gradients.
        further = [torch.zeros_like(tensor) for tensor in ctx.saved_tensors] if any(ctx.needs_input_grad[:3]) else []
        for group in gradients.groups:
            part, output_gradient = group.of(layer), gradient[group.samples, :, : group.length]
            below = [tensor[group.samples, :, : group.length] for tensor in further]
            for rows in group.blocks(query.device):
                attention_gradient = torch.matmul(output_gradient[:, :, rows], part.value.transpose(-1, -2))
                gradients.add(number, group, attention_gradient)
                if below:
                    _add_below(below, part, rows, output_gradient[:, :, rows], attention_gradient, scratch)
        return *(further or [None] * 3), torch.zeros_like(gradient[0, 0, 0, 0], dtype=torch.float32), *[None] * 3


def _add_below(
    below: list[Tensor],
    layer: Layer,
    rows: slice,
    output_gradient: Tensor,
    attention_gradient: Tensor,
    scratch: Scratch,
) -> None:
    """Add to the gradients with respect to query, key and value what some query rows contribute to them."""
    query_gradient, key_gradient, value_gradient = below
    attention = layer.attention(rows, scratch.of(layer, rows))
    value_gradient += torch.matmul(attention.transpose(-1, -2), output_gradient)
    # The gradient of a softmax, whose share for no token has none.
    score_gradient = attention * (attention_gradient - (attention * attention_gradient).sum(-1, keepdim=True))
    if layer.cap is not None:
        score_gradient *= 1 - torch.tanh(layer.scores(rows) / layer.cap) ** 2
    query_gradient[:, :, rows] = torch.matmul(score_gradient, layer.key) * layer.scale
    key_gradient += torch.matmul(score_gradient.transpose(-1, -2), layer.query[:, :, rows]) * layer.scale
