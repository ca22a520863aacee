"""The files of effects: scores of random sets of heads, and the tables that are made of them."""

import pandas as pd

from headtypes.core.files import StrPath
from headtypes.core.table_files import read_csv, read_parquet

_TESTED = ("draws", "effect", "low", "high", "p", "corrected_p")
COLUMNS = {
    "heads": ("metric", "layer", "head", *_TESTED, "weight"),
    "draws": ("metric", "draw", "heads", "cost", "predicted"),
    "fit": ("metric", "draws", "questions", "intercept", "r2", "r2_low", "r2_high"),
    "cheapest": (
        "metric",
        "heads",
        "cost",
        "cost_low",
        "cost_high",
        "predicted",
        "random",
        "random_low",
        "random_high",
    ),
}


def read_subsets(path: StrPath) -> pd.DataFrame:
    """Read what `draws.evaluate_subsets` returned. Raises `InputError` that names a damaged file."""
    return read_parquet(path, "holds no scores of sets of heads", ["draw", "removed", "id"])


def read_effects(path: StrPath, table: str) -> pd.DataFrame:
    """Read one of the tables in `COLUMNS`, which `measure.Tables` or `draws.evaluate_cheapest` describes.

    Raises `InputError` that names a damaged file.
    """
    return read_csv(path, "holds no effects of heads", COLUMNS[table])
