"""Lengths of the vectors that heads add to tokens, beside the residual stream that they are added to.

A head adds `sum_t A[s, t] v_t W_O` to token s. The average norm of a head's output, divided by the layer's mean, finds
more superfluous heads than attention to the first token does (Sandoval-Segura et al. 2025, arXiv 2504.03889).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int

from headtypes.attention.reducers import Block, Measurement, PerSample
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import SampleIds
from headtypes.core.table_files import table_reader
from headtypes.data.encoding import SPECIAL_KINDS, Encoded

if TYPE_CHECKING:
    from torch import Tensor

    from headtypes.attention.hook import Batch
    from headtypes.attention.one_pass import ModelOnTask
    from headtypes.data.tasks import Sample

TOKENS = ("written", "written_first", "written_special", "written_punctuation", "written_other")
QUARTERS = tuple(f"written_quarter_{number}" for number in range(1, 5))
COLUMNS = (*TOKENS, *QUARTERS, "length", "first", "to_largest")
STREAM = ("largest", "median", "token")
HEADS = ("layer", "head", *TOKENS, *QUARTERS, "low", "high", "relative", "off", "off_no_sink", "first", "to_largest")


@dataclass(frozen=True)
class Outputs:
    """Lengths of the vectors that every head adds to the residual stream on every sample, and the stream's size.

    written: [sample, layer, head, 12], by `COLUMNS`. Nine columns are the length of the vector that the head adds to a
    token, divided by the residual stream's length at the token, mean over: all tokens; the first; other `[CLS]` and
    `[SEP]`; commas and periods; all others; and each quarter of the sample without the first token; NaN over no token.
    The tenth is the vector's mean length. The last two are shares of attention, to the first token and the token of the
    stream's largest component. stream: [sample, layer, 3] largest and median absolute component before the layer, and
    index of the token with the largest. length: [sample] tokens. reason: why `written` and `stream` are NaN, or None.
    """

    written: Float32[np.ndarray, "sample layer head 12"]
    stream: Float64[np.ndarray, "sample layer 3"]
    length: Int[np.ndarray, " sample"]
    sample_ids: SampleIds
    reason: str | None = None

    @property
    def warnings(self) -> list[str]:
        return [] if self.reason is None else [f"nothing is measured: {self.reason}"]

    def column(self, name: str) -> Float64[np.ndarray, "sample layer head"]:
        return self.written[..., COLUMNS.index(name)].astype(float)


read_heads = table_reader("holds nothing that heads write", dict.fromkeys(HEADS))


class WrittenByHeads(PerSample):
    """A reducer of vectors that heads write into the residual stream; its result is (written, stream) of `Outputs`.

    written: [sample, layer, head, 12] ten mean lengths of a head's vectors and two shares of its attention (`COLUMNS`).
    stream: [sample, layer, 3] largest and median absolute component, over all tokens and channels, of the stream before
    the layer, and the index of the token with the largest. kinds: for each sample, the kinds of its tokens (`Encoded`).
    """

    by_head = True
    reads_stream = True

    def __init__(self, kinds: Sequence[np.ndarray]):
        # The numbers of the stream stand at every head of the layer.
        super().__init__(len(COLUMNS) + len(STREAM))
        self._weights = list(map(token_weights, kinds))

    def start(self, batch: Batch) -> None:
        super().start(batch)
        self._layer: tuple[int, int] | None = None

    def add(self, block: Block) -> None:
        import torch

        group, written = block.group, block.written
        if (block.layer, group.samples.start) != self._layer:
            self._layer = block.layer, group.samples.start
            stream = block.stream.float()
            self._lengths, sizes = stream.norm(dim=-1), stream.abs()
            largest, self._target = sizes.amax(-1).max(-1)
            median = sizes.flatten(1).median(-1).values
            numbers = torch.stack([largest, median, self._target.float()], -1)
            self.values[group.samples, block.layer, :, len(COLUMNS) :] = numbers[:, None]
            weights = np.stack([self._weights[sample] for sample in self.batch.samples[group.samples]])
            self._shares = torch.from_numpy(weights).to(written.device)
        beside = written / self._lengths[:, None, block.rows]
        target = self._target[:, None, None, None].expand(*block.attention.shape[:3], 1)
        looks = [block.attention[..., 0], block.attention.gather(-1, target)[..., 0]]
        means = torch.stack([rows.sum(-1) / group.length for rows in (written, *looks)], -1)
        columns = torch.cat([beside @ self._shares[:, block.rows], means], -1)
        self.values[group.samples, block.layer, block.heads, : len(COLUMNS)] += columns

    def right(self) -> Bool[Tensor, "sample layer head"]:
        # Other columns may be NaN.
        return self.values[..., COLUMNS.index("length")].isfinite()

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        read = super().result()
        return read[..., : len(COLUMNS)], read[:, :, 0, len(COLUMNS) :].astype(float)


# The weight 1 / n of each token in the mean over a group of n tokens, else 0; NaN for a group without tokens.
def token_weights(kinds: np.ndarray) -> Float[np.ndarray, "token of"]:
    position = np.arange(len(kinds))
    cls, sep, comma, period = (1 + SPECIAL_KINDS.index(name) for name in ("cls", "sep", "comma", "period"))
    special, punctuation = np.isin(kinds, [cls, sep]), np.isin(kinds, [comma, period])
    rest, quarter = position > 0, position * len(QUARTERS) // len(kinds)
    # In the order of `TOKENS` and `QUARTERS`.
    groups = [position >= 0, ~rest, rest & special, rest & punctuation, rest & (kinds == 0)]
    groups += [rest & (quarter == number) for number in range(len(QUARTERS))]
    chosen = np.stack(groups, -1).astype(np.float32)
    counts = chosen.sum(0)
    return chosen / np.where(counts > 0, counts, np.nan).astype(np.float32)


def _reason(run: ModelOnTask) -> str:
    from headtypes.attention.norms import KeyLengths, ResidualStream

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


# A model whose lengths cannot be read has no values, but the reason.
measure_outputs = Measurement(
    lambda run, encoded, norms: [] if _reason(run) else [WrittenByHeads(encoded.kinds)], _outputs
)
