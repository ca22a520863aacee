"""The file of the importance of heads, in the form in which it is read by others."""

from pathlib import Path

import numpy as np

from headtypes.core.files import undamaged
from headtypes.core.table_files import read_csv


def read_importance(path: str | Path) -> np.ndarray:
    """The normalised importance in a CSV of `importance.measure_importance`'s table: [layer, head].

    Raises `InputError` that names a damaged file.
    """
    kinds, otherwise = {"layer": int, "head": int, "normalised": float}, "holds no importance of heads"
    table = read_csv(path, otherwise, kinds, dtype=kinds).sort_values(["layer", "head"])
    with undamaged(path, otherwise):
        return table["normalised"].to_numpy().reshape(table["layer"].max() + 1, -1)
