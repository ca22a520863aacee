"""What a model's scores are called, which way is better, and what each is a mean over."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

# Of a table of scores: over how many tokens the sums of a row are. Where it lacks this column, every row counts once.
SIZES = "tokens"


@dataclass(frozen=True)
class Metric:
    """One measure of how well a model does.

    A *drop* is what something costs: how much the metric falls, or, of one that is better when it is lower, how much it
    rises. A positive drop is always for the worse.

    name:   in files; column: of a table of scores, with a row for each question, pair or document. The metric is the
        mean of the column or, where the table has `SIZES`, the column's sum divided by the sum of these.
    words, label: in a sentence, and above a column.
    unit, steps: of the metric, and of a difference of two.
    better: the better side.
    decimals: that are shown of it.
    """

    name: str
    column: str
    words: str
    label: str
    unit: str = "%"
    steps: str = "points"
    better: Literal["higher", "lower"] = "higher"
    decimals: int = 2

    @property
    def change(self) -> str:
        """What a change for the worse is called."""
        return "drop" if self.better == "higher" else "rise"

    def drop(self, before, after):
        """What is lost from one value to another, numbers or arrays of them; positive if it is for the worse."""
        return before - after if self.better == "higher" else after - before


METRICS = {
    metric.name: metric
    for metric in (
        Metric("exact_match", "exact_match", "exact match", "EM"),
        Metric("f1", "f1", "F1", "F1"),
        Metric("accuracy", "correct", "accuracy", "Acc."),
        Metric("accuracy_normalised", "correct_normalised", "normalised accuracy", "Acc. norm."),
        Metric("loss", "loss", "loss", "Loss", "nats per token", "nats per token", "lower", 3),
    )
}


def metrics_in(scores: pd.DataFrame) -> list[Metric]:
    """The metrics that a table of scores has a column for."""
    return [metric for metric in METRICS.values() if metric.column in scores]


def sizes_in(scores: pd.DataFrame) -> np.ndarray | None:
    """Over how many tokens each row of a table of scores is a sum, [row]; None where every row counts once."""
    return scores[SIZES].to_numpy(float) if SIZES in scores else None
