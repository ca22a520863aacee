"""The distance feature: how far, and at which special tokens, a head looks (Guan et al. 2020, section 3)."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from headtypes.attention.blocks import LEAST_ROWS, Group, Scratch, equal_lengths
from headtypes.attention.hook import Layer
from headtypes.features.columns import FINE_BINS
from headtypes.features.fused import fused_reader
from headtypes.tasks.tokens import SPECIAL_KINDS


class DistanceReader:
    """Reduces each layer's attention to distance features while it is computed; a handler of `attention.run`.

    kinds:   one array per sample of the batch, kinds of its real tokens [token].
    After the run, `features()` gives [sample, layer, head, 69] float32 on the CPU.
    """

    def __init__(self, kinds: list[np.ndarray]):
        self._kinds = kinds
        self._scratch = Scratch()
        self._layers: list[Tensor] = []

    def __call__(self, number: int, layer: Layer) -> Tensor:
        """The heads' contexts of a layer as they are: [sample, head, query, channel]."""
        if number == 0:
            self._fused, self._buckets = fused_reader(self._kinds, layer), None
        read = self._fused and self._fused(layer)
        context, features = read or self._plain(layer)
        self._layers.append(features)
        return context

    def _plain(self, layer: Layer) -> tuple[Tensor, Tensor]:
        if self._buckets is None:
            groups = equal_lengths([len(kinds) for kinds in self._kinds])
            self._buckets = [Buckets(group, self._kinds, layer.query.device) for group in groups]
        context = layer.no_context()
        return context, torch.cat([_read(layer, buckets, context, self._scratch) for buckets in self._buckets])

    def features(self) -> np.ndarray:
        """The distance features of the batch: [sample, layer, head, 69] float32, each row sums to one."""
        return torch.stack(self._layers, dim=1).cpu().numpy()


class Buckets:
    """What the reduction needs to know of the samples of a group; all float32.

    ordinary: [sample, 1, 1, key] 1 where the key is not a special token, else 0.
    special:  [sample, key, 4] one-hot kind of the special tokens.
    column:   [length + key - query, 65] one-hot column of an ordinary key: its fine bin, or self.
    """

    def __init__(self, group: Group, kinds: list[np.ndarray], device: torch.device):
        self.group = group
        tokens = torch.as_tensor(np.stack(kinds[group.samples]), device=device, dtype=torch.int64)
        self.ordinary = (tokens == 0).float()[:, None, None]
        self.special = one_hot(tokens, 1 + len(SPECIAL_KINDS))[..., 1:].float()
        distance = (torch.arange(2 * group.length, device=device) - group.length).abs()
        column = torch.where(distance > 0, distance * FINE_BINS // group.length, FINE_BINS)
        # Nothing stands at the full length, which no two tokens are apart.
        self.column = one_hot(column, 1 + FINE_BINS).float()


def _read(layer: Layer, buckets: Buckets, context: Tensor, scratch: Scratch) -> Tensor:
    """Fill a group's part of `context` [batch, head, token, channel] and return its features [sample, head, 69]."""
    group = buckets.group
    layer, context = group.of(layer), context[group.samples, :, : group.length]
    received = context.new_zeros(context.shape[:3], dtype=torch.float32)
    diagonals = _Diagonals(received)
    for rows in group.blocks():
        attention = layer.attention(rows, scratch.of(layer, rows))
        context[:, :, rows] = torch.matmul(attention, layer.value)
        attention = attention.float()
        received += attention.sum(2)
        diagonals.add(attention, buckets.ordinary, rows.start)
    return torch.cat([diagonals.sums() @ buckets.column, received @ buckets.special], dim=-1) / group.length


class _Diagonals:
    """Sums attention over all pairs of the same key - query, some query rows at a time.

    like: [sample, head, key].
    """

    def __init__(self, like: Tensor):
        samples, heads, self._keys = like.shape
        # Rows are laid on one another so that a diagonal that ends in one block goes on in the next: a query and a
        # key of the same position meet at the same column, counted from the row in the block.
        self._width = 2 * self._keys + LEAST_ROWS
        self._rows = like.new_zeros(samples, heads, LEAST_ROWS, self._width)

    def add(self, attention: Tensor, weight: Tensor, first: int) -> None:
        """Add attention [sample, head, query, key] of the queries from `first` on, times a weight of each key."""
        for start in range(0, attention.shape[2], LEAST_ROWS):
            part = attention[:, :, start : start + LEAST_ROWS]
            column = self._keys - first - start
            place = self._rows[:, :, : part.shape[2], column : column + self._keys]
            place.addcmul_(part, weight)

    def sums(self) -> Tensor:
        """[sample, head, keys + key - query]."""
        samples, heads, rows, width = self._rows.shape
        # Each row starts one step further than the row above, so that a diagonal becomes a column.
        strides = (heads * rows * width, rows * width, width + 1, 1)
        return self._rows.as_strided((samples, heads, rows, 2 * self._keys), strides).sum(2)
