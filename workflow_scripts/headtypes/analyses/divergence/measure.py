"""Differences between heads: the Jensen-Shannon divergence of all pairs of heads (Clark et al. 2019, section 6).

The queries and keys of all layers are kept while a batch is run; then attention is computed again for some rows of all
heads at a time, and compared.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from headtypes.analyses.divergence.results import Divergence
from headtypes.attention.hook import Batch, EntropySums, Group, Layer, check_heads, run_batches
from headtypes.attention.norms import KeyLengths, scale_rows
from headtypes.attention.one_pass import ModelOnTask
from headtypes.data.encoding import Encoded
from headtypes.data.tasks import Sample
from headtypes.models.model_config import layers_and_heads

# Heads on either side of the pairs that are compared at a time, and numbers of each head. What is compared then stays
# in the processor's cache; blocks of half and of twice the size took as long.
_HEADS, _NUMBERS = 8, 2**12
# Share of each row that is spread evenly, as in the code of Clark et al. (2019).
SMOOTHING = 0.001
# Padded tokens of a batch, at most, since the queries and keys of all its layers are kept.
_BATCH_TOKENS = 1024
# Divergences of a batch are rounded to multiples of this, less than the error of one row, so that float64 adds up those
# of ten million rows without an error, in whatever order of batches.
_UNIT = 2.0**-30


# A hook that keeps the queries and keys of all layers of a batch. In place of values, it keeps the length of what each
# token hands over through each head or, if norms are not read, keys, which take no further memory.
class _KeptLayers:
    def __init__(self, lengths: KeyLengths | None):
        self.layers: list[Layer] = []
        self._lengths = lengths

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "batch head query channel"]:
        kept = layer.key if self._lengths is None else self._lengths(number, layer.value)[..., None]
        self.layers.append(replace(layer, value=kept))
        return layer.head_outputs()


def divergences(
    model: PreTrainedModel, encoded: Encoded, *, batch_tokens: int, what: str, norms: bool = False
) -> tuple[Float[np.ndarray, "of head head"], int]:
    """Return the divergences of all pairs of heads, summed over the rows of attention, in nats, and the number of rows.

    Divergences (Jensen-Shannon) are [1, head, head], or with `norms` [2, head, head], of weights and norms. what: a
    name of the work, for messages. Raises `InputError` if heads cannot be read, or an attention is not finite.
    """
    shape = layers_and_heads(model)
    total, entropy_sums = np.zeros((1 + norms, *2 * (math.prod(shape),))), EntropySums()
    lengths = KeyLengths(model) if norms else None

    def read_batch(batch: Batch, forward: Callable[[_KeptLayers], Any]) -> None:
        kept = _KeptLayers(lengths)
        forward(kept)
        # All are compared before any is added, since a batch that does not fit into memory comes again in halves.
        compared = [
            compare_heads(kept.layers, batch.lengths, entropy_sums, norms=by) for by in [False, True][: len(total)]
        ]
        for of_all, of_batch in zip(total, compared, strict=True):
            own = torch.tensor(of_batch.diagonal()).reshape(1, *shape)
            check_heads(own.isfinite(), what, "the attention of head {} is not finite")
            of_all += np.round(of_batch / _UNIT) * _UNIT

    run_batches(model, encoded.input_ids, encoded.token_types, read_batch, batch_tokens=batch_tokens, what=what)
    return total, int(np.sum(encoded.lengths))


def compare_heads(
    layers: Sequence[Layer], lengths: Sequence[int], entropy_sums: EntropySums, norms: bool = False
) -> Float[np.ndarray, "head head"]:
    """Return the Jensen-Shannon divergence of all pairs of heads, summed over the rows of a batch, in nats; float64.

    layers: all layers of a model on one batch. lengths: number of tokens of each sample. norms: whether norms are
    compared, not weights; each layer's values are then lengths of what tokens hand over. entropy_sums: an
    `EntropySums()`; the same one for all batches saves memory. The diagonal is NaN for a head whose attention is not
    finite, else 0.
    """
    heads = sum(layer.query.shape[1] for layer in layers)
    total = torch.zeros(heads, heads, dtype=torch.float64, device=layers[0].query.device)
    with_none = any(layer.sink is not None for layer in layers)
    for sample, length in enumerate(lengths):
        group, step = Group(slice(sample, sample + 1), length), max(1, _NUMBERS // length)
        of_sample = [group.part(layer) for layer in layers]
        for start in range(0, length, step):
            rows = slice(start, min(start + step, length))
            of_heads = torch.cat([_smoothed(layer, rows, norms, with_none) for layer in of_sample])
            _add_pairs(total, of_heads, entropy_sums)
    total = total.cpu().numpy()
    above = np.triu(total, 1)
    return above + above.T + np.diag(0 * total.diagonal())


def _smoothed(layer: Layer, rows: slice, norms: bool, with_none: bool) -> Float[Tensor, "head row key"]:
    # with_none: a last key for the share of no token, in all layers if any has one.
    attention = layer.attention(rows).float()
    if norms:
        lengths = layer.value[..., 0]
        attention = scale_rows(attention, lengths) * lengths[:, :, None]
    attention = attention[0]
    seen = attention.new_ones(1, 1, attention.shape[-1]) if layer.mask is None else layer.mask[0, :, rows].float()
    smoothed = (1 - SMOOTHING) * attention + SMOOTHING * seen / seen.sum(-1, keepdim=True)
    if not with_none:
        return smoothed
    none = (1 - smoothed.sum(-1, keepdim=True)).clamp_min(0) if layer.sink is not None else smoothed[..., :1] * 0
    return torch.cat([smoothed, none], -1)


def _add_pairs(total: Tensor, rows: Float[Tensor, "head row key"], entropy_sums: EntropySums) -> None:
    # The divergence of p and q is (sum of p ln 2kp + sum of q ln 2kq - sum of (p + q) ln k(p + q)) / 2 for any k. With
    # half the number of keys as k, the logarithms are near zero, where float32 rounds less. Entries below the diagonal
    # of `total` are left out or wrong.
    half = rows.shape[-1] / 2
    rows = rows * half
    own = entropy_sums(2 * rows).sum(-1, dtype=torch.float64) / 2
    blocks = [slice(start, start + _HEADS) for start in range(0, len(rows), _HEADS)]
    for number, first in enumerate(blocks):
        for second in blocks[number:]:
            both = rows[first, None] + rows[second]
            shared = entropy_sums(both).sum(-1, dtype=torch.float64)
            total[first, second] += (own[first, None] + own[second] - shared) / (2 * half)


def measure_divergence(run: ModelOnTask, samples: list[Sample], *, kind: str, norms: bool = False) -> Divergence:
    encoded = run.encode(samples, kind)
    how = {"batch_tokens": min(run.batch_tokens, _BATCH_TOKENS), "what": run.what}
    (total, *by_norms), rows = divergences(run.model, encoded, norms=norms, **how)
    return Divergence(total, rows, run.record.layers, [sample.id for sample in samples], *by_norms)
