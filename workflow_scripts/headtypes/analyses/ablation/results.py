"""The files of ablations: scores, their metrics and intervals, and mean head outputs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float32

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.table_files import read_parquet, table_reader, write_parquet
from headtypes.data.tasks import METRICS, SIZES, Metric


def metrics_in(scores: pd.DataFrame) -> list[Metric]:
    return [metric for metric in METRICS.values() if metric.column in scores]


def sizes_in(scores: pd.DataFrame) -> np.ndarray | None:
    """Return the number of tokens that each row of a table of scores sums over, [row]; None where every row counts
    once.
    """
    return scores[SIZES].to_numpy(float) if SIZES in scores else None


def write_scores(path: StrPath, scores: pd.DataFrame, provenance: dict) -> None:
    scores.attrs["provenance"] = provenance
    write_parquet(path, scores)


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


@dataclass(frozen=True)
class HeadOutputs:
    """The mean output of each head, for the operation `mean` (`head_outputs.measure_head_outputs`)."""

    head_output: Float32[np.ndarray, "layer head channel"]


def read_head_outputs(path: StrPath | None) -> np.ndarray | None:
    """Read the mean head outputs of a file, [layer, head, channel] float32; None where no path is given."""
    return read_arrays(path, HeadOutputs).head_output if path else None
