"""Curves on disk: what a model still answers while heads are removed in growing sets."""

from pathlib import Path

import pandas as pd


def read_curves(path: str | Path) -> pd.DataFrame:
    """Read the table of `curves.evaluate_curves`."""
    return pd.read_csv(path, keep_default_na=False, dtype={"type": str})
