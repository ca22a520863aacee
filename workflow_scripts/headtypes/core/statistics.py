"""The mean of one number of each unit, with its interval and p-values; corrections for many p-values."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

# Not `scipy.stats`, which takes a job that runs no model as long to load as all the rest.
from scipy.special import stdtr, stdtrit
from threadpoolctl import ThreadpoolController

ALPHA = 0.05  # p-values below this are those of limits that the interval excludes
EQUAL = 1e-9  # means that differ by less are equal: sums of the same numbers in another order do
# Over fewer units than these there is no interval; over fewer than the next it is of 99 %, and p five times as large.
FEWEST_UNITS, FEW_UNITS, STRICTER = 8, 20, 5
LEVELS = f"95 %, 99 % over fewer than {FEW_UNITS}, none over fewer than {FEWEST_UNITS}"
_DRAWS, _NEAR = 10_000, 1e-6  # of random weights; and how near to chance an interval ends that holds it

Ends = tuple[np.ndarray, np.ndarray]


class Evidence:
    """The mean of a number of each unit, such as an article, with an interval (`ends`) and p-values (`tails`).

    own:   [unit] mean of each unit's items, NaN for a unit without items.
    sizes: [unit] number of each unit's items, by which the unit is weighted; None for one item each.
    reach: lowest and highest mean that a unit can have; the interval ends there at the latest. None without bounds.
    value: the mean. pulls: [unit] each unit's part in the mean's deviation: size * (own - value) / sum of sizes.
    is_exact: true if nearly all units are equal: fewer than 8, and fewer than half, have another value than most.
    units: effective number of units, (sum of sizes)^2 / sum of sizes^2; at most the number that differ from the most
        frequent value, unless `is_exact`. It is 0, too few for an interval, if `is_exact` without `reach`.

    The interval is Student's, corrected for skewness (Hall 1992, On the removal of skewness by transformation). If
    `is_exact`, it is Gaffke's (2005) within `reach`; for right and wrong answers, Clopper and Pearson's (1934).
    """

    def __init__(
        self, own: np.ndarray, sizes: np.ndarray | None = None, reach: tuple[float, float] | None = None
    ) -> None:
        self._reach = (-math.inf, math.inf) if reach is None else reach
        some = ~np.isnan(own)
        self.number, self.is_exact, self._rare = int(some.sum()), False, None
        if self.number < 2:
            self.value, self.units, self.freedom = float(np.append(own[some], np.nan)[0]), self.number, 0.0
            self.pulls = np.zeros(len(own))
            return
        sizes = some.astype(float) if sizes is None else np.where(some, sizes, 0.0)
        own = np.where(some, own, 0.0)
        self.value = float(own @ sizes / sizes.sum())
        self.pulls = sizes * (own - self.value) / sizes.sum()
        self.units = float(sizes.sum() ** 2 / (sizes**2).sum())
        self.freedom = self.units - 1
        _, of_value, counts = np.unique(own[some].round(9), return_inverse=True, return_counts=True)
        differ = self.number - (counts.max() if counts.max() > 1 else 0)
        self.is_exact = bool(differ < min(FEWEST_UNITS, self.number / 2))
        if not self.is_exact:
            self.units = float(min(self.units, differ))
        elif reach is None:
            self.units = 0.0
        else:
            self._rare = own[some], sizes[some], of_value == counts.argmax(), reach

    def ends(self, error: float) -> tuple[float, float]:
        """Return both ends of the interval that misses the true mean with probability `error`, half on either side."""
        if self._draws is not None:
            beyond = max(int(error / 2 * (1 + _DRAWS)) - 1, 0)
            return float(self._draws[0][beyond]), float(self._draws[1][-1 - beyond])
        # Over 20 units with log-normal effects, Student's own 95 % interval lies wholly on one side of the true mean in
        # 13 % of trials, and this one in 4.6 %.
        away = stdtrit(self.freedom, 1 - error / 2)
        low, high = (self.value - self._error * _unskewed(each, self._skew) for each in (away, -away))
        return max(low, self._reach[0]), min(high, self._reach[1])

    def tails(self, limit: float) -> tuple[float, float]:
        """Return one-sided p-values of two null hypotheses: the true mean is at most `limit`, or at least `limit`."""
        if self._draws is not None:
            at_most = (self._draws[0] <= limit + EQUAL).sum(), (self._draws[1] >= limit - EQUAL).sum()
            return tuple(float(1 + number) / (1 + _DRAWS) for number in at_most)
        away, skew = (self.value - limit) / self._error, self._skew
        away += skew * away**2 / 3 + skew**2 * away**3 / 27 + skew / 6
        return float(stdtr(self.freedom, -away)), float(stdtr(self.freedom, away))

    @cached_property
    def _draws(self) -> Ends | None:
        return None if self._rare is None else _with_one_more(*self._rare)

    @cached_property
    def _error(self) -> float:
        return math.sqrt((self.pulls**2).sum() * self.number / (self.number - 1))

    @cached_property
    def _skew(self) -> float:
        return float((self.pulls**3).sum() / (self.pulls**2).sum() ** 1.5) * (1 + 8.5 / (self.freedom + 1))


class Together:
    """A sum of n means, with its interval (`ends`) and p-values (`tails`), made from the intervals of the means.

    parts: the n means. Their low ends, each with 1/n of the probability of error, add up to the sum's low end, their
    high ends to its high end. A one-sided p is half of the smallest error at which the interval excludes the limit.
    """

    def __init__(self, parts: Sequence[Evidence]) -> None:
        self.parts = parts
        self.value, self.units = sum(part.value for part in parts), min(part.units for part in parts)

    def ends(self, error: float) -> tuple[float, float]:
        low, high = zip(*(part.ends(error / len(self.parts)) for part in self.parts), strict=True)
        return sum(low), sum(high)

    def tails(self, limit: float) -> tuple[float, float]:
        steps = range(1, _DRAWS)
        above = bisect_left(steps, True, key=lambda step: self.ends(2 * step / _DRAWS)[0] > limit + EQUAL)
        below = bisect_left(steps, True, key=lambda step: self.ends(2 * step / _DRAWS)[1] < limit - EQUAL)
        return (1 + above) / _DRAWS, (1 + below) / _DRAWS


def added(parts: Sequence[Evidence]) -> Evidence | Together:
    """Return the sum of one or more means, with its `value`, interval (`ends`) and p-values (`tails`).

    parts: the means, over the same units. The result is a `Together` if there are several means and nearly all units
    of at least one of them have the same value (`Evidence.is_exact`); it is an `Evidence` otherwise.
    """
    if len(parts) == 1:
        return parts[0]
    if any(part.is_exact for part in parts):
        return Together(parts)
    pulls = sum(part.pulls for part in parts)
    whole = Evidence(sum(part.value for part in parts) + len(pulls) * pulls)
    whole.units, whole.freedom = (min(getattr(mean, name) for mean in (whole, *parts)) for name in ("units", "freedom"))
    return whole


@dataclass(frozen=True)
class Measured:
    """A value with its interval and its p-values, or a value alone.

    low, high: ends of the interval: 95 %, or 99 % over fewer than 20 units; NaN without an interval.
    p_value:   function from a number to the two-sided p-value of the hypothesis that the true value is this number;
        None without an interval. The p-value is below 0.05 exactly if the interval excludes the number; for this, it is
        multiplied by 5 over fewer than 20 units.
    over:      plural name of the units, such as articles.
    units:     effective number of units; infinite for a value alone.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: Callable[[float], float] | None = field(default=None, compare=False, repr=False)
    over: str = ""
    units: float = math.inf

    @classmethod
    def by(cls, *several: Evidence | Together, over: str, rank: int = 1) -> "Measured":
        """Return the `rank`-th largest of several means, with its interval (95 %; 99 % below 20 units; none below 8).

        several: the means. over: plural name of the units. rank: 1 for the largest mean, -1 for the smallest.
        The interval and the function `p_value` are corrected for the choice of one mean among several.
        """
        above = rank if rank > 0 else len(several) + 1 + rank
        below = len(several) + 1 - above
        value, units = sorted(one.value for one in several)[-above], min(one.units for one in several)
        if units < FEWEST_UNITS:
            return cls(value, over=over, units=units)
        times = STRICTER if units < FEW_UNITS else 1
        # Of n means, the r-th largest low end with the error 0.05 / (n + 1 - r), and high end with the error 0.05 / r
        # (Benjamini and Heller 2008; Berger 1982 and Bonferroni for the smallest and the largest).
        low = sorted(one.ends(ALPHA / times / below)[0] for one in several)[-above]
        high = sorted(one.ends(ALPHA / times / above)[1] for one in several)[-above]

        def p_value(limit: float) -> float:
            at_most, at_least = (sorted(each) for each in zip(*(one.tails(limit) for one in several), strict=True))
            return min(1.0, 2 * times * min(below * at_most[above - 1], above * at_least[below - 1]))

        return cls(value, float(low), float(high), p_value, over, units)

    @classmethod
    def beyond_chance(cls, value: float, chance: np.ndarray) -> "Measured":
        """Return `value` less the mean of `chance`, with an interval, and the p-value of a difference of 0.

        chance: [permutation] the values on permuted data. The interval runs from `value` less the 97.5 % quantile of
            `chance` to `value` less its 2.5 % quantile; it is widened to hold 0 if p is 0.05 or more.
        The result's function `p_value` returns this two-sided p-value for every number that it is given.
        """
        low, high = value - np.quantile(chance, [1 - ALPHA / 2, ALPHA / 2])
        tails = ((1 + (sign * chance >= sign * value - EQUAL).sum()) / (1 + len(chance)) for sign in (1, -1))
        both_sides = float(min(1, 2 * min(tails)))
        if both_sides >= ALPHA:
            # Counts are often equal, and an interval that ends at the limit would decide.
            low, high = min(low, -_NEAR), max(high, _NEAR)
        own = float(value - chance.mean())
        return cls(own, float(low), float(high), lambda limit: both_sides, "permutations")

    @property
    def decides(self) -> bool:
        """True if the value can decide a claim: 8 `units` or more, and no interval or one with `low` below `high`."""
        return self.units >= FEWEST_UNITS and self.low != self.high

    @property
    def ends(self) -> tuple[float, float]:
        """The interval's low and high end; without an interval, the value twice."""
        return (self.value, self.value) if math.isnan(self.low) else (self.low, self.high)

    def __str__(self) -> str:
        value = "" if math.isnan(self.value) else two_decimals(self.value)
        over = f", over {self.over}" if self.over else ""
        interval = "" if math.isnan(self.low) else f"{two_decimals(self.low)} to {two_decimals(self.high)}{over}"
        return f"{value} ({interval})" if value and interval else value or interval


def two_decimals(value: float) -> str:
    """Return a number as text with two decimals, rounded first to nine significant digits, as in CSV files."""
    return f"{float(f'{value:.9g}'):z.2f}"


def mean_intervals(sums: np.ndarray, sizes: np.ndarray | None = None, reach: tuple[float, float] | None = None) -> Ends:
    """Return the low ends and the high ends of 95 % intervals of means over items, two arrays [...].

    sums:  [unit, ...] sum of each unit's items.
    sizes: number of each unit's items, 0 for none, as an array that broadcasts to `sums`; None for one item each.
    reach: lowest and highest mean that a unit can have; intervals end there at the latest. None without bounds.
    Intervals over fewer than 20 units are of 99 %; over fewer than 8 units both ends are NaN.
    """
    sums, sizes = (np.asarray(sums, dtype=float), np.ones(1)) if sizes is None else (sums, sizes)
    sizes = np.broadcast_to(sizes, sums.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = sums / sizes
    found = np.full((2, *sums.shape[1:]), np.nan)
    for column in np.ndindex(sums.shape[1:]):
        if sizes[:, *column].any():
            measured = Measured.by(Evidence(own[:, *column], sizes[:, *column], reach), over="")
            found[:, *column] = measured.low, measured.high
    low, high = found
    return low, high


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """Return means over the first axis, without the NaN among the numbers; NaN if all are NaN."""
    counted = (~np.isnan(values)).sum(axis=0)
    return np.where(counted, np.nansum(values, axis=0, dtype=float) / np.maximum(counted, 1), np.nan)


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values corrected for the number of tests, [test] (Holm 1979); NaN does not count as a test."""
    p = np.asarray(p, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    corrected = np.full(p.shape, np.nan)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return corrected


# Randomly weighted means of the units and one more at either end of `reach`, [draw]; weights are exponential, times the
# unit's size, which for the added unit is the mean size.
def _with_one_more(own: np.ndarray, sizes: np.ndarray, is_common: np.ndarray, reach: tuple[float, float]) -> Ends:
    weights, same = _weights(), sizes[is_common]
    # Of many alike the weights add up to a gamma variable of as many.
    alike = np.random.default_rng(1).gamma(same.sum() ** 2 / (same**2).sum(), size=_DRAWS)
    alike *= (same**2).sum() / same.sum()
    others, one_more = weights[:, 1 : 1 + (~is_common).sum()] * sizes[~is_common], weights[:, 0] * sizes.mean()
    total = alike + others.sum(axis=1) + one_more
    known = alike * own[is_common][0] + others @ own[~is_common]
    low, high = (np.sort((known + one_more * end) / total) for end in reach)
    return low, high


@cache
def _weights() -> np.ndarray:
    return np.random.default_rng(0).exponential(size=(_DRAWS, FEWEST_UNITS))


def _unskewed(away: float, skew: float) -> float:
    return away if abs(skew) < EQUAL else 3 / skew * (math.cbrt(1 + skew * (away - skew / 6)) - 1)


# Once, since finding the libraries that a process has loaded takes as long as clustering heads does.
_libraries = cache(ThreadpoolController)


def one_thread():
    """Return a context in which numeric libraries use one thread, so that numbers add up in a fixed order."""
    return _libraries().limit(limits=1)
