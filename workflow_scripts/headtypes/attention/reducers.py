"""Reducers: what reads the attention of a model while it runs, block by block."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headtypes.attention.batches import Batch
from headtypes.attention.blocks import Group
from headtypes.attention.settings import Of


@dataclass(frozen=True)
class Pass:
    """A pass before its first batch: the number of samples, and the model's shape and precision."""

    samples: int
    layers: int
    heads: int
    dtype: torch.dtype


@dataclass(frozen=True)
class Block:
    """Some query rows of one layer, of samples that have one length.

    layer:     the layer's number, from 0.
    group:     the samples: `group.samples` is their slice of the batch, `group.length` the tokens of each.
    heads, rows: which of the layer's heads (all, unless every reducer of the pass reads by head) and of the query rows.
    memory:    the attention as it was computed, in the model's precision: [sample, head, row, key], on a GPU with zeros
        behind its rows and keys (`blocks.Scratch`). None where no reducer of the pass reads attention. It is reused,
        and other reducers read it too, so a reducer must keep neither it nor `attention`, and leave both as they are.
    outputs:   the head outputs, attention times values, in the model's precision.
    mask:      true where the model lets a token look; None where it may look at all of its sample.
    lengths:   for a reducer of norms, the length of what each token hands over (`norms.KeyLengths`).
    to_none:   what each row gives to no token, in a layer with a sink (`hook.Layer`); None where rows sum to one.
    stream, written: for a reducer of the stream, all rows of the residual stream that the layer's output is added to,
        in the model's precision, and the length of what each head adds to each token, float32.
    """

    layer: int
    group: Group
    heads: slice
    rows: slice
    memory: Float[Tensor, "sample head some_rows some_keys"] | None
    outputs: Float[Tensor, "sample head row channel"]
    mask: Bool[Tensor, "#sample 1 row key"] | None
    lengths: Float[Tensor, "sample head key"] | None = None
    to_none: Float[Tensor, "sample head row"] | None = None
    stream: Float[Tensor, "sample token width"] | None = None
    written: Float[Tensor, "sample head row"] | None = None

    @cached_property
    def attention(self) -> Float[Tensor, "sample head row key"] | None:
        """Float32; each row sums to one, for a reducer of norms after its product with `lengths`, with `to_none`."""
        rows = self.rows.stop - self.rows.start
        return None if self.memory is None else self.memory[:, :, :rows, : self.group.length].float()

    @property
    def shares(self) -> Float[Tensor, "sample head row key"]:
        """Numbers that sum to one in each row: the attention; for a reducer of norms its product with the lengths, a
        copy.
        """
        return self.attention if self.lengths is None else self.attention * self.lengths[:, :, None]

    @property
    def is_first(self) -> bool:
        """Whether the first row of the group and of these heads of this layer is here."""
        return self.rows.start == 0

    @property
    def is_last(self) -> bool:
        """Whether the last row of the group and of these heads of this layer is here."""
        return self.rows.stop == self.group.length


class Reducer(Protocol):
    """Reads the attention of a model while it runs.

    The methods are called in the order `begin`, for each batch `start`, `add` with each block, `right` and `finish`,
    and at the end `result`. A batch that does not fit into the GPU's memory is started anew in halves, so what it has
    added counts only once it has finished. Blocks come layer by layer, group by group, row by row; heads, if one by
    one, before rows.

    reads_attention: false for a reducer of head outputs alone. Where none of a pass reads attention, none is computed.
    of: whether it reads the weights of attention, or each token's share of the norms (`attention.norms`).
    by_head: true for a reducer that can read one head after another (`Block.heads`), which is faster for long samples.
    reads_stream: whether it needs the residual stream, and what heads write into it (`Block.stream`, `Block.written`).
    fault: what is wrong with a head `{}` of which a number is not `right`, for the message.
    """

    reads_attention: bool = True
    by_head: bool = False
    of: Of = "weights"
    reads_stream: bool = False
    fault: str = "the attention of head {} is not finite"

    def begin(self, about: Pass) -> None:
        """Prepare for a pass."""

    def start(self, batch: Batch) -> None:
        """Prepare for a batch, and forget one that has not finished."""

    def add(self, block: Block) -> None:
        """Read a block of the batch."""

    def right(self) -> Bool[Tensor, "sample layer head ..."]:
        """Mark the numbers of the batch that can be right, as finite sums of attention; others make the pass an
        error.
        """

    def finish(self) -> None:
        """Keep what was read of the batch."""

    def result(self) -> Any:
        """Return the result over all samples."""


class PerSample(Reducer):
    """A reducer whose result is some numbers of each head on each sample, such as [sample, layer, head] float32.

    columns: shape of what is read of a head on a sample; none for a single number.
    values:  those of the current batch, [sample, layer, head, *columns] float32; filled by `add`.
    """

    def __init__(self, *columns: int):
        self._columns = columns

    def begin(self, about: Pass) -> None:
        self.about = about
        self._result = np.empty((about.samples, about.layers, about.heads, *self._columns), np.float32)

    def start(self, batch: Batch) -> None:
        self.batch = batch
        self.values = torch.zeros(len(batch.samples), *self._result.shape[1:], device=batch.device)

    def right(self) -> Bool[Tensor, "sample layer head ..."]:
        return self.values.isfinite()

    def finish(self) -> None:
        self._result[self.batch.samples] = self.values.cpu().numpy()

    def result(self) -> np.ndarray:
        """Return [sample, layer, head, *columns] float32, in the order of the samples."""
        return self._result


class ListPerSample(Reducer):
    """A reducer whose result is a list with what `of_batch` finds of each sample, in the order of the samples."""

    def begin(self, about: Pass) -> None:
        self.about = about
        self._of_samples: list[Any] = [None] * about.samples

    def start(self, batch: Batch) -> None:
        self.batch = batch

    def of_batch(self) -> Iterable[Any]:
        raise NotImplementedError

    def finish(self) -> None:
        for sample, of_sample in zip(self.batch.samples, self.of_batch(), strict=True):
            self._of_samples[sample] = of_sample

    def result(self) -> list[Any]:
        return self._of_samples
