"""The cost of a condition beside the same operations on random heads of the same layers, on the same questions."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.results import metrics_in, sizes_in
from headtypes.core.files import StrPath
from headtypes.core.statistics import mean_intervals, mean_over
from headtypes.core.table_files import read_parquet
from headtypes.data.tasks import Metric, tested_metric


class DropsOfDraws(NamedTuple):
    """Drops of one score, named as in `METRICS`, of a condition and of its random heads (draws: [draw]).

    own, low, high: the condition's drop, with its interval over questions; overlap: the mean share of the drawn
    heads that are the condition's own.
    """

    metric: str
    own: float
    low: float
    high: float
    draws: np.ndarray
    overlap: float


def control_drops(controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame) -> dict[str, float | int]:
    """Return drops from the baseline (`tasks.Metric`) of a condition and its controls, on the controls' questions.

    controls: scores of each draw and question, as `controls.evaluate_controls` returns them.
    scores, baseline: scores of each question under the condition and the baseline, of at least the controls' questions.

    The keys are control_draws, control_questions, control_overlap (mean share of the drawn heads that are the
    condition's
    own); for each metric control_drop_{metric}: the mean over the draws, with the lowest and the highest as _low and
    _high; own_drop_{metric}: the condition's own drop.
    """
    metrics, lost, own_lost, sizes = lost_answers(controls, scores, baseline)
    found = {
        "control_draws": lost.shape[1],
        "control_questions": lost.shape[2],
        "control_overlap": _overlap(controls),
    }
    for metric, of_draws, of_own in zip(metrics, lost, own_lost, strict=True):
        drops, name = mean_over(of_draws, sizes), f"control_drop_{metric.name}"
        found |= {name: float(drops.mean()), f"{name}_low": float(drops.min()), f"{name}_high": float(drops.max())}
        found[f"own_drop_{metric.name}"] = float(mean_over(of_own, sizes))
    return found


def lost_answers(
    controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame
) -> tuple[list[Metric], np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the losses on the controls' questions: the metrics; [metric, draw, question] the cost of random heads;
    [metric,
    question] that of the condition; and the questions' sizes (`sizes_in`), where they have any.
    """
    controls = controls.sort_values(["draw", "id"])
    draws, asked = controls["draw"].nunique(), controls["id"].unique()
    own, undisturbed = (table.set_index("id").loc[asked] for table in (scores, baseline))
    metrics = metrics_in(controls)
    columns = [metric.column for metric in metrics]
    before, after = (table[columns].to_numpy().T for table in (undisturbed, own))
    lost = before[:, None] - controls[columns].to_numpy().T.reshape(len(columns), draws, len(asked))
    # For the worse is positive.
    signs = np.array([metric.drop(1, 0) for metric in metrics])
    return metrics, signs[:, None, None] * lost, signs[:, None] * (before - after), sizes_in(own)


def read_scored(controls: StrPath, scores: StrPath, baseline: StrPath) -> tuple[pd.DataFrame, ...]:
    return tuple(read_parquet(path, "holds no scores", ["id"]) for path in (controls, scores, baseline))


def read_drops_of_draws(controls: StrPath, scores: StrPath, baseline: StrPath) -> DropsOfDraws:
    """Read the drops of a task's `tested_metric` beside heads of the same layers, from the files of `control_drops`."""
    controls, *own = read_scored(controls, scores, baseline)
    metrics, lost, own_lost, sizes = lost_answers(controls, *own)
    metric = tested_metric([metric.name for metric in metrics])
    lost, own_lost = lost[metrics.index(metric)], own_lost[metrics.index(metric)]
    low, high = mean_intervals(own_lost, sizes=sizes, reach=metric.reach)
    value, drops = float(mean_over(own_lost, sizes)), mean_over(lost, sizes)
    return DropsOfDraws(metric.name, value, float(low), float(high), drops, _overlap(controls))


def _overlap(controls: pd.DataFrame) -> float:
    return float(controls.groupby("draw")["overlap"].first().mean())
