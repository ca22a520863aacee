"""Intervals over draws of heads and questions, of the random heads beside a condition."""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, stdtrit
from threadpoolctl import threadpool_limits

from headtypes.core.statistics import Ends

RESAMPLES, LEVEL = 10_000, 0.95
_BLOCK, _TOGETHER = 2**20, 2**14


def crossed_intervals(
    values: np.ndarray,
    articles: np.ndarray | None = None,
    *,
    sizes: np.ndarray | None = None,
    seed: int,
    resamples: int = RESAMPLES,
) -> Ends:
    """Bootstrap intervals of means over draws and questions, low and high, each [...].

    values: [..., draw, question]; all else as in `mean_intervals`.

    Draws and questions (or articles) are drawn with replacement, each by itself (Owen 2007, The pigeonhole bootstrap).
    The bounds are those of `bounds`, for the fewer of the two; NaN where there is only one of either.
    """
    *shape, draws, _ = values.shape
    sums, unit_sizes = sums_by_unit(values.reshape(-1, values.shape[-1]).T, articles, sizes)
    if min(draws, len(unit_sizes)) < 2:
        return np.full(shape, np.nan), np.full(shape, np.nan)
    # [each, draw, unit]
    sums = sums.T.reshape(-1, draws, len(unit_sizes))
    means = np.empty((resamples, len(sums)))
    with threadpool_limits(1):
        shares = np.concatenate(list(draw_units(draws, resamples, [seed, 1]))) / draws
        done = 0
        for units in draw_units(len(unit_sizes), resamples, seed):
            rows = slice(done, done := done + len(units))
            for column, column_sums in enumerate(sums):
                means[rows, column] = ((shares[rows] @ column_sums) * units).sum(axis=1) / (units @ unit_sizes)
    fewer = unit_sizes if effective_units(unit_sizes) < draws else np.ones(draws)
    low, high = bounds(means, fewer)
    return low.reshape(shape), high.reshape(shape)


def sums_by_unit(
    values: np.ndarray, articles: np.ndarray | None, sizes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The sums of the units that the bootstrap draws, [unit, column], and their numbers of questions, or items, [unit].

    values: [question, column]; articles: [question] the unit of each, or None if each question is one.
    sizes: [question] over how many items each value is a sum; None for one.
    """
    if articles is None:
        return values, np.ones(len(values)) if sizes is None else sizes.astype(float)
    names, article = np.unique(articles, return_inverse=True)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, article, values)
    return sums, np.bincount(article, sizes).astype(float)


def bounds(means: np.ndarray, sizes: np.ndarray, level: float = LEVEL) -> Ends:
    """Low and high ends of intervals, of this level, of resampled means [resample, ...]; sizes: [unit]."""
    tail = _expanded_tail(sizes, level)
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high


def draw_units(units: int, resamples: int, seed: int | list[int]) -> Iterator[np.ndarray]:
    """How often each unit is drawn with replacement, float64 [resample, unit], in blocks whose size changes nothing."""
    rng = np.random.default_rng(seed)
    rows, together = (max(1, numbers // units) for numbers in (_BLOCK, _TOGETHER))
    for start in range(0, resamples, rows):
        counts = np.empty((min(rows, resamples - start), units))
        for some in np.split(counts, range(together, len(counts), together)):
            # Each resample counts in places of its own.
            drawn = rng.integers(units, size=some.shape) + units * np.arange(len(some))[:, None]
            some[:] = np.bincount(drawn.ravel(), minlength=some.size).reshape(some.shape)
        yield counts


def effective_units(sizes: np.ndarray) -> float:
    """How many units of equal size these count as, as `mean_intervals` says."""
    return sizes.sum() ** 2 / (sizes**2).sum()


def _expanded_tail(sizes: np.ndarray, level: float) -> float:
    """The share of resampled means below the lower bound (Hesterberg 2015), by the effective number of units."""
    units = effective_units(sizes)
    student = stdtrit(units - 1, (1 + level) / 2)
    return float(ndtr(-student * np.sqrt(units / (units - 1))))
