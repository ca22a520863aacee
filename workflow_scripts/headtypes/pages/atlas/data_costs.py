"""What changing heads costs, and what other analyses call single heads."""

from collections.abc import Mapping

import pandas as pd

from headtypes.analyses.ablation.results import read_intervals
from headtypes.analyses.per_head import rounded
from headtypes.analyses.registry import ANALYSES
from headtypes.core.files import StrPath
from headtypes.data.kinds.metrics import METRICS
from headtypes.pages.atlas.found import Found, of_each_task


def costs_of(path: StrPath, partition: str, conditions: Mapping[str, Mapping[str, str]]) -> list[dict]:
    """The drop of each metric under each condition that changes something, with its 95 % interval (`Metric`).

    path: of the intervals of a partition; conditions: {type or head: operation} of each. A condition evaluated under a
        further reading is left out.
    """
    table = read_intervals(path)
    metrics = [metric for metric in METRICS.values() if f"drop_{metric.name}" in table]
    return [
        {
            "partition": partition,
            "condition": row["condition"],
            "operations": dict(conditions[row["condition"]]),
            "drops": [{"metric": metric.title, **_interval(row, f"drop_{metric.name}")} for metric in metrics],
        }
        for row in table.to_dict("records")
        if conditions.get(row["condition"])
    ]


def best_heads(found: Found, heads: int) -> list[dict]:
    """What heads are best at: the index of the head, layer by layer, and a phrase for each relation and mention."""
    names = {}
    for analysis in filter(lambda it: it.best, ANALYSES):
        for task, *paths in of_each_task(analysis, found):
            for best in analysis.best(task, *paths):
                head = int(best["layer"]) * heads + int(best["head"])
                numbers = {name: rounded(best[name]) for name in ("value", "above")}
                names[head, best["name"]] = {"head": head, "name": best["name"], **numbers}
    return list(names.values())


def _interval(row: Mapping, name: str) -> dict:
    ends = (row.get(f"{name}_{end}") for end in ("low", "high"))
    low, high = (None if pd.isna(end) else rounded(end) for end in ends)
    return {"drop": rounded(row[name]), "low": low, "high": high}
