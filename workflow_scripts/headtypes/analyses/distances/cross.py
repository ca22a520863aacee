"""The distance feature of cross-attention: how far from the same place in the source a head looks, and at what."""

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.functional import one_hot

from headtypes.analyses.distances.columns import COLUMNS, FINE_BINS
from headtypes.analyses.distances.reducer import TOLERANCE, ByColumn
from headtypes.attention.batches import Batch
from headtypes.attention.blocks import Group
from headtypes.attention.reducers import Block


class AlignedDistances(ByColumn):
    """The distance features of cross-attention.

    The distance of token s of T in the target and token t of S in the source is that of their places, |s / T - t / S|;
    of texts of one length, it is that within a text. No token is attended to by itself, so that `self` is zero.
    """

    reads_cross = True

    def start(self, batch: Batch) -> None:
        """Forget what is known of the tokens of another batch."""
        super().start(batch)
        self._columns: dict[int, Tensor] = {}

    def add(self, block: Block) -> None:
        """Sum the rows by column."""
        group, start = block.group, block.group.samples.start
        if start not in self._columns:
            kinds = [self._kinds[sample] for sample in self.batch.samples[group.samples]]
            self._columns[start] = columns_of(group, torch.as_tensor(np.stack(kinds), device=block.attention.device))
        column = one_hot(self._columns[start][:, block.rows], COLUMNS).float()
        sums = [block.shares.flatten(2) @ column.flatten(1, 2)]
        if self._first:
            sums.append(block.shares[..., 0] @ column[:, :, 0])
        self.values[group.samples, block.layer, block.heads] += torch.cat(sums, dim=-1) / group.length

    def right(self) -> Bool[Tensor, "sample layer head"]:
        """The features that sum to one, which none does that is not finite."""
        return (self.values[..., :COLUMNS].sum(-1) - 1).abs() <= TOLERANCE[self.about.dtype]


def columns_of(group: Group, kinds: Int[Tensor, "sample key"]) -> Int[Tensor, "sample query key"]:
    """The column of each pair of a query in the target and a key in the source; kinds: of the source's tokens."""
    query, key = (torch.arange(length, device=kinds.device) for length in (group.length, group.keys))
    apart = (query[:, None] * group.keys - key * group.length).abs()
    bins = apart * FINE_BINS // (group.length * group.keys)
    special = kinds.long()[:, None]
    return torch.where(special > 0, FINE_BINS + special, bins)
