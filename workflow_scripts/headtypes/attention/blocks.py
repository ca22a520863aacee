"""Samples of one length, computed together in blocks of query rows that stay in the processor's cache.

Long samples are computed one head at a time, so that more rows fit. On a GPU, a block is as large as memory allows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from headtypes.attention.hook import Layer

# Pairs of a query and a key that are computed at a time, for every head: with 16 heads, 2 MB in float32. Smaller blocks
# lose more in calls than they gain from the cache; larger ones cost more memory than they save time.
_BLOCK_PAIRS = 2**15
# The same on a GPU, which small blocks would leave waiting for calls: 128 MB. A batch that does not fit is halved.
_GPU_PAIRS = 2**21
# The same where one head is computed at a time: 1 MB in float32.
_HEAD_PAIRS = 2**18
# Tokens from which it is faster to compute heads on their own.
LONG = 1024
# With fewer query rows at a time, the keys are read too often.
LEAST_ROWS = 32
# Added before the logarithm, so that 0 ln 0 is 0; it changes no float32 above 1e-22.
_TINY = np.float32(1e-30)


class Scratch:
    """Memory that every block of attention reuses, since allocating it anew takes as long as a softmax."""

    def __init__(self):
        self._memory: Tensor | None = None

    def of(self, layer: Layer, rows: slice) -> Tensor:
        """Return memory for `Layer.attention` of some rows: [batch, head, row, key], on a GPU with room for
        `skewed`.
        """
        count, keys = rows.stop - rows.start, layer.key.shape[2]
        if at_once(layer.query.device):
            # Rows whose length is a multiple of 8 are read and written in fewer steps.
            count, keys = -(-count // LEAST_ROWS) * LEAST_ROWS, -(-(keys + LEAST_ROWS - 1) // 8) * 8
        shape = *layer.query.shape[:2], count, keys
        needed = LEAST_ROWS + math.prod(shape)
        if self._memory is None or self._memory.numel() < needed:
            self._memory = layer.query.new_empty(needed)
            self._memory[:LEAST_ROWS] = 0
        return self._memory[LEAST_ROWS:needed].view(shape)


def skewed(rows: Tensor, columns: int, *, before: int = 0, step: int = 1) -> Tensor:
    """Return a view in which each row starts some numbers later than the row above, so that a diagonal becomes a
    column.

    rows: [..., row, number]; numbers before or after a row in memory are seen too.
    columns: of the view; before: where the first row starts, in numbers before its own; step: the same for each next
        row.
    """
    *strides, length, one = rows.stride()
    sizes, offset = (*rows.shape[:-1], columns), rows.storage_offset() - before
    return rows.as_strided(sizes, (*strides, length + step, one), offset)


class Group:
    """Consecutive samples, a slice of a batch, that have the same length in tokens."""

    def __init__(self, samples: slice, length: int):
        self.samples, self.length = samples, length
        self._cut_from: Tensor | None = None
        self._mask: Tensor | None = None

    def of(self, layer: Layer) -> Layer:
        """Return the layer for these samples without their padding, which stands at the end."""
        query, key, value = (tensor[self.samples, :, : self.length] for tensor in (layer.query, layer.key, layer.value))
        bias = layer.bias
        if bias is not None:
            bias = bias[self.samples if len(bias) > 1 else slice(None), :, : self.length, : self.length]
        return replace(layer, query=query, key=key, value=value, mask=self._own(layer.mask), bias=bias)

    def _own(self, mask: Tensor | None) -> Tensor | None:
        if mask is None:
            return None
        # Layers share a mask, and checking its values takes longer than comparing identities.
        if mask is not self._cut_from:
            cut = mask[self.samples if len(mask) > 1 else slice(None), :, : self.length, : self.length]
            self._cut_from, self._mask = mask, None if bool(cut.all()) else cut
        return self._mask

    def blocks(self, device: torch.device) -> Iterator[slice]:
        """Divide the query rows into blocks of as equal size as possible, in multiples of `LEAST_ROWS`."""
        return self._blocks(_most_pairs(device))

    def blocks_of_heads(self, layer: Layer, by_head: bool = True) -> Iterator[tuple[slice, Layer, slice]]:
        """Yield blocks of a layer of these samples alone (`of`): heads, the layer with these heads alone, and query
        rows.

        by_head: whether blocks may have one head each, as they do where samples are long; else they have all.
        """
        heads = layer.query.shape[1]
        if not by_head or self.length < LONG or at_once(layer.query.device):
            for rows in self.blocks(layer.query.device):
                yield slice(0, heads), layer, rows
            return
        for head in range(heads):
            # Copied, since products of what lies scattered take longer.
            single = layer.heads(slice(head, head + 1)).contiguous()
            for rows in self._blocks(_HEAD_PAIRS):
                yield slice(head, head + 1), single, rows

    def _blocks(self, pairs: int) -> Iterator[slice]:
        samples = self.samples.stop - self.samples.start
        parts = -(-samples * self.length**2 // pairs)
        rows = -(-self.length // (parts * LEAST_ROWS)) * LEAST_ROWS
        for start in range(0, self.length, rows):
            yield slice(start, min(start + rows, self.length))


def at_once(device: torch.device) -> bool:
    """Tell whether a layer is read at once, as on a GPU, where reading a map from memory takes the time."""
    return device.type != "cpu"


def _most_pairs(device: torch.device) -> int:
    return _GPU_PAIRS if at_once(device) else _BLOCK_PAIRS


def equal_lengths(lengths: Sequence[int], device: torch.device) -> list[Group]:
    """Divide a batch into groups of equal length, in order; each fits into one block of the device or is a single
    sample.

    lengths: of the samples; equal ones are neighbours, since batches are planned by length.
    """
    groups, start = [], 0
    for stop in range(1, len(lengths) + 1):
        ends = stop == len(lengths) or lengths[stop] != lengths[start]
        if ends or (stop - start + 1) * lengths[start] ** 2 > _most_pairs(device):
            groups.append(Group(slice(start, stop), lengths[start]))
            start = stop
    return groups


class EntropySums:
    """Sums of x ln x, with 0 ln 0 = 0, for entropies and divergences; on a CPU, every call reuses the same memory."""

    def __init__(self):
        self._memory = np.empty(0, np.float32)

    def __call__(self, numbers: Tensor) -> Tensor:
        """Return entropies summed over the last dimension, [...] float32; numbers: [..., n] float32, none negative."""
        if numbers.device.type != "cpu":
            return -torch.special.entr(numbers).sum(-1)
        # NumPy's logarithm takes a quarter of the time of PyTorch's, and a product with it is a sum over each row.
        read = numbers.numpy()
        if self._memory.size < read.size:
            self._memory = np.empty(read.size, np.float32)
        logarithm = self._memory[: read.size].reshape(read.shape)
        np.log(np.add(read, _TINY, out=logarithm), out=logarithm)
        return torch.from_numpy(np.matmul(read[..., None, :], logarithm[..., None])[..., 0, 0])
