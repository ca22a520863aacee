"""The files of ablations: scores of each question, and intervals."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.table_files import read_parquet, table_reader
from headtypes.data.tasks import METRICS, SIZES, Metric


def metrics_in(scores: pd.DataFrame) -> list[Metric]:
    return [metric for metric in METRICS.values() if metric.column in scores]


def sizes_in(scores: pd.DataFrame) -> np.ndarray | None:
    """Return the number of tokens that each row of scores sums over, [row]; None if every row counts once."""
    return scores[SIZES].to_numpy(float) if SIZES in scores else None


def read_scores(paths: Sequence[StrPath]) -> list[pd.DataFrame]:
    """Return the tables of scores of each question of one model, a table for each path; each path is of one condition.

    Raises `InputError` that names a file that is damaged, or whose questions are not those of the first file, in order.
    """
    read = [read_parquet(path, "holds no scores", ["id"]) for path in paths]
    for path, scores in zip(paths, read, strict=True):
        if not scores["id"].equals(read[0]["id"]):
            raise InputError(f"{path} and {paths[0]} have different questions; delete both and run again.")
    return read


# Of the table of `intervals.condition_intervals`.
read_intervals = table_reader("holds no intervals", {"condition": str})
read_differences = table_reader("holds no differences of conditions", {"condition": str, "other": str, "low": float})
