"""Reducers: what reads the attention of a model while it runs, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import torch
    from jaxtyping import Bool, Float
    from torch import Tensor

    from headtypes.attention.hook import Batch, Group

# Attention as it leaves the softmax, or each token's share of the norms of what is handed over (`attention.norms`).
Of = Literal["weights", "norms"]


@dataclass(frozen=True)
class Pass:
    """One pass of a model over samples: numbers of samples, of layers and of a layer's heads, and the precision."""

    samples: int
    layers: int
    heads: int
    dtype: torch.dtype


@dataclass(frozen=True)
class Block:
    """Attention in a layer, [sample, head, row, key]: reducers of weights read `attention`, those of norms `shares`.

    layer: number of the layer, from 0. heads, rows: the block's slices of the layer's heads and query tokens, from 0.
    group: samples of one length: `group.samples` is their slice of the batch, `group.length` their number of tokens.
    memory: storage of `attention`, which the next block overwrites; None if no reducer reads attention.
    outputs: [sample, head, row, channel] head outputs (attention times values), in the model's precision.
    mask: [1 or sample, 1, row, key], true where a query sees a key; None if all are seen, or attention is not read.
    lengths: [sample, head, key] length of the vector that each token hands over; None for a reducer of weights.
    shares: for a reducer of norms, attention times `lengths`, divided by the sum of these products over a row's keys.
    to_none: [sample, head, row] share of attention to no token; None without a sink (`hook.Layer`), or for norms.
    stream: [sample, token, width] residual stream to which the layer's output is added. written: [sample, head, row]
        float32 length of what a head adds. stream, written: None unless reducers read the stream and attention.
    """

    layer: int
    group: Group
    heads: slice
    rows: slice
    # In the model's precision, for norms in float32. On a GPU zeros may follow the rows and keys.
    memory: Float[Tensor, "sample head some_rows some_keys"] | None
    outputs: Float[Tensor, "sample head row channel"]
    mask: Bool[Tensor, "#sample 1 row key"] | None
    lengths: Float[Tensor, "sample head key"] | None = None
    to_none: Float[Tensor, "sample head row"] | None = None
    stream: Float[Tensor, "sample token width"] | None = None
    written: Float[Tensor, "sample head row"] | None = None

    @cached_property
    def attention(self) -> Float[Tensor, "sample head row key"] | None:
        """Attention in float32; None if no reducer of the pass reads attention.

        A row and its `to_none` (the share for no token) sum to one, except in blocks for reducers of norms: there a row
        is divided by its sum over keys of attention * `lengths`, so that `shares`, their product, sums to one.
        """
        rows = self.rows.stop - self.rows.start
        return None if self.memory is None else self.memory[:, :, :rows, : self.group.length].float()

    @property
    def shares(self) -> Float[Tensor, "sample head row key"]:
        """Each key's share of a row: attention, or, for norms, attention times `lengths`, scaled to sum to one."""
        return self.attention if self.lengths is None else self.attention * self.lengths[:, :, None]


class Reducer(Protocol):
    """An object that reads the attention of a model while the model runs, and keeps a result.

    A pass calls `begin` once; for each batch `start`, `add` with each block, `right` (whether the numbers read are
    valid, such as finite) and `finish`; and `result` once. A batch that does not fit into the GPU's memory is started
    anew in halves: `start` has to forget what `add` has read, and `finish` to keep it.

    reads_attention: whether blocks have attention. reads_stream: whether blocks have the residual stream.
    by_head: whether `add` can read a block with a single head, which is faster for long samples.
    of: "weights" to read attention itself, "norms" to read each token's share of the norms.
    fault: text of the error for a head with a number that `right` calls false; `{}` stands for the head's name.
    """

    # Blocks come by layer, group (samples of one length), head (long samples on a CPU if all have `by_head`), and rows.
    reads_attention: bool = True
    by_head: bool = False
    of: Of = "weights"
    reads_stream: bool = False
    fault: str = "the attention of head {} is not finite"

    def begin(self, about: Pass) -> None: ...

    def start(self, batch: Batch) -> None: ...

    def add(self, block: Block) -> None: ...

    def right(self) -> Bool[Tensor, "sample layer head ..."]:
        """Return whether each number read is valid, such as finite (...: further axes); if one is not, a pass fails."""

    def finish(self) -> None: ...

    def result(self) -> Any: ...


class PerSample(Reducer):
    """A reducer whose result is some numbers of each head on each sample, [sample, layer, head, *columns] float32.

    columns: shape of one head's numbers on one sample, an argument for each axis; no argument for a single number.
    Attribute `values`: [sample of the batch, layer, head, *columns] tensor, zero at first; a subclass's `add` fills it.
    """

    def __init__(self, *columns: int):
        self._columns = columns

    def begin(self, about: Pass) -> None:
        import numpy as np

        self.about = about
        self._result = np.empty((about.samples, about.layers, about.heads, *self._columns), np.float32)

    def start(self, batch: Batch) -> None:
        import torch

        self.batch = batch
        self.values = torch.zeros(len(batch.samples), *self._result.shape[1:], device=batch.device)

    def right(self) -> Bool[Tensor, "sample layer head ..."]:
        return self.values.isfinite()

    def finish(self) -> None:
        self._result[self.batch.samples] = self.values.cpu().numpy()

    def result(self) -> np.ndarray:
        return self._result


class ListPerSample(Reducer):
    """A reducer whose result is a list, one object a sample; a subclass's `of_batch` returns the objects of a batch."""

    def begin(self, about: Pass) -> None:
        self.about = about
        self._of_samples: list[Any] = [None] * about.samples

    def start(self, batch: Batch) -> None:
        self.batch = batch

    def finish(self) -> None:
        for sample, of_sample in zip(self.batch.samples, self.of_batch(), strict=True):
            self._of_samples[sample] = of_sample

    def result(self) -> list[Any]:
        return self._of_samples


@dataclass(frozen=True)
class Measurement:
    """Two functions by which one analysis takes part in a pass that several analyses share (`one_pass.read_samples`).

    reducers: (`ModelOnTask`, `Encoded`, whether to read norms, too) -> reducers; [] if they cannot read the model.
    result: (`ModelOnTask`, samples, `Encoded`, results of these reducers) -> the result of the analysis.
    """

    reducers: Callable[..., Sequence[Reducer]]
    result: Callable[..., Any]
