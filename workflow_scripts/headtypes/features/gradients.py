"""How much the loss depends on the attention to each kind of token (Clark et al. 2019, section 3.2, Figure 3).

The gradient of the loss with respect to the attention from token s to token t, taken as a free variable after the
softmax, is the product of the gradient with respect to the head's output at s with the value at t. So the forward pass
keeps no map. The backward pass computes the attention of a layer anew, block by block, to reach the layer below, and
comes upon these products on its way.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from headtypes.attention.batches import Batch, run_model
from headtypes.attention.blocks import Group, Scratch, equal_lengths
from headtypes.attention.hook import Layer
from headtypes.base.errors import InputError
from headtypes.features.gradient_files import ATTENDED
from headtypes.features.own_loss import NOT_COUNTED, Loss
from headtypes.tasks.tokens import SPECIAL_KINDS

# The loss is multiplied by this in a precision in which small gradients would be lost, and its gradients are divided.
_LOSS_SCALE = {torch.float16: 2.0**10}

# Gets a layer's number, a group of samples, which of its query rows, and dLoss / dA [sample, head, row, key].
_Add = Callable[[int, Group, slice, Tensor], None]


def gradients_by_kind(
    model: PreTrainedModel, loss: Loss, batch_tokens: int, what: str
) -> Float[np.ndarray, "layer head kind"]:
    """The mean over samples of each head's mean |dLoss / dA[s, t]| over all rows s and all t of a kind.

    Every t counts, also one that a causal or a local layer hides from s: the attention is a free variable. A sample
    without a token of the kind does not count for it; of a sample that consists of several inputs, those that have one
    count as much as one another.

    model:   with the head that the loss needs.
    what:    name of the work, for the progress and for messages.
    returns  float64, kinds as in `ATTENDED`; NaN where no sample has a token of the kind.
    Raises `InputError` where the model's heads cannot be read or a gradient is not finite.
    """
    # Only head outputs need gradients; without those of the weights, less has to be kept.
    model.requires_grad_(False)
    members = [_members(kinds) for kinds in loss.kinds]
    found = np.zeros((len(members), model.config.num_hidden_layers, model.config.num_attention_heads, len(ATTENDED)))
    scale = _LOSS_SCALE.get(model.dtype, 1.0)

    def begin(batch: Batch) -> AttentionGradients:
        loss.start(batch)
        return AttentionGradients(batch, [members[place] for place in batch.samples], found.shape[1:3])

    def add_gradients(batch: Batch, gradients: AttentionGradients, output: Any) -> None:
        # A sample's attention affects no other sample's loss, so one backward pass gives the gradients of every sample.
        torch.autograd.grad(loss.losses(output, batch).sum() * scale, gradients.anchor)
        found[batch.samples] = gradients.means().double().cpu().numpy() / scale

    with loss.attached(model):
        run_model(
            model,
            loss.input_ids,
            loss.token_types,
            hook=begin,
            finish=add_gradients,
            batch_tokens=loss.batch_tokens(batch_tokens, model.config.vocab_size),
            what=what,
            gradients=True,
        )
    if not np.isfinite(found).all():
        raise InputError(
            f"{what}: a gradient is not finite; the model's weights are damaged, or its numbers overflow in this "
            "precision."
        )
    return _mean(*_mean_by_unit(found, np.stack([of_input.any(0) for of_input in members]), loss.units))


class AttentionGradients:
    """The hook of a batch: leaves the attention as it is, and in the backward pass reads its gradients.

    anchor: the variable whose gradient the backward pass is to compute, so that it reaches every layer.
    """

    def __init__(self, batch: Batch, members: Sequence[Bool[np.ndarray, "token kind"]], shape: tuple[int, int]):
        """members: the kinds of each token of each input; shape: number of layers and of heads."""
        self.anchor = torch.zeros((), device=batch.device, requires_grad=True)
        self._groups = equal_lengths(batch.lengths)
        self._members = {
            group.samples.start: torch.from_numpy(np.stack(members[group.samples])).to(batch.device)
            for group in self._groups
        }
        self._sums = torch.zeros(len(members), *shape, len(ATTENDED), dtype=torch.float64, device=batch.device)

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "batch head query channel"]:
        """The head outputs of a layer; those of padding are zero."""
        return _Attention.apply(
            layer.query, layer.key, layer.value, self.anchor, layer, number, self._groups, self._add
        )

    def means(self) -> Float[Tensor, "batch layer head kind"]:
        """The mean of each head's gradients in each input, after the backward pass; 0 where the kind has no token."""
        means = torch.empty_like(self._sums)
        for group in self._groups:
            pairs = group.length * self._members[group.samples.start].sum(1)
            means[group.samples] = self._sums[group.samples] / pairs.clamp(min=1)[:, None, None]
        return means

    def _add(self, number: int, group: Group, rows: slice, gradient: Tensor) -> None:
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
        groups: list[Group],
        add: _Add,
    ) -> Tensor:
        ctx.save_for_backward(query, key, value)
        ctx.rest = layer.mask, layer.scale, number, groups, add
        outputs = layer.zero_outputs()
        for group in groups:
            outputs[group.samples, :, : group.length] = group.of(layer).head_outputs()
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        mask, scale, number, groups, add = ctx.rest
        layer, scratch = Layer(*ctx.saved_tensors, mask, scale), Scratch()
        # No layer below the first one needs gradients.
        further = [torch.zeros_like(tensor) for tensor in ctx.saved_tensors] if ctx.needs_input_grad[0] else []
        for group in groups:
            part, of_outputs = group.of(layer), gradient[group.samples, :, : group.length]
            below = [tensor[group.samples, :, : group.length] for tensor in further]
            for rows in group.blocks():
                of_attention = torch.matmul(of_outputs[:, :, rows], part.value.transpose(-1, -2))
                add(number, group, rows, of_attention)
                if below:
                    _add_below(below, part, rows, of_outputs[:, :, rows], of_attention, scratch)
        return *(further or [None] * 3), torch.zeros_like(gradient[0, 0, 0, 0], dtype=torch.float32), *[None] * 4


def _add_below(
    below: list[Tensor], layer: Layer, rows: slice, of_outputs: Tensor, of_attention: Tensor, scratch: Scratch
) -> None:
    """Add to the gradients with respect to query, key and value what some query rows contribute to them."""
    of_query, of_key, of_value = below
    attention = layer.attention(rows, scratch.of(layer, rows))
    of_value += torch.matmul(attention.transpose(-1, -2), of_outputs)
    # The gradient of a softmax.
    of_scores = attention * (of_attention - (attention * of_attention).sum(-1, keepdim=True))
    of_query[:, :, rows] = torch.matmul(of_scores, layer.key) * layer.scale
    of_key += torch.matmul(of_scores.transpose(-1, -2), layer.query[:, :, rows]) * layer.scale


def _members(kinds: np.ndarray) -> Bool[np.ndarray, "token kind"]:
    """Which kinds of `ATTENDED` each token is of."""
    number = {name: place for place, name in enumerate(SPECIAL_KINDS, start=1)}
    of_kind = {
        "sep": kinds == number["sep"],
        "cls": kinds == number["cls"],
        "punctuation": np.isin(kinds, [number["comma"], number["period"]]),
        "other": kinds == 0,
        "all": kinds != NOT_COUNTED,
    }
    return np.stack([of_kind[name] for name in ATTENDED], axis=-1)


def _mean_by_unit(values: np.ndarray, present: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The means over the inputs of each unit that have the kind, and which units have an input that has it.

    values: [input, layer, head, kind], 0 where the kind is not present; present: [input, kind] bool; units: [input].
    """
    number = units.max() + 1
    sums, counts = np.zeros((number, *values.shape[1:])), np.zeros((number, present.shape[1]))
    np.add.at(sums, units, values)
    np.add.at(counts, units, present)
    return sums / np.maximum(counts, 1)[:, None, None], counts > 0


def _mean(values: np.ndarray, present: np.ndarray) -> np.ndarray:
    """The mean over the units that have the kind: [layer, head, kind]; NaN where none has."""
    counts = present.sum(0)
    return np.where(counts > 0, values.sum(0) / np.maximum(counts, 1), np.nan)
