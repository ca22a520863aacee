"""What a condition costs, compared with the same operations on random heads, on the same questions."""

from pathlib import Path

import pandas as pd

from headtypes.ablation.intervals import METRICS
from headtypes.base.table_files import read_parquet


def control_drops(controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame) -> dict[str, float | int]:
    """Drops from the baseline, in points, of a condition and of its controls.

    controls: scores of each draw and question, as `controls.evaluate_controls` returns them.
    scores, baseline: scores of each question under the condition and the baseline, of at least the controls' questions.
    returns control_draws, control_questions, control_overlap (mean share of the drawn heads that are the condition's
        own, 0 to 1); for each metric control_drop_{metric}, the mean over the draws, with the lowest and the highest as
        _low and _high; and own_drop_{metric}, the condition's own drop on these questions.
    """
    by_draw = controls.groupby("draw")
    asked = by_draw.get_group(0)["id"]
    drops_of = {
        "control_draws": len(by_draw),
        "control_questions": len(asked),
        "control_overlap": float(by_draw["overlap"].first().mean()),
    }
    own, undisturbed = (table.set_index("id").loc[asked] for table in (scores, baseline))
    for column, metric in METRICS.items():
        if column in controls:
            before = undisturbed[column].mean()
            drops = before - by_draw[column].mean()
            name = f"control_drop_{metric}"
            drops_of |= {
                name: float(drops.mean()),
                f"{name}_low": float(drops.min()),
                f"{name}_high": float(drops.max()),
            }
            drops_of[f"own_drop_{metric}"] = float(before - own[column].mean())
    return drops_of


def read_control_drops(controls: str | Path, scores: str | Path, baseline: str | Path) -> dict[str, float | int]:
    """Call `control_drops` with the scores of each question, read from files."""
    return control_drops(*(read_parquet(path, "holds no scores", ["id"]) for path in (controls, scores, baseline)))
