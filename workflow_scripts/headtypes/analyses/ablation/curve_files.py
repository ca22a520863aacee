"""Curves on disk: what a model still answers while heads are removed in growing sets."""

from pathlib import Path

import pandas as pd

from headtypes.core.table_files import read_csv


def read_curves(path: str | Path) -> pd.DataFrame:
    """Read the table of `curves.evaluate_curves`. Raises `InputError` that names a damaged file."""
    kinds = {"type": str, "order": str, "draw": int, "heads": int}
    return read_csv(path, "holds no curves", kinds, dtype=kinds, keep_default_na=False)
