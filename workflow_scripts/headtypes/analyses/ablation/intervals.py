"""Intervals of a model's scores under all conditions of a partition, from the scores of each question."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.results import metrics_in, read_scores, sizes_in
from headtypes.core.statistics import (
    ALPHA,
    FEW,
    RESAMPLES,
    bounds,
    effective_units,
    exact_ends,
    mean_over,
    p_of_ends,
    p_of_side,
    resampled_means,
    score_intervals,
    sums_by_unit,
)
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.metrics import METRICS, counted_by

# Of fewer articles that differ, the bootstrap tells too little even with a smaller p-value.
_FEW_ARTICLES = 8


class WeightedSum(NamedTuple):
    """A weighted sum of mean scores, its interval (NaN if it has none), and its p-values.

    p_value: by a limit and the side of it ("above" or "below") on which the sum is claimed to be
    (`statistics.p_of_side`).
    over: what both are over; units: how many of equal size these count as, or articles that differ, if that is less.
    """

    value: float
    low: float
    high: float
    p_value: Callable[[float, str], float] | None
    over: str
    units: float


def condition_intervals(
    scores: Sequence[pd.DataFrame], *, conditions: Sequence[str], baseline: str | None, seed: int
) -> pd.DataFrame:
    """The mean of every metric under every condition, and its drop from the baseline, with intervals.

    scores: of each question, one table per condition.
    returns one row per condition, in their order: condition, and the columns of `statistics.score_intervals`. (The F1
        of sentence pairs is not a mean over pairs, so it has no interval.)
    """
    index = None if baseline is None else list(conditions).index(baseline)
    rising = [metric.name for metric in METRICS.values() if not metric.higher_is_better]
    of = {"articles": _articles(scores[0]), "sizes": sizes_in(scores[0]), "rising": rising}
    table = score_intervals(_by_metric(scores), baseline=index, **of, seed=seed)
    table.insert(0, "condition", conditions)
    return table


def weighted_sums(scores: Mapping[str, pd.DataFrame], *, seed: int) -> Callable[..., WeightedSum]:
    """A function of {condition: weight}, a metric, and whether the interval decides a claim: the sum of their means.

    scores: of each question, by condition. All sums use the same drawn articles, since questions of one article are not
    independent, or, without articles, the same questions. For a claim, an interval of scores in percent that hardly
    differ is at least as wide as the exact one (`statistics.exact_ends`).
    """
    index, tables = {condition: number for number, condition in enumerate(scores)}, list(scores.values())
    articles, of_rows, means, resampled, of_units = _articles(tables[0]), sizes_in(tables[0]), {}, {}, {}
    over = counted_by(metrics_in(tables[0])) if articles is None else "articles"
    for metric, values in _by_metric(tables).items():
        sums, sizes = sums_by_unit(values.T, articles, of_rows)
        means[metric], of_units[metric] = mean_over(values, of_rows), sums / sizes[:, None]
        # One unit says nothing about others.
        resampled[metric] = resampled_means(sums, sizes, seed=seed, resamples=RESAMPLES) if len(sizes) > 1 else None

    def interval(weights: Mapping[str, float], metric: str, for_claim: bool = True) -> WeightedSum:
        vector = np.zeros(len(index))
        for condition, weight in weights.items():
            vector[index[condition]] = weight
        value = float(means[metric] @ vector)
        if resampled[metric] is None:
            return WeightedSum(value, np.nan, np.nan, None, over, 1)
        # Rounded, so that draws at a limit stay there in spite of floating-point errors, as the ends do in verdicts.
        drawn = (resampled[metric] @ vector).round(9)
        low, high = map(float, bounds(drawn, sizes))

        def p_of_drawn(limit: float, side: str) -> float:
            return float(p_of_side(drawn, sizes, limit, side))

        ends, units, of_unit = None, effective_units(sizes), of_units[metric] @ vector
        few = FEW if articles is None else min(_FEW_ARTICLES, len(sizes) / 2)
        if for_claim and METRICS[metric].unit == "%":
            lowest, highest = (100 * pick(vector, 0).sum() for pick in (np.minimum, np.maximum))
            ends = exact_ends(of_unit, lowest, highest, few)
        if ends is None:
            if articles is not None:
                _, counts = np.unique(of_unit.round(9), return_counts=True)
                units = min(units, len(sizes) - counts.max())
            return WeightedSum(value, low, high, p_of_drawn, over, units)
        exact_low, exact_high = ends(ALPHA)

        def p_value(limit: float, side: str) -> float:
            return max(p_of_drawn(limit, side), p_of_ends(ends, limit, side))

        # What is exact is so over few units, too.
        return WeightedSum(value, min(low, exact_low), max(high, exact_high), p_value, over, np.inf)

    return interval


def _by_metric(scores: Sequence[pd.DataFrame]) -> dict[str, np.ndarray]:
    """[condition, question] of each metric that the tables have."""
    return {metric.name: np.stack([table[metric.column] for table in scores]) for metric in metrics_in(scores[0])}


def _articles(scores: pd.DataFrame) -> np.ndarray | None:
    return scores["article"].to_numpy() if "article" in scores else None


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `measure_intervals`."""
    scores = read_scores(list(inputs.scores.values()))
    write_csv(outputs.intervals, condition_intervals(scores, conditions=list(inputs.scores), **spec))
