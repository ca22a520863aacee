"""What sets of heads cost: how much worse a model does without them, from the scores of each question."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.metrics import metrics_in, sizes_in
from headtypes.analyses.effects.regression import Costs, Removed
from headtypes.attention.operations import head_of


class Draws(NamedTuple):
    """Random sets of heads, and what each costs every question.

    removed: [draw, head], heads layer by layer. costs: by metric, drops from no heads left out, [draw, question], in
    its steps; of a loss, so scaled that their mean over questions is the rise per token.
    """

    removed: Removed
    costs: Mapping[str, Costs]


def costs_of(scores: pd.DataFrame, layers: int, heads: int) -> Draws:
    """What each draw of `draws.evaluate_subsets` costs. layers, heads: of the model, and of a layer."""
    removed = np.zeros((scores["draw"].nunique(), layers, heads), bool)
    for of_draw, names in zip(removed, scores.drop_duplicates("draw")["removed"], strict=True):
        for name in names.split():
            of_draw[head_of(name)] = True
    by_draw = [of_draw for _, of_draw in scores.groupby("draw")]
    costs = {name: np.stack(values) for name, values in drops_of(by_draw[1:], by_draw[0]).items()}
    return Draws(removed[1:].reshape(len(removed) - 1, -1), costs)


def drops_of(tables: list[pd.DataFrame], baseline: pd.DataFrame) -> dict[str, list[np.ndarray]]:
    """By metric, the drop of each question in each table of scores from the baseline; as in `Draws`."""
    sizes = sizes_in(baseline)
    scale = 1 if sizes is None else len(sizes) / sizes.sum()
    return {
        metric.name: [
            scale * metric.drop(*(of[metric.column].to_numpy(float) for of in (baseline, scores))) for scores in tables
        ]
        for metric in metrics_in(baseline)
    }
