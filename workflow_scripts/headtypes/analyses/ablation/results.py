"""The files of ablations: scores, their metrics and intervals, curves, the importance of heads, mean head outputs."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, undamaged
from headtypes.core.hdf5_files import add_data, new_result, opened_result
from headtypes.core.table_files import read_csv, read_parquet, write_parquet
from headtypes.data.kinds.metrics import METRICS, SIZES, Metric


def metrics_in(scores: pd.DataFrame) -> list[Metric]:
    """The metrics that a table of scores has a column for."""
    return [metric for metric in METRICS.values() if metric.column in scores]


def sizes_in(scores: pd.DataFrame) -> np.ndarray | None:
    """Over how many tokens each row of a table of scores is a sum, [row]; None where every row counts once."""
    return scores[SIZES].to_numpy(float) if SIZES in scores else None


def write_scores(path: StrPath, scores: pd.DataFrame, provenance: dict) -> None:
    """Write a table of scores with its provenance as a Parquet file with checksums."""
    scores.attrs["provenance"] = provenance
    write_parquet(path, scores)


def read_scores(paths: Sequence[StrPath]) -> list[pd.DataFrame]:
    """Read the scores of each question for one model under several conditions.

    Raises an `InputError` that names a file that is damaged, or that does not have the first file's questions in the
    same order.
    """
    read = [read_parquet(path, "holds no scores", ["id"]) for path in paths]
    for path, scores in zip(paths, read, strict=True):
        if not scores["id"].equals(read[0]["id"]):
            raise InputError(f"{path} and {paths[0]} have different questions; delete both and run again.")
    return read


def read_intervals(path: StrPath) -> pd.DataFrame:
    """Read the table of `intervals.condition_intervals`. Raises `InputError` that names a damaged file."""
    # A name may be a number, or what pandas takes for a missing value.
    kinds = {"condition": str}
    return read_csv(path, "holds no intervals", kinds, dtype=kinds, keep_default_na=False, na_values=[""])


def read_curves(path: StrPath) -> pd.DataFrame:
    """Read the table of `curves.evaluate_curves`. Raises `InputError` that names a damaged file."""
    kinds = {"type": str, "order": str, "draw": int, "heads": int}
    return read_csv(path, "holds no curves", kinds, dtype=kinds, keep_default_na=False)


def read_importance(path: StrPath) -> np.ndarray:
    """The normalised importance in a CSV of `importance.measure_importance`'s table: [layer, head].

    Raises `InputError` that names a damaged file.
    """
    kinds, otherwise = {"layer": int, "head": int, "normalised": float}, "holds no importance of heads"
    table = read_csv(path, otherwise, kinds, dtype=kinds).sort_values(["layer", "head"])
    with undamaged(path, otherwise):
        return table["normalised"].to_numpy().reshape(table["layer"].max() + 1, -1)


def write_head_outputs(path: StrPath, head_outputs: np.ndarray, provenance: dict) -> None:
    """Write mean head outputs as a whole HDF5 file with a checksum, and what made them."""
    with new_result(path, provenance) as file:
        add_data(file, "head_output", head_outputs)


def read_head_outputs(path: StrPath | None) -> np.ndarray | None:
    """Read what `write_head_outputs` wrote: [layer, head, channel] float32; None where no path is given.

    Raises `InputError` for a damaged file.
    """
    if not path:
        return None
    with opened_result(path, "holds no mean head outputs") as file:
        return file["head_output"][:]
