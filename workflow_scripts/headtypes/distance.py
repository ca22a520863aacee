"""The distance feature: how far, and at which special tokens, a head looks (Guan et al. 2020, section 3)."""

import numpy as np
import torch
from torch import Tensor

from headtypes.attention import Layer
from headtypes.columns import COLUMNS, FINE_WINDOWS, SPECIAL_KINDS

# Rows of attention that are reduced at a time, so that a block stays in the processor's cache.
_BLOCK_ROWS = 128


class DistanceReader:
    """Reduces each layer's attention to distance features while it is computed; a handler of `attention.run`.

    kinds:   one array per sample of the batch, kinds of its real tokens [token].
    After the run, `features()` gives [sample, layer, head, 69] float32 on the CPU.
    """

    def __init__(self, kinds: list[np.ndarray]):
        self._kinds = kinds
        self._layers: list[Tensor] = []

    def __call__(self, number: int, layer: Layer) -> Tensor:
        if number == 0:
            device = layer.query.device
            self._samples = [_Buckets(kinds, device) for kinds in self._kinds]
        context = layer.no_context()
        features = []
        for index, buckets in enumerate(self._samples):
            length = buckets.length
            read = _read(layer.sample(index, length), buckets, context[index : index + 1, :, :length])
            features.append(read)
        self._layers.append(torch.stack(features))
        return context

    def features(self) -> np.ndarray:
        """The distance features of the batch: [sample, layer, head, 69] float32, each row sums to one."""
        return torch.stack(self._layers, dim=1).cpu().numpy()


class _Buckets:
    """What the reduction needs to know of one sample.

    ordinary: [token] 1 where the token is not special, else 0.
    special:  [token, 4] one-hot kind of the special tokens.
    windows:  [distance] int64, the fine window of each distance 1..L-1 (entry 0 is unused: self).
    """

    def __init__(self, kinds: np.ndarray, device: torch.device):
        self.length = len(kinds)
        tensor = torch.as_tensor(kinds, device=device, dtype=torch.int64)
        self.ordinary = (tensor == 0).float()
        self.special = torch.nn.functional.one_hot(tensor, 1 + len(SPECIAL_KINDS))[:, 1:].float()
        self.windows = torch.arange(self.length, device=device) * FINE_WINDOWS // self.length


def _read(layer: Layer, buckets: _Buckets, context: Tensor) -> Tensor:
    """Fill one sample's `context` [1, head, token, channel] and return its features [head, 69] float32."""
    heads, length = layer.query.shape[1], buckets.length
    to_special = context.new_zeros((heads, len(SPECIAL_KINDS)), dtype=torch.float32)
    by_distance = context.new_zeros((heads, length), dtype=torch.float32)
    for start in range(0, length, _BLOCK_ROWS):
        rows = slice(start, min(start + _BLOCK_ROWS, length))
        attention = layer.attention(rows)
        context[:, :, rows] = torch.matmul(attention, layer.value)
        attention = attention[0].float()
        to_special += attention.sum(1) @ buckets.special
        by_distance += _sum_by_distance(attention * buckets.ordinary, start)
    features = context.new_zeros((heads, COLUMNS), dtype=torch.float32)
    features.index_add_(1, buckets.windows[1:], by_distance[:, 1:])
    features[:, FINE_WINDOWS] = by_distance[:, 0]
    features[:, FINE_WINDOWS + 1 :] = to_special
    return features / length


def _sum_by_distance(attention: Tensor, start: int) -> Tensor:
    """Sum attention over all pairs of the same |query - key|.

    attention: [head, row, key], rows are the queries from `start` on.
    returns    [head, distance], distances 0..L-1.
    """
    heads, rows, keys = attention.shape
    # Each row, one step to the right of the row above: pairs of the same distance share a column. The zeros
    # before each row take up what the row above runs over; so the skew is a view, and one sum does it.
    width = rows + keys
    padded = attention.new_zeros(heads * rows * width + rows)
    padded[: heads * rows * width].view(heads, rows, width)[:, :, rows:] = attention
    skewed = padded.as_strided((heads, rows, width), (rows * width, width + 1, 1))
    by_offset = skewed.sum(1)
    # Column c holds key - query = c - rows - start.
    offsets = torch.arange(width, device=attention.device) - rows - start
    inside = offsets.abs() < keys
    return attention.new_zeros(heads, keys).index_add_(1, offsets[inside].abs(), by_offset[:, inside])
