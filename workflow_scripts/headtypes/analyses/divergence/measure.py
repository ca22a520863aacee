"""How differently two heads attend: the Jensen-Shannon divergence of all pairs of heads (Clark et al. 2019, section 6).

No attention map is kept. The queries and keys of all layers are kept while a batch is run; then the attention of
all heads is computed again for some rows at a time, and compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from headtypes.analyses.divergence.results import Divergence, join_divergences, write_divergence
from headtypes.attention.batches import WHOLE, Batch, Part, batched, run_model
from headtypes.attention.blocks import Group
from headtypes.attention.entropy import EntropySums
from headtypes.attention.hook import Layer
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord

# Heads on either side of the pairs that are compared at a time, and numbers of each head. What is compared then stays
# in the processor's cache; blocks of half and of twice the size took as long.
_HEADS, _NUMBERS = 8, 2**12
# Padded tokens of a batch, at most, since the queries and keys of all its layers are kept.
_BATCH_TOKENS = 1024
# Divergences of a batch are rounded to multiples of this, less than the error of one row, so that float64 adds up those
# of ten million rows without an error, in whatever order: shards give the same bytes as a single job.
_UNIT = 2.0**-30


class KeptLayers:
    """A hook that keeps the queries and keys of all layers of a batch, and leaves the model as it is."""

    def __init__(self, batch: Batch):
        self.layers: list[Layer] = []

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "batch head query channel"]:
        """The head outputs of the plain model."""
        # The values are not needed: the keys in their place take no memory.
        self.layers.append(replace(layer, value=layer.key))
        return layer.head_outputs()


def divergences(
    model: PreTrainedModel, encoded: Encoded, *, smoothing: float, batch_tokens: int, what: str, part: Part = WHOLE
) -> tuple[Float[np.ndarray, "head head"], int]:
    """Run a model over encoded samples, and compare the attention of all pairs of its heads.

    smoothing: share of each row that is spread evenly over the tokens that it may look at.
    batch_tokens: padded tokens of a batch; the queries and keys of all its layers are kept.
    what:      name of the work, for the progress and for messages.
    part:      of the batches.
    returns    the divergence of all pairs, summed over all rows, in nats; and the number of rows.
    Raises `InputError` where the model's heads cannot be read, or an attention is not finite.
    """
    config = model.config
    heads = config.num_hidden_layers * config.num_attention_heads
    total, entropy_sums = np.zeros((heads, heads)), EntropySums()

    def finish(batch: Batch, kept: KeptLayers, _) -> None:
        of_batch = compare_heads(kept.layers, batch.lengths, smoothing, entropy_sums)
        if not np.isfinite(of_batch).all():
            raise InputError(
                f"{what}: an attention is not finite; the model's weights are damaged, or its numbers overflow in this "
                "precision."
            )
        total[:] += np.round(of_batch / _UNIT) * _UNIT

    run_model(
        model,
        encoded.input_ids,
        encoded.token_types,
        hook=KeptLayers,
        finish=finish,
        batch_tokens=batch_tokens,
        what=what,
        part=part,
    )
    read = batched(encoded.lengths, batch_tokens, part)
    return total, int(np.array(encoded.lengths)[read].sum())


def compare_heads(
    layers: Sequence[Layer], lengths: Sequence[int], smoothing: float, entropy_sums: EntropySums
) -> Float[np.ndarray, "head head"]:
    """Jensen-Shannon divergence of all pairs of heads, summed over the rows of some samples, in nats; float64.

    layers:  all those of a model, on one batch of samples.
    lengths: tokens of each sample.
    The diagonal is zero, where float32 would leave an error.
    """
    heads = sum(layer.query.shape[1] for layer in layers)
    total = torch.zeros(heads, heads, dtype=torch.float64, device=layers[0].query.device)
    for rows in _rows_of_heads(layers, lengths, smoothing):
        _add_pairs(total, rows, entropy_sums)
    total = total.cpu().numpy()
    total = np.triu(total, 1)
    return total + total.T


def _rows_of_heads(
    layers: Sequence[Layer], lengths: Sequence[int], smoothing: float
) -> Iterator[Float[Tensor, "head row key"]]:
    """The smoothed attention of all heads in blocks of rows, sample by sample; float32."""
    for sample, length in enumerate(lengths):
        group, step = Group(slice(sample, sample + 1), length), max(1, _NUMBERS // length)
        of_sample = [group.of(layer) for layer in layers]
        for start in range(0, length, step):
            rows = slice(start, min(start + step, length))
            yield torch.cat([_smoothed(layer, rows, smoothing) for layer in of_sample])


def _smoothed(layer: Layer, rows: slice, smoothing: float) -> Float[Tensor, "head row key"]:
    """The attention of one sample, mixed with that spread evenly over the tokens that each row may look at."""
    attention = layer.attention(rows)[0].float()
    seen = attention.new_ones(1, 1, attention.shape[-1]) if layer.mask is None else layer.mask[0, :, rows].float()
    return (1 - smoothing) * attention + smoothing * seen / seen.sum(-1, keepdim=True)


def _add_pairs(total: Tensor, rows: Float[Tensor, "head row key"], entropy_sums: EntropySums) -> None:
    """Add the divergences of some rows; those of a pair (a, b) with b before a are left out or wrong.

    The divergence of p and q is (sum of p ln 2kp + sum of q ln 2kq - sum of (p + q) ln k(p + q)) / 2 for any k. Half
    the length as k brings the logarithms near zero, where float32 rounds less.
    """
    half = rows.shape[-1] / 2
    rows = rows * half
    own = entropy_sums(2 * rows).sum(-1, dtype=torch.float64) / 2
    blocks = [slice(start, start + _HEADS) for start in range(0, len(rows), _HEADS)]
    for number, first in enumerate(blocks):
        for second in blocks[number:]:
            both = rows[first, None] + rows[second]
            shared = entropy_sums(both).sum(-1, dtype=torch.float64)
            total[first, second] += (own[first, None] + own[second] - shared) / (2 * half)


def write_task_divergence(
    path: str | Path,
    samples: list[Sample],
    record: ModelRecord,
    parts: Sequence[str | Path],
    provenance: dict,
    **settings,
) -> None:
    """Write the divergences of a model's heads on all samples: add up the parts or, where there are none, measure them.

    parts: files of the divergences of each `attention.batches.Part`; provenance, settings: of
        `divergence.results.write_divergence` and `measure_divergence`.
    """
    if parts:
        join_divergences(path, [sample.id for sample in samples], parts, provenance)
    else:
        write_divergence(path, measure_divergence(samples, record, **settings), provenance)


def measure_divergence(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    segment_ids: str,
    smoothing: float,
    precision: str,
    batch_tokens: int,
    max_seq_length: int | None = None,
    part: Sequence[int] = WHOLE,
) -> Divergence:
    """Run a model over samples and compare the attention of all pairs of its heads.

    record:     the model, as `models.fetching.fetch_model` found it.
    task, kind: name of the task, for progress, and how its samples are cut.
    max_seq_length, segment_ids: as in `encoding.encode_samples`.
    smoothing, part: as in `divergences`.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch, of which it has no more than
        1,024.
    """
    encoded = encode_samples(samples, load_tokenizer(record), kind, record.max_length, max_seq_length, segment_ids)
    model = load_model(record, precision)
    batches = {"batch_tokens": min(batch_tokens, _BATCH_TOKENS), "part": Part(*part)}
    total, rows = divergences(model, encoded, smoothing=smoothing, what=f"{record.name} on {task}", **batches)
    read = batched(encoded.lengths, **batches)
    return Divergence(total, rows, model.config.num_hidden_layers, [samples[index].id for index in read])
