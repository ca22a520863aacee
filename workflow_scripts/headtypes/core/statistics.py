"""How sure a mean over questions is: paired bootstrap intervals, by question or by article, and corrected p-values."""

from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np
import pandas as pd

# Not `scipy.stats`, which takes a job that runs no model as long to load as all the rest.
from scipy.special import bdtrc, betaincinv, ndtr, ndtri, stdtr, stdtrit
from threadpoolctl import threadpool_limits

from headtypes.core.errors import InputError

RESAMPLES = 10_000
LEVEL = 0.95
# The p-values below this are those of limits that an interval at that level excludes.
ALPHA = round(1 - LEVEL, 9)
# Means that differ by less are equal: sums of the same numbers in another order do.
EQUAL = 1e-9

# Where fewer values differ from the others, and over fewer units, the bootstrap's intervals are too narrow.
FEW = 20

# Counts that are held at once: 8 MB; and units that are drawn at once.
_BLOCK, _TOGETHER = 2**20, 2**14

# The lower and the upper ends of intervals.
Ends = tuple[np.ndarray, np.ndarray]


def score_intervals(
    scores: Mapping[str, np.ndarray],
    *,
    baseline: int | None,
    articles: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    rising: Collection[str] = (),
    seed: int,
    resamples: int = RESAMPLES,
) -> pd.DataFrame:
    """Each condition's mean scores and their drops from the baseline, with intervals.

    scores: by metric, [condition, question] in percent, questions in one order.
    baseline: the row from which drops count, or None; articles: [question] the article of each, or None.
    rising: metrics that are better when lower; their drops are the condition's score minus the baseline's.
    sizes, seed, resamples: as in `mean_intervals`.

    returns one row per condition and for each metric the columns
      {metric}, {metric}_low, {metric}_high: the mean in the unit of the scores, and its interval over questions;
      {metric}_low_by_article, {metric}_high_by_article: its interval over articles;
      drop_{metric} and the same four: the baseline's score minus the condition's, in points;
      drop_{metric}_p, drop_{metric}_p_by_article: `p_values` of a drop of zero, below 0.05 exactly where the 95 %
      interval excludes zero; drop_{metric}_fdr and _fdr_by_article: the same, corrected by `false_discovery_rates` over
      all conditions but the baseline, whose own drop is not tested.
    NaN without a baseline or articles, and where `mean_intervals` is undefined.

    All values are of the same drawn questions (or articles), so that drops are paired (Koehn 2004; Berg-Kirkpatrick et
    al. 2012).
    """
    values = np.stack([np.asarray(metric, dtype=float) for metric in scores.values()])
    # A drop is drawn as a score of its own, so that a condition that changes no answer drops by exactly 0.
    drops = np.zeros_like(values) if baseline is None else values[:, [baseline]] - values
    drops[[metric in rising for metric in scores]] *= -1
    both = np.stack([values, drops])
    means, table = mean_over(both, sizes), {}
    drawn = {"sizes": sizes, "baseline": baseline, "seed": seed, "resamples": resamples}
    resampled = {
        "": _ends_and_p(both, None, **drawn),
        "_by_article": _ends_and_p(both, articles, **drawn) if articles is not None else None,
    }
    for index, metric in enumerate(scores):
        for kind, name in enumerate((metric, f"drop_{metric}")):
            columns = {name: means[kind, index]}
            for unit, results in resampled.items():
                ends = (np.nan, np.nan) if results is None else (end[kind, index] for end in results[:2])
                columns |= dict(zip((f"{name}_low{unit}", f"{name}_high{unit}"), ends, strict=True))
            for unit, results in resampled.items() if kind == 1 else ():
                p = np.full(values.shape[1], np.nan) if results is None else results[2][index]
                columns |= {f"{name}_p{unit}": p, f"{name}_fdr{unit}": false_discovery_rates(p)}
            known = kind == 0 or baseline is not None
            table |= {column: value if known else np.nan for column, value in columns.items()}
    return pd.DataFrame(table, index=range(values.shape[1]))


def mean_over(values: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
    """Means over questions, [...]; values: [..., question]; sizes: as in `mean_intervals`."""
    return values.mean(axis=-1) if sizes is None else values.sum(axis=-1) / sizes.sum()


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """Means over the first axis of the values that are not NaN, each of which counts once; NaN where there is none."""
    counted = (~np.isnan(values)).sum(axis=0)
    return np.where(counted, np.nansum(values, axis=0, dtype=float) / np.maximum(counted, 1), np.nan)


def mean_intervals(
    values: np.ndarray,
    articles: np.ndarray | None = None,
    *,
    sizes: np.ndarray | None = None,
    seed: int,
    resamples: int = RESAMPLES,
) -> Ends:
    """Bootstrap intervals of means over questions, of 95 %, low and high, each [...].

    values: [..., question], scores of the same questions, all of which are drawn together.
    articles: [question] labels. With them whole articles are drawn with replacement, and the interval says what other
        articles might have given (Davison and Hinkley 1997, section 3.8; Field and Welsh 2007); without them, what
        further questions on articles like a mixture of these might have.
    sizes: [question] over how many items (tokens of a document) each value is a sum; the mean is then that of an item.
    seed: equal seeds draw the same questions, however many scores there are.

    NaN for a single question or article. Where all questions score the same, both bounds equal that score. Raises
    `InputError` for values that are not finite, since means over different questions cannot be paired.

    The bounds are expanded percentiles (Hesterberg 2015): quantiles of the resampled means at levels that would give
    Student's interval if these were normal. Articles of unequal size count as fewer equal ones, (sum of sizes)^2 / sum
    of sizes^2: SQuAD dev's 48 as 36 (Carter, Schnepel and Steigerwald 2017). Percentiles stay within 0 to 100 and reach
    further on the side to which a rate is skewed; basic intervals do the opposite, and BCa does worse for drops that
    come from a few questions. All are too narrow if fewer than about ten questions are answered differently, and if a
    few articles account for most of a drop.
    """
    drawn = _resampled(values, articles, sizes, seed=seed, resamples=resamples)
    if drawn is None:
        undefined = np.full(np.shape(values)[:-1], np.nan)
        return undefined, undefined.copy()
    return bounds(*drawn)


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


def ratio_intervals(sums: np.ndarray, sizes: np.ndarray, *, seed: int, resamples: int = RESAMPLES) -> Ends:
    """Bootstrap intervals of means that are over different items of the same units, low and high, each [column].

    sums, sizes: [unit, column] each unit's sum and over how many items it is, 0 where it has none of the column's, as
        sentences without a relation. seed, resamples: as in `mean_intervals`.

    All columns are of the same drawn units, with the bounds of `mean_intervals` for the units that have some item; NaN
    where fewer than two have.
    """
    totals, counts = resampled_sums(sums, sizes, seed=seed, resamples=resamples)
    low, high = np.full((2, sums.shape[1]), np.nan)
    for column in np.flatnonzero((sizes > 0).sum(0) > 1):
        # A draw without any of the units has no mean.
        some = counts[:, column] > 0
        means = totals[some, column] / counts[some, column]
        low[column], high[column] = bounds(means, sizes[sizes[:, column] > 0, column])
    return low, high


def resampled_sums(
    sums: np.ndarray, sizes: np.ndarray, *, seed: int, resamples: int = RESAMPLES
) -> tuple[np.ndarray, np.ndarray]:
    """Both over the drawn units of each resample, [resample, column]; all as in `ratio_intervals`."""
    with threadpool_limits(1):
        drawn = [(units @ sums, units @ sizes) for units in draw_units(len(sums), resamples, seed)]
    totals, counts = (np.concatenate(blocks) for blocks in zip(*drawn, strict=True))
    return totals, counts


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


def p_values(means: np.ndarray, sizes: np.ndarray, limit: float = 0.0) -> np.ndarray:
    """Two-sided p-values of the hypothesis that a true mean is the limit, [...], by inverting the intervals.

    means: [resample, ...] resampled means; sizes: [unit].

    Each is 1 less the highest level at which the interval of `bounds` excludes the limit (Davison and Hinkley 1997,
    section 5.5). Where all resamples lie on one side, it is that of a limit which one more had crossed: with few units
    this is not very small (0.0008 with 36 effective units, 0.006 with 10), so that few articles cannot pass a strict
    correction.
    """
    tails = np.minimum(_share_at_most(means, limit), _share_at_most(-means, -limit))
    return _p_of_tail(tails, sizes, len(means))


def p_of_side(means: np.ndarray, sizes: np.ndarray, limit: float, side: str) -> np.ndarray:
    """As `p_values`, where the mean is claimed to be `side` ("above" or "below") of the limit, and not on it."""
    sign = 1 if side == "above" else -1
    share = _share_at_most(sign * means, sign * limit)
    return _p_of_tail(np.minimum(share, 1 - share), sizes, len(means))


def exact_ends(
    values: np.ndarray, lowest: float, highest: float, few: float
) -> Callable[[float], tuple[float, float]] | None:
    """Ends of the interval of a true mean where hardly any value differs, by the error; None where `few` or more do.

    values: [unit], each from lowest to highest, of independent units.

    The bootstrap's interval is too narrow there. The share of units that differ from the most common value has the
    bounds of Clopper and Pearson 1934, and so has the share of those that are larger, if all differ by the most that
    they can (as pairs of right and wrong answers do: McNemar's test); otherwise it may be anything. Each has half of
    the error.
    """
    distinct, counts = np.unique(values.round(9), return_counts=True)
    common = distinct[counts.argmax()]
    away = values.round(9) - common
    most, differ = max(highest - common, common - lowest), int((away != 0).sum())
    if differ >= few:
        return None

    def ends(error: float) -> tuple[float, float]:
        if common in (lowest, highest):
            larger = (1.0, 1.0) if common == lowest else (0.0, 0.0)
        elif (np.abs(away[away != 0]) == most).all():
            larger = _clopper_pearson(int((away > 0).sum()), differ, error / 4)
        else:
            larger = (0.0, 1.0)
        # Where none differs, all of the error is on the one side on which something could.
        tail = error if differ == 0 else error / 2 if larger[0] == larger[1] else error / 4
        few, many = _clopper_pearson(differ, len(values), tail)
        low, high = (2 * share - 1 for share in larger)
        return (
            float(common + most * low * (few if low > 0 else many)),
            float(common + most * high * (many if high > 0 else few)),
        )

    return ends


def p_of_ends(ends: Callable[[float], tuple[float, float]], limit: float, side: str) -> float:
    """As `p_of_side`, of intervals by their error: the smallest at which the limit lies outside; 1 where none does."""
    low, high = 0.0, 1.0

    def is_outside(error: float) -> bool:
        first, last = (round(end, 9) for end in ends(error))
        return first > limit or last <= limit if side == "above" else last < limit or first >= limit

    if not is_outside(high):
        return 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if is_outside(middle) else (middle, high)
    return high


def _clopper_pearson(number: int, units: int, tail: float) -> tuple[float, float]:
    """Ends of the interval of a share of which `number` of so many units are, with this error on either side."""
    low = betaincinv(number, units - number + 1, tail) if number else 0.0
    high = betaincinv(number + 1, units - number, 1 - tail) if number < units else 1.0
    return float(low), float(high)


def ranked_bounds(means: np.ndarray, sizes: np.ndarray, rank: int) -> Ends:
    """Ends of the interval of the truth that is the `rank`-th largest of several, [2], from estimates of each.

    means: [resample, estimate]; rank: from 1, or from -1 for the smallest; sizes: as in `bounds`.

    The largest estimate lies above the largest truth, and resampled further above, so that it is not resampled: the
    ends are of single intervals, at levels by which at least `rank` truths are above the lower one and at most `rank -
    1` above the upper one (Benjamini and Heller 2008; Berger 1982 and Bonferroni for the smallest and the largest).
    """
    above, below = _corrections(means.shape[-1], rank)
    low, _ = _corrected_bounds(means, sizes, 1 - (1 - LEVEL) / below)
    _, high = _corrected_bounds(means, sizes, 1 - (1 - LEVEL) / above)
    return np.sort(low)[-above], np.sort(high)[-above]


def p_of_ranked(means: np.ndarray, sizes: np.ndarray, limit: float, side: str, rank: int) -> float:
    """As `p_of_side`, of the truth that is the `rank`-th largest of several; below 0.05 as `ranked_bounds` ends.

    What so many resamples cannot show of corrected p-values is told by Student's test with their standard deviation.
    """
    above, below = _corrections(means.shape[-1], rank)
    share = _share_at_most(means, limit) if side == "above" else 1 - _share_at_most(-means, -limit)
    student = _p_of_student(means, sizes, limit)

    def single(tails: np.ndarray, correction: int) -> np.ndarray:
        reached = _p_at(_reach(sizes, len(means)), sizes)
        beyond = student if reached >= ALPHA / correction else np.minimum(reached, student)
        return np.sort(np.where(tails == 0, beyond, np.maximum(_p_at(tails, sizes), reached)))

    exceeds = below * single(share, below)[above - 1]
    falls_short = above * single(1 - share, above)[below - 1]
    least = _p_of_tail(np.zeros(()), sizes, len(means))
    return float(max(least, min(1.0, exceeds, falls_short)))


def resampled_means(sums: np.ndarray, sizes: np.ndarray, *, seed: int, resamples: int) -> np.ndarray:
    """Means over the units drawn, [resample, column]; sums: [unit, column]; sizes: [unit] questions of each."""
    with threadpool_limits(1):
        return np.concatenate(
            [(drawn @ sums) / (drawn @ sizes)[:, None] for drawn in draw_units(len(sizes), resamples, seed)]
        )


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


def holm(p: np.ndarray) -> np.ndarray:
    """P-values corrected so that with probability 0.95 none below 0.05 is wrong, however they depend (Holm 1979).

    p: [test]; NaN is not a test and stays NaN.
    """
    p = np.asarray(p, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    corrected = np.full(p.shape, np.nan)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return corrected


def sign_tests(above: np.ndarray, units: np.ndarray | int) -> np.ndarray:
    """P-values of the claim that something is so of more than half of all units; above: of how many of these it is."""
    return bdtrc(above - 1, units, 0.5)


def false_discovery_rates(p: np.ndarray) -> np.ndarray:
    """P-values corrected so that of those below 0.05 at most 5 % are wrong on average; p: [test], NaN stays NaN.

    Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001 under positive regression dependence, which is assumed of
    drops from one baseline over the same questions.
    """
    p = np.asarray(p, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")][::-1]
    corrected = np.full(p.shape, np.nan)
    corrected[order] = np.minimum.accumulate(p[order] * len(order) / np.arange(len(order), 0, -1))
    return corrected


def _ends_and_p(
    both: np.ndarray,
    articles: np.ndarray | None,
    *,
    sizes: np.ndarray | None,
    baseline: int | None,
    seed: int,
    resamples: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Ends of scores and drops, [score or drop, metric, condition], and p-values of drops, NaN of the baseline."""
    drawn = _resampled(both, articles, sizes, seed=seed, resamples=resamples)
    if drawn is None:
        return None
    means, sizes = drawn
    p = p_values(means[:, 1], sizes)
    if baseline is not None:
        p[:, baseline] = np.nan
    return *bounds(means, sizes), p


def _resampled(
    values: np.ndarray, articles: np.ndarray | None, sizes: np.ndarray | None, *, seed: int, resamples: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Resampled means, [resample, ...], as `mean_intervals` draws them, and the units' sizes; None for one unit."""
    values = np.asarray(values, dtype=float)
    broken = np.count_nonzero(~np.isfinite(values))
    if broken:
        raise InputError(
            f"{broken} of {values.size} scores are NaN or infinite: means over different questions do not compare. "
            "Evaluate every condition on all questions."
        )
    sums, unit_sizes = sums_by_unit(values.reshape(-1, values.shape[-1]).T, articles, sizes)
    if len(unit_sizes) < 2:
        return None
    means = resampled_means(sums, unit_sizes, seed=seed, resamples=resamples)
    return means.reshape(len(means), *values.shape[:-1]), unit_sizes


def _share_at_most(means: np.ndarray, limit: float) -> np.ndarray:
    """The highest level at which `numpy.quantile`, which interpolates between resamples, is at most the limit."""
    ordered = np.sort(means, axis=0)
    last = len(ordered) - 1
    crossed = (ordered <= limit).sum(axis=0)
    index = np.clip(crossed - 1, 0, last - 1)[None]
    before, after = (np.take_along_axis(ordered, index + step, axis=0)[0] for step in (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (limit - before) / (after - before)
    return np.where(crossed == 0, 0.0, np.where(crossed > last, 1.0, (index[0] + within) / last))


def _corrections(estimates: int, rank: int) -> tuple[int, int]:
    """How many of so many truths have to be above for the `rank`-th largest to be, and how many below for it not to."""
    above = rank if rank > 0 else estimates + 1 + rank
    return above, estimates + 1 - above


def _corrected_bounds(means: np.ndarray, sizes: np.ndarray, level: float) -> Ends:
    """As `bounds`; ends beyond the resamples are Student's, or the last resample where that lies further out."""
    low, high = bounds(means, sizes, level)
    if _expanded_tail(sizes, level) < _reach(sizes, len(means)):
        units = effective_units(sizes)
        away = stdtrit(units - 1, (1 + level) / 2) * np.sqrt(units / (units - 1)) * means.std(axis=0)
        low, high = np.minimum(low, means.mean(axis=0) - away), np.maximum(high, means.mean(axis=0) + away)
    return low, high


def _reach(sizes: np.ndarray, resamples: int) -> float:
    """The smallest share of resamples that can be told: one of them more, or the same unit drawn every time."""
    units = effective_units(sizes)
    return max(1 / (resamples + 1), units**-units)


def _p_of_tail(tails: np.ndarray, sizes: np.ndarray, resamples: int) -> np.ndarray:
    """The p-value at which `_expanded_tail` is the given tail, which is a share of resamples of at most 1."""
    # The 95 % intervals of three or four units end beyond what so many resamples reach.
    least = min(_p_at(1 / (resamples + 1), sizes), np.nextafter(ALPHA, 0))
    return np.maximum(_p_at(tails, sizes), least)


def _p_at(tails: np.ndarray | float, sizes: np.ndarray) -> np.ndarray:
    units = effective_units(sizes)
    return 2 * stdtr(units - 1, ndtri(np.minimum(tails, 0.5)) * np.sqrt((units - 1) / units))


def _p_of_student(means: np.ndarray, sizes: np.ndarray, limit: float) -> np.ndarray:
    """Two-sided p-values of Student's test, from the mean and the standard deviation of resampled means."""
    units, away = effective_units(sizes), np.abs(means.mean(axis=0) - limit)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = away / means.std(axis=0) * np.sqrt((units - 1) / units)
    return 2 * stdtr(units - 1, -np.where(away == 0, 0.0, statistic))


def effective_units(sizes: np.ndarray) -> float:
    """How many units of equal size these count as, as `mean_intervals` says."""
    return sizes.sum() ** 2 / (sizes**2).sum()


def _expanded_tail(sizes: np.ndarray, level: float) -> float:
    """The share of resampled means below the lower bound (Hesterberg 2015), by the effective number of units."""
    units = effective_units(sizes)
    student = stdtrit(units - 1, (1 + level) / 2)
    return float(ndtr(-student * np.sqrt(units / (units - 1))))
