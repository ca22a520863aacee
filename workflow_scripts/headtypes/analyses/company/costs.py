"""The cost of each head in random company: least squares of the losses of sets on the heads that are away."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from headtypes.analyses.company.results import LOSS, Company
from headtypes.core.errors import InputError
from headtypes.core.heads import head_name, per_head
from headtypes.core.statistics import ALPHA, holm, ratio_intervals

# With fewer sets than so many for each head, costs are shrunk as far as sets that are held out say.
_SETS_PER_HEAD = 3
_PENALTIES = np.array([0.0, *np.logspace(-1, 3, 21)])
_FOLDS = 10
# Heads among which pairs are looked for: the costliest and the cheapest, by standard errors; and permutations.
_PAIRED, _PERMUTATIONS = 24, 999
# Sets without both heads, of which a pair's effect takes at least so many: in a single set all its pairs are alike.
_LEAST_SETS = 3


class Fit(NamedTuple):
    """Costs by least squares, or by ridge.

    effects: [head]; errors: their standard errors over sets; freedom: of the residuals; operator: [head, set], which
    makes effects of what sets lose; penalty: 0 for least squares; adjusted: R2 of the sets, adjusted; held_out: R2 of
    sets that the fit has not seen, in ten parts.
    """

    effects: np.ndarray
    errors: np.ndarray
    freedom: float
    operator: np.ndarray
    penalty: float
    adjusted: float
    held_out: float


def fit_sets(away: np.ndarray, lost: np.ndarray) -> Fit:
    """Fit one effect of each head to what sets lose; away: [set, head] bool; lost: [set].

    Where each set has heads of a layer, the layer's effects sum to zero: such a head costs so much more than others of
    its layer. Raises `InputError` where all sets lose the same.
    """
    if np.ptp(lost) < 1e-12:
        raise InputError("All sets of heads lose the same, so that no head costs more than another.")
    (sets, heads), penalty = away.shape, 0.0
    if sets < _SETS_PER_HEAD * heads:
        penalty = float(_PENALTIES[_held_out(away, lost, _PENALTIES).argmax()])
    left, values, right = _decomposed(away)
    shrunk = values / (values**2 + penalty)
    operator = (right.T * shrunk) @ left.T
    effects = operator @ (lost - lost.mean())
    residuals = lost - lost.mean() - (away - away.mean(0)) @ effects
    freedom = max(sets - 1 - float((values * shrunk).sum()), 1.0)
    variance = (residuals**2).sum() / freedom
    adjusted = 1 - variance / lost.var(ddof=1)
    errors = np.sqrt(variance * (operator**2).sum(1))
    held_out = _held_out(away, lost, [penalty])[0]
    return Fit(effects, errors, freedom, operator, penalty, float(adjusted), float(held_out))


def _decomposed(away: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, values, right = np.linalg.svd(away - away.mean(0), full_matrices=False)
    # Heads of a layer that is in every set have effects that sum to zero: of those that fit, the smallest.
    kept = values > 1e-9 * values.max()
    return left[:, kept], values[kept], right[kept]


def _held_out(away: np.ndarray, lost: np.ndarray, penalties: list[float] | np.ndarray) -> np.ndarray:
    """Return the R2 of sets that were held out, one of `_FOLDS` parts at a time, for each penalty of the ridge.

    away: [set, head] the heads that each set lacks; lost: [set] the loss of each set.
    """
    fold = np.arange(len(lost)) % _FOLDS
    wrong, total = np.zeros(len(penalties)), 0.0
    for number in range(_FOLDS):
        seen = fold != number
        mean, at = lost[seen].mean(), away[seen].mean(0)
        left, values, right = _decomposed(away[seen])
        projected = left.T @ (lost[seen] - mean)
        total += ((lost[~seen] - mean) ** 2).sum()
        for index, penalty in enumerate(penalties):
            effects = right.T @ (values / (values**2 + penalty) * projected)
            wrong[index] += ((lost[~seen] - mean - (away[~seen] - at) @ effects) ** 2).sum()
    return 1 - wrong / total


def set_means(company: Company, metric: str) -> np.ndarray:
    """Return what each set loses of a metric, on average over units (or tokens), [set]."""
    return company.lost(metric).sum(1) / company.sizes.sum()


def head_costs(company: Company, *, seed: int) -> tuple[pd.DataFrame, dict]:
    """Return the cost of each head, and how far costs explain the losses of sets; seed: of permutations.

    The table has a row for each head: layer, head, away (in how many sets); cost, in nats of the loss (of a token,
        where
    units have several); its standard_error over sets; low, high: its 95 % interval over units (articles, where these
    are
    known); p, of a cost of zero over sets, two-sided, and p_holm, corrected for all heads; and of each metric
    cost_{metric} and cost_{metric}_error, in points.
    The dictionary (`results.FIT`) has sets, units, away (heads in a set); penalty (of ridge; 0 for least squares); by
    metric, whole (with all heads), set_cost (mean loss of a set), r2 (adjusted), held_out (for sets that were held out)
    and halves (correlation of the costs of halves of the sets); half (heads that explain half of the explained cost),
    and
    pair, the largest effect of two heads together beyond their costs.
    """
    sets, *shape = company.away.shape
    away = company.away.reshape(sets, -1).astype(float)
    table, about = {"away": away.sum(0).astype(int)}, {}
    for metric in company.metrics:
        lost = set_means(company, metric)
        # Hardly any set without an answer: a half of them has nothing to fit.
        if metric != LOSS and min(np.ptp(lost[half::2]) for half in (0, 1)) < 1e-12:
            continue
        fit = fit_sets(away, lost)
        about[metric] = _about(company, metric, away, lost, fit)
        if metric != LOSS:
            table |= {f"cost_{metric}": fit.effects, f"cost_{metric}_error": fit.errors}
            continue
        low, high = _over_units(company, fit)
        p = 2 * student.sf(np.abs(fit.effects) / fit.errors, fit.freedom)
        table |= {"cost": fit.effects, "standard_error": fit.errors, "low": low, "high": high}
        table |= {"p": p, "p_holm": holm(p)}
        pair = largest_pair(away, lost, fit, seed=seed)
        pair["heads"] = [head_name(*divmod(head, shape[1])) for head in pair["heads"]]
        half, penalty = heads_for_half(fit), fit.penalty
    fitted = {
        "sets": sets,
        "units": len(company.units),
        "away": float(away.sum(1).mean()),
        "penalty": penalty,
        **{key: {metric: of[key] for metric, of in about.items()} for key in about[LOSS]},
        "half": half,
        "pair": pair,
    }
    return per_head(tuple(shape), table), fitted


def _about(company: Company, metric: str, away: np.ndarray, lost: np.ndarray, fit: Fit) -> dict[str, float]:
    halves = [fit_sets(away[half::2], lost[half::2]).effects for half in (0, 1)]
    whole = company.whole[:, company.metrics.index(metric)].sum() / company.sizes.sum()
    return {
        "whole": float(whole),
        "set_cost": float(lost.mean()),
        "r2": fit.adjusted,
        "held_out": fit.held_out,
        "halves": float(np.corrcoef(halves)[0, 1]),
    }


def _over_units(company: Company, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of each head's cost over units: it is the mean of the units' own costs."""
    lost = company.lost(LOSS)
    of_units, sizes = (fit.operator @ (lost - lost.mean(0))).T, company.sizes
    if any(company.articles):
        _, article = np.unique(company.articles, return_inverse=True)
        sums = np.zeros((article.max() + 1, of_units.shape[1]))
        np.add.at(sums, article, of_units)
        of_units, sizes = sums, np.bincount(article, sizes)
    return ratio_intervals(of_units, np.broadcast_to(sizes[:, None], of_units.shape))


def heads_for_half(fit: Fit) -> int:
    """Count the heads, the costliest first, that explain half of the variance of sets that all costs explain."""
    # What chance adds to a square is the square of its standard error.
    squares = np.sort(fit.effects**2)[::-1]
    explained = max(squares.sum() - (fit.errors**2).sum(), squares[0])
    return int(np.searchsorted(squares.cumsum(), explained / 2) + 1)


def largest_pair(away: np.ndarray, lost: np.ndarray, fit: Fit, *, seed: int) -> dict:
    """Find the two heads that cost most beyond their costs where both are away, by standard errors.

    They are among the `_PAIRED` heads of the largest costs, and at least `_LEAST_SETS` sets lack both; away, lost: as
    in
        `fit_sets`, whose fit this is.
    Returns heads (indices), sets (in which both are away), effect, its standard_error, and p: of so large an effect
    among
    all these pairs, where the part that costs do not explain is permuted over sets (Freedman and Lane 1983).
    """
    some = np.sort(np.argsort(-np.abs(fit.effects / fit.errors), kind="stable")[:_PAIRED])
    one, other = (some[index] for index in np.triu_indices(len(some), 1))
    both = away[:, one] * away[:, other]
    basis = np.column_stack([np.full(len(away), len(away) ** -0.5), _decomposed(away)[0]])
    # What single heads do not explain: of pairs, and of what sets lose.
    alone, left = both - basis @ (basis.T @ both), lost - basis @ (basis.T @ lost)
    scale, freedom = np.sqrt((alone**2).sum(0)), len(away) - basis.shape[1] - 1
    usable = np.flatnonzero((scale > 1e-6) & (both.sum(0) >= _LEAST_SETS))
    if freedom < 1 or not len(usable):
        return {"heads": [], "sets": 0, "effect": None, "standard_error": None, "p": None}
    alone, scale = alone[:, usable], scale[usable]
    found = alone.T @ left / scale / np.sqrt((left**2).sum() / freedom)
    rng = np.random.default_rng(seed)
    permuted = rng.permuted(np.broadcast_to(left, (_PERMUTATIONS, len(away))), axis=1)
    # Over all sets, since a permutation has nothing of what was fitted.
    largest = np.abs((permuted @ alone) / scale / left.std()).max(1)
    most = int(np.abs(found).argmax())
    error = float(np.sqrt((left**2).sum() / freedom) / scale[most])
    return {
        "heads": [int(one[usable[most]]), int(other[usable[most]])],
        "sets": int(both[:, usable[most]].sum()),
        "effect": float(found[most] * error),
        "standard_error": error,
        "p": float((1 + (largest >= abs(found[most]) - 1e-9).sum()) / (1 + _PERMUTATIONS)),
    }


def costly_heads(table: pd.DataFrame) -> pd.DataFrame:
    """Select the heads that cost more than others of their layer, the costliest first: by sets, corrected, and by
    units.
    """
    costly = table[(table["p_holm"] <= ALPHA) & (table["low"] > 0)]
    return costly.sort_values("cost", ascending=False)
