"""The accuracies of heads and baselines at antecedents, as CSV."""

import pandas as pd

from headtypes.core.files import StrPath
from headtypes.core.table_files import read_csv

COLUMNS = (
    "system",
    "candidates",
    "type",
    "chosen",
    "layer",
    "head",
    "mentions",
    "documents",
    "accuracy",
    "low",
    "high",
)


def read_coreference(path: StrPath) -> pd.DataFrame:
    """Read what `accuracy.measure_coreference` found. Raises `InputError` that names a damaged file."""
    return read_csv(path, "holds no accuracies at antecedents", COLUMNS)
