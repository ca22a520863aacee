"""What it costs to leave out one type alone, as every part of the page has it."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from headtypes.data.kinds.metrics import METRICS, Metric, tested_metric


class LeftOut(NamedTuple):
    """The cost of an operation on one type alone, by one metric.

    costs: by type, condition, heads, drop, its interval (low, high), and random, the drop without as many other heads;
        NaN where there is none. whole: the score of the whole model.
    """

    costs: pd.DataFrame
    metric: Metric
    whole: float

    def text(self, number: float) -> str:
        """Write a score or a drop as every part of the page does."""
        return f"{number:z.{self.metric.decimals - 1}f}"

    def sentence(self, without: str, type_: str, model: str) -> str:
        """Say how much of its score the model loses without a type's heads, or a part of them; no full stop."""
        without = f"Without {without} {self.costs.loc[type_, 'heads']:.0f} {type_} heads"
        drop, lower = self.costs.loc[type_, "drop"], self.costs.loc[type_, "drop"] < 0
        amount, whole, steps, title = self.text(abs(drop)), self.text(self.whole), self.metric.steps, self.metric.title
        if not self.metric.higher_is_better:
            return f"{without} the {title} of {model} {'falls' if lower else 'rises'} {amount} {steps} from {whole}"
        if lower:
            return f"{without} {model} gains {amount} {steps} of {title} beside {whole}"
        return f"{without} {model} loses {amount} of its {whole} {steps} of {title}"


def left_out_alone(
    table: pd.DataFrame, model: str, partition: str, types: Sequence[str], operation: str = "zero"
) -> LeftOut | None:
    """Return the cost of an operation on each type alone; None where it was not evaluated.

    table: Guan's Table 2 or 3 as CSV; types: those of the partition.
    """
    rows = table[(table["model"] == model) & (table["partition"] == partition)]
    named = rows[[column for column in rows if column.startswith("operation_")]]
    # A partition that nothing was done to may have types that the table has not.
    done = named.reindex(columns=[f"operation_{name}" for name in types]) == operation
    alone = done.any(axis=1) & (named.notna().sum(axis=1) == 1)
    known = [name for name in METRICS if name in rows and rows.loc[alone, f"drop_{name}"].notna().any()]
    if not known:
        return None
    metric, rows = tested_metric(known), rows[alone]
    drop = f"drop_{metric.name}"
    costs = rows.reindex(columns=["condition", "heads", drop, f"{drop}_low", f"{drop}_high", f"control_{drop}"])
    costs = costs.set_axis(["condition", "heads", "drop", "low", "high", "random"], axis=1)
    whole = (rows[metric.name] + (1 if metric.higher_is_better else -1) * costs["drop"]).iloc[0]
    of = done[alone].idxmax(axis=1).str.removeprefix("operation_")
    return LeftOut(costs.set_axis(of, axis=0), metric, float(whole))
