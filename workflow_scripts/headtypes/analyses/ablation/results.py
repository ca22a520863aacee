"""The files of ablations: scores, their metrics and intervals, and mean head outputs."""

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
    """Return the number of tokens that each row of a table of scores sums over, [row]; None where every row counts
    once.
    """
    return scores[SIZES].to_numpy(float) if SIZES in scores else None


def read_scores(paths: Sequence[StrPath]) -> list[pd.DataFrame]:
    """Read the scores of each question for one model under several conditions.

    Raises `InputError` that names a file that is damaged, or whose questions are not those of the first, in its order.
    """
    read = [read_parquet(path, "holds no scores", ["id"]) for path in paths]
    for path, scores in zip(paths, read, strict=True):
        if not scores["id"].equals(read[0]["id"]):
            raise InputError(f"{path} and {paths[0]} have different questions; delete both and run again.")
    return read


# Of the table of `intervals.condition_intervals`.
read_intervals = table_reader("holds no intervals", {"condition": str})
read_differences = table_reader("holds no differences of conditions", {"condition": str, "other": str, "low": float})
