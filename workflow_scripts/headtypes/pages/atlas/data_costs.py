"""What leaving heads out costs, and what other analyses call single heads."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from headtypes.analyses.ablation.intervals import read_intervals
from headtypes.analyses.ablation.metrics import METRICS
from headtypes.core.table_files import read_csv
from headtypes.pages.atlas.data_columns import rounded

_DIRECTIONS = {"dependent_to_head": "from dependent to head", "head_to_dependent": "from head to dependent"}
_WORDS = re.compile("_")


def costs_of(path: str | Path, partition: str, conditions: Mapping[str, Mapping[str, str]]) -> list[dict]:
    """The drop of each metric under each condition that changes something, with its 95 % interval (`metrics.Metric`).

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
            "drops": [{"metric": metric.words, **_interval(row, f"drop_{metric.name}")} for metric in metrics],
        }
        for row in table.to_dict("records")
        if conditions.get(row["condition"])
    ]


def best_heads(found: Mapping[str, Sequence[tuple[str, str | Path]]], heads: int) -> list[dict]:
    """What heads are best at: the place of the head, layer by layer, and a phrase for each relation and mention."""
    names = []
    for task, path in found.get("best_heads", ()):
        table = read_csv(path, "holds no best heads", ("relation", "chosen", "scored", "layer", "head", "direction"))
        chosen = table[(table["chosen"] == "file") & (table["scored"] == "file")].dropna(subset=["layer", "head"])
        for row in chosen.to_dict("records"):
            what = f"best head of {task} for {row['relation']}, {_DIRECTIONS[row['direction']]}"
            name = {"head": int(row["layer"]) * heads + int(row["head"]), "name": what}
            names.append({**name, "value": rounded(row["accuracy"]), "above": rounded(row["above_offset"])})
    for task, path in found.get("coreference", ()):
        table = read_csv(path, "holds no accuracies of coreference", ("system", "type", "layer", "head", "accuracy"))
        chosen = table[table["system"].str.startswith("best_head") & (table["chosen"] == "documents")]
        for row in chosen.dropna(subset=["layer", "head"]).to_dict("records"):
            what = f"best head of {task} at antecedents, mentions: {row['type']}, candidates: {row['candidates']}"
            name = {"head": int(row["layer"]) * heads + int(row["head"]), "name": what}
            names.append({**name, "value": rounded(row["accuracy"]), "above": None})
    return list({(name["head"], name["name"]): name for name in names}.values())


def _interval(row: Mapping, name: str) -> dict:
    ends = (row.get(f"{name}_{end}") for end in ("low", "high"))
    low, high = (None if pd.isna(end) else rounded(end) for end in ends)
    return {"drop": rounded(row[name]), "low": low, "high": high}
