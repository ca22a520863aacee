"""The cost of any set of heads, predicted from those of random sets: component attribution (Shah et al. 2024).

Heads are left out at random, each with the same probability and whatever else is left out, so that the draws are an
experiment: the mean effect of a head is estimated without a bias, however the costs of heads depend on one another.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import stdtr, stdtrit
from sklearn.linear_model import Ridge, RidgeCV

from headtypes.core.statistics import LEVEL, RESAMPLES, bounds, draw_units, holm

Removed = Bool[np.ndarray, "draw head"]
Costs = Float[np.ndarray, "draw question"]

_FOLDS = 10
_PENALTIES = np.geomspace(0.01, 1000, 26)
# The least number of draws that leave out both heads of a pair that is tested.
LEAST = 8


class Effects(NamedTuple):
    """What leaving out a head, or both of a pair beyond either alone, costs on average: [head] or [pair] each.

    draws: how many leave it out, or both. effect, low, high: with its 95 % interval; p: two-sided, of no effect, and
    corrected for their number (`statistics.holm`). NaN where fewer than two draws leave it out.
    """

    draws: np.ndarray
    effect: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    corrected_p: np.ndarray


class HeldOut(NamedTuple):
    """What the regression predicts of each draw from the draws of other folds, and its weights in each fold.

    predicted: [draw, question]. weights: [fold, question, column]. fold: [draw] of each.
    """

    predicted: Costs
    weights: np.ndarray
    fold: np.ndarray


def fit(columns: np.ndarray, costs: Costs) -> Ridge:
    """Ridge regression of each question's cost on what is left out; the penalty is that of the mean cost.

    columns: [draw, column] 0 or 1. The penalty is chosen by leaving out one draw at a time. The mean of the questions'
    regressions is the regression of their mean.
    """
    alpha = RidgeCV(_PENALTIES).fit(columns, costs.mean(1)).alpha_
    return Ridge(alpha).fit(columns, costs)


def held_out(columns: np.ndarray, costs: Costs) -> HeldOut:
    """Predict every draw by the regression of the draws of the other folds, penalties included."""
    fold = np.arange(len(costs)) % min(_FOLDS, len(costs))
    predicted, weights = np.empty_like(costs), []
    for number in range(fold.max() + 1):
        regression = fit(columns[fold != number], costs[fold != number])
        predicted[fold == number] = regression.predict(columns[fold == number])
        weights.append(regression.coef_)
    return HeldOut(predicted, np.array(weights), fold)


def explained(costs: Costs, *predictions: Costs, seed: int) -> list[tuple[float, float, float]]:
    """R² of predictions of the draws' mean costs, and of what each adds to the one before, with 95 % intervals.

    Draws and questions are drawn again, independently of one another; the regressions are taken as they are.
    """
    draws, questions = costs.shape
    every = np.ones((1, questions)), np.ones((1, draws))
    again = (
        np.concatenate(list(draw_units(size, RESAMPLES, seed + axis))) for axis, size in enumerate((questions, draws))
    )
    found = []
    for of_questions, of_draws in (every, tuple(again)):
        of_draws = of_draws / draws
        measured, *predicted = (values @ of_questions.T / questions for values in (costs, *predictions))
        mean = (of_draws.T * measured).sum(0)
        spread = (of_draws.T * (measured - mean) ** 2).sum(0)
        errors = np.array([(of_draws.T * (measured - each) ** 2).sum(0) for each in predicted])
        # Of draws that all cost the same, nothing can be explained.
        found.append(1 - np.divide(errors, spread, out=np.full_like(errors, np.nan), where=spread > 0))
    (value, drawn), few = (np.diff(each, axis=0, prepend=0) for each in found), np.ones(min(draws, questions))
    return [(float(of[0]), *map(float, bounds(again, few))) for of, again in zip(value, drawn, strict=True)]


def head_effects(removed: Removed, costs: Costs, found: HeldOut, share: float) -> Effects:
    """The mean effect of leaving out each head, where every other head is left out with probability `share`.

    found: of `held_out` on the heads alone. To a head's weight in the regression of the other folds comes what it
    explains of the rest: augmented inverse probability weighting (Robins, Rotnitzky and Zhao 1994), cross-fitted. The
    regression makes it precise; that heads are drawn independently keeps it unbiased, whether the regression holds or
    not.
    """
    contrast, rest = _contrast(removed, share), costs - found.predicted
    singly = (found.weights[found.fold, :, head] + of[:, None] * rest for head, of in enumerate(contrast.T))
    return _effects(singly, removed.sum(0))


def pair_effects(removed: Removed, costs: Costs, found: HeldOut, share: float) -> tuple[np.ndarray, Effects]:
    """What leaving out two heads costs beyond the sum of either alone: as `head_effects`, and the pairs, [pair, 2].

    Only of pairs that at least `LEAST` draws leave out.
    """
    both = removed.T.astype(int) @ removed
    pairs = np.array([pair for pair in combinations(range(len(both)), 2) if both[pair] >= LEAST], int).reshape(-1, 2)
    one, other = pairs.T
    contrast, rest = _contrast(removed, share).T, costs - found.predicted
    return pairs, _effects(((contrast[a] * contrast[b])[:, None] * rest for a, b in pairs), both[one, other])


def with_pairs(removed: Removed, pairs: np.ndarray) -> np.ndarray:
    """Heads, and beside them the pairs, of which both are left out: [draw, column] bool."""
    return np.hstack([removed, removed[:, pairs[:, 0]] & removed[:, pairs[:, 1]]])


def _contrast(removed: Removed, share: float) -> np.ndarray:
    """Numbers of mean zero, whose product with a cost has the head's effect as its mean."""
    return (removed - share) / (share * (1 - share))


def _effects(singly: Iterable[Costs], left_out: np.ndarray) -> Effects:
    """Means of what every draw and question says of each head or pair, which as many draws leave out: [column] each."""
    found = np.array([_mean_over_both(values, draws) for values, draws in zip(singly, left_out, strict=True)])
    effect, error, freedom = found.reshape(-1, 3).T
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(error == 0, 1.0 * (effect == 0), 2 * stdtr(freedom, -np.abs(effect / error)))
    reach = np.where(error == 0, 0, stdtrit(freedom, (1 + LEVEL) / 2) * error)
    return Effects(left_out, effect, effect - reach, effect + reach, p, holm(p))


def _mean_over_both(values: Costs, left_out: int) -> tuple[float, float, float]:
    """The mean of values [draw, question] of which both are a sample, its standard error, and degrees of freedom.

    The variance is that of the draws' means and that of the questions', less that of single values, which both contain
    (Cameron, Gelbach and Miller 2011); no less than either. Degrees of freedom as Welch and Satterthwaite combine them,
    of the questions, and of half of the draws that leave the head out: costs are skewed, so that with all of them too
    many heads would be told from zero (9 % of models instead of 5 in simulations).
    """
    mean, by_draw, by_question = values.mean(), values.mean(1), values.mean(0)
    if left_out < 2:
        return mean, np.nan, np.nan
    over = np.array([means.var(ddof=1) / len(means) for means in (by_draw, by_question)])
    alone = ((values - by_draw[:, None] - by_question + mean) ** 2).sum()
    alone /= values.size * (len(by_draw) - 1) * (len(by_question) - 1)
    degrees = np.array([left_out / 2, len(by_question) - 1])
    freedom = over.sum() ** 2 / max((over**2 / degrees).sum(), np.finfo(float).tiny)
    return mean, np.sqrt(max(over.sum() - alone, *over)), freedom
