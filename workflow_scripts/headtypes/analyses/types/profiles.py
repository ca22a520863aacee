"""Heads of a model that look alike, wherever they are."""

import numpy as np
from jaxtyping import Int

from headtypes.analyses.types.partitions import Partition


def profile_groups(partition: Partition) -> Int[np.ndarray, "layer head"]:
    """Divide the heads of the whole model into as many groups as there are layers, by near, special and far.

    Heads are divided again and again, in order of one of the three, where the squared distances from the means of both
    sides are least, so that a group has as many heads as a layer, which look alike.
    """
    profiles = partition.table[["near", "special", "far"]].to_numpy()
    groups = np.zeros(len(profiles), int)

    def spread(heads: np.ndarray) -> float:
        return len(heads) * profiles[heads].var(axis=0).sum()

    def divide(heads: np.ndarray, first: int, number: int) -> None:
        groups[heads] = first
        if number > 1:
            orders = [heads[np.argsort(of_heads, kind="stable")] for of_heads in profiles[heads].T]
            cuts = [
                (*np.split(each, [len(each) * left // number]), left) for each in orders for left in range(1, number)
            ]
            low, high, left = min(cuts, key=lambda cut: spread(cut[0]) + spread(cut[1]))
            divide(low, first, left)
            divide(high, first + left, number - left)

    divide(np.arange(len(profiles)), 0, partition.shape[0])
    return groups.reshape(partition.shape)
