"""Heads of four planted types."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from headtypes.analyses.distances.features import SELF_AND_SPECIAL
from headtypes.analyses.types.partitions import Partition

TYPES = ("dense", "diagonal", "dense_vertical", "vertical")
BINS = 16
WIDTH = BINS + len(SELF_AND_SPECIAL)


def typed(types: Sequence[Sequence[str]] | np.ndarray, doubtful: Sequence[str] = (), **columns) -> Partition:
    """A partition by the type of each head, [layer, head]; columns: further ones, with a value for all or for each."""
    types = np.array(types, dtype=object)
    layer, head = np.indices(types.shape).reshape(2, -1)
    table = {"layer": layer, "head": head, "type": types.ravel(), "doubtful": np.isin(types.ravel(), list(doubtful))}
    return Partition(pd.DataFrame({**table, **columns}))


def pattern(name: str) -> np.ndarray:
    row = np.zeros(WIDTH)
    match name:
        case "dense":
            row[:BINS] = np.arange(BINS, 0, -1)
        case "diagonal":
            row[[0, 1, BINS]] = 5, 1, 4
        case "dense_vertical":
            row[:BINS] = np.arange(BINS, 0, -1) / 136
            row[BINS + 2] = 1
        case "vertical":
            row[[BINS + 1, BINS + 2, BINS]] = 3, 16, 1
    return row / row.sum()


def heads(counts: dict[str, int], noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features [head, column], rows that sum to one, and type names [head], in random order."""
    rng = np.random.default_rng(seed)
    names = rng.permutation([name for name, count in counts.items() for _ in range(count)])
    rows = np.stack([pattern(name) for name in names]) + noise * rng.random((len(names), WIDTH))
    return rows / rows.sum(axis=1, keepdims=True), names
