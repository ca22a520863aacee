"""The metrics that a table of scores has, and what each is a mean over."""

import numpy as np
import pandas as pd

from headtypes.data.kinds.metrics import METRICS, SIZES, Metric


def metrics_in(scores: pd.DataFrame) -> list[Metric]:
    """The metrics that a table of scores has a column for."""
    return [metric for metric in METRICS.values() if metric.column in scores]


def sizes_in(scores: pd.DataFrame) -> np.ndarray | None:
    """Over how many tokens each row of a table of scores is a sum, [row]; None where every row counts once."""
    return scores[SIZES].to_numpy(float) if SIZES in scores else None
