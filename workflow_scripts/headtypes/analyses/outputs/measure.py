"""Lengths of the vectors that heads add to tokens, beside the residual stream that they are added to.

A head adds `sum_t A[s, t] v_t W_O` to token s. A head that looks somewhere and adds nearly nothing is off, on some
samples or on all. By Sandoval-Segura et al. (2025, arXiv 2504.03889), the average norm of a head's output, divided by
the mean of the layer's heads, finds more heads that a model can do without than attention to the first token does.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headtypes.analyses.outputs.results import COLUMNS, QUARTERS, STREAM, TOKENS, Outputs
from headtypes.attention.batches import Batch
from headtypes.attention.norms import KeyLengths, ResidualStream
from headtypes.attention.one_pass import ModelOnTask
from headtypes.attention.reducers import Block, Measurement, Pass, PerSample
from headtypes.core.errors import InputError
from headtypes.data.encoding import SPECIAL_KINDS, Encoded
from headtypes.data.tasks import Sample


class WrittenByHeads(PerSample):
    """A reducer whose result is what heads write, [sample, layer, head, column] float32, and the residual stream.

    kinds: one array per encoded sample, kinds of its tokens [token].

    The columns are those of `outputs.results.COLUMNS`; the stream, [sample, layer, 3] float64, has those of `STREAM`.
    """

    by_head = True
    reads_stream = True

    def __init__(self, kinds: Sequence[np.ndarray]):
        super().__init__(len(COLUMNS))
        self._kinds = kinds

    def begin(self, about: Pass) -> None:
        super().begin(about)
        self._streams = np.empty((about.samples, about.layers, len(STREAM)))

    def start(self, batch: Batch) -> None:
        super().start(batch)
        self._of_batch = np.empty((len(batch.samples), *self._streams.shape[1:]))
        self._groups: dict[int, Float[Tensor, "sample token of"]] = {}
        self._layer: tuple[int, int] | None = None

    def add(self, block: Block) -> None:
        group, written = block.group, block.written
        if (block.layer, group.samples.start) != self._layer:
            self._layer = block.layer, group.samples.start
            self._look_at(block)
        if group.samples.start not in self._groups:
            shares = np.stack([token_weights(self._kinds[sample]) for sample in self.batch.samples[group.samples]])
            self._groups[group.samples.start] = torch.from_numpy(shares).to(written.device)
        of_rows = self._groups[group.samples.start][:, block.rows]
        beside = written / self._lengths[:, None, block.rows]
        target = self._target[:, None, None, None].expand(*block.attention.shape[:3], 1)
        looks = [block.attention[..., 0], block.attention.gather(-1, target)[..., 0]]
        means = torch.stack([rows.sum(-1) / group.length for rows in (written, *looks)], -1)
        self.values[group.samples, block.layer, block.heads] += torch.cat([beside @ of_rows, means], -1)

    def right(self) -> Bool[Tensor, "sample layer head"]:
        """Mark the lengths that are finite; other columns may be impossible."""
        return self.values[..., COLUMNS.index("length")].isfinite()

    def finish(self) -> None:
        super().finish()
        self._streams[self.batch.samples] = self._of_batch

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        return super().result(), self._streams

    def _look_at(self, block: Block) -> None:
        """Keep the stream of a layer: the length of each token, and the largest number of each sample."""
        stream = block.stream.float()
        self._lengths = stream.norm(dim=-1)
        sizes = stream.abs()
        largest, self._target = sizes.amax(-1).max(-1)
        median = sizes.flatten(1).median(-1).values
        columns = torch.stack([largest.double(), median.double(), self._target.double()], -1)
        self._of_batch[block.group.samples, block.layer] = columns.cpu().numpy()


def token_weights(kinds: np.ndarray) -> Float[np.ndarray, "token of"]:
    """Return the weight of each token in the means over some tokens, one column each of `TOKENS` and `QUARTERS`.

    NaN, as the mean of nothing, where a sample has no such token. The first token counts as that alone.
    """
    length = len(kinds)
    position = np.arange(length)
    number = {name: 1 + index for index, name in enumerate(SPECIAL_KINDS)}
    rest = position > 0
    of = {
        "written": np.ones(length, bool),
        "written_first": ~rest,
        "written_special": rest & np.isin(kinds, [number["cls"], number["sep"]]),
        "written_punctuation": rest & np.isin(kinds, [number["comma"], number["period"]]),
        "written_other": rest & (kinds == 0),
    }
    of |= {name: rest & (position * len(QUARTERS) // length == quarter) for quarter, name in enumerate(QUARTERS)}
    chosen = np.stack([of[name] for name in (*TOKENS, *QUARTERS)], -1).astype(np.float32)
    counts = chosen.sum(0)
    return chosen / np.where(counts > 0, counts, np.nan).astype(np.float32)


def _reason(run: ModelOnTask) -> str:
    """Say why nothing can be read: the model does more with head outputs than multiply them and add them to the
    stream.
    """
    try:
        KeyLengths(run.model), ResidualStream(run.model)
    except InputError as error:
        return str(error)
    return ""


def _outputs(run: ModelOnTask, samples: list[Sample], encoded: Encoded, read: list) -> Outputs:
    lengths, ids = np.array(encoded.lengths, np.int32), [sample.id for sample in samples]
    if read:
        ((written, stream),) = read
        return Outputs(written, stream, lengths, ids)
    shape = len(samples), run.record.layers, run.record.heads
    nothing = np.full((*shape, len(COLUMNS)), np.nan, np.float32)
    return Outputs(nothing, np.full((*shape[:2], len(STREAM)), np.nan), lengths, ids, _reason(run))


# What all heads write into the residual stream. Where a model cannot be read so, there are no values, but the reason.
measure_outputs = Measurement(
    lambda run, encoded, norms: [] if _reason(run) else [WrittenByHeads(encoded.kinds)], _outputs
)
