"""Intervals of means over units, right as often as they say, exact where hardly any unit differs; corrections."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from headtypes.core.statistics import Evidence, Measured, Together, added, holm, mean_intervals

PERCENT = (0.0, 100.0)


def test_an_interval_of_symmetric_units_is_that_of_student():
    own = np.concatenate([np.arange(1.0, 16), -np.arange(1.0, 16)]) + 3
    evidence = Evidence(own)
    low, high = stats.t.interval(0.95, 29, 3, stats.sem(own))
    assert evidence.ends(0.05) == pytest.approx((low, high))
    assert 2 * min(evidence.tails(0)) == pytest.approx(stats.ttest_1samp(own, 0).pvalue)


@pytest.mark.parametrize("skew", [1, -1])
def test_an_interval_reaches_further_on_the_side_to_which_units_are_skewed(skew):
    own = skew * np.random.default_rng(1).exponential(1, 40)
    evidence = Evidence(own)
    low, high = evidence.ends(0.05)
    assert (high - evidence.value > evidence.value - low) == (skew > 0)
    for end in (low, high):
        assert 2 * min(evidence.tails(end)) == pytest.approx(0.05)


@pytest.mark.parametrize(("right", "of"), [(60, 60), (0, 60), (57, 60), (5, 200)])
def test_of_right_and_wrong_answers_few_that_differ_have_the_bounds_of_clopper_and_pearson(right, of):
    evidence = Evidence(np.repeat([100.0, 0.0], [right, of - right]), None, PERCENT)
    assert evidence.is_exact
    exact = stats.binomtest(right, of).proportion_ci(0.95, "exact")
    assert evidence.ends(0.05) == pytest.approx((100 * exact.low, 100 * exact.high), abs=0.4)
    wrong = 30.0
    assert evidence.tails(wrong)[0] == pytest.approx(stats.binom.sf(right - 1, of, 0.3), abs=2e-3)


def test_means_of_items_weigh_units_by_their_items():
    own, sizes = np.array([1.0, 2, np.nan, 4, 0, 3, 5, 6, 2, 1]), np.array([1.0, 2, 9, 3, 4, 1, 2, 2, 1, 1])
    evidence = Evidence(own, sizes)
    items = np.repeat(own, sizes.astype(int))
    assert evidence.value == pytest.approx(np.nanmean(items))
    # As many units as equal ones, of those that have a mean.
    known = np.delete(sizes, 2)
    assert evidence.units == pytest.approx(min(known.sum() ** 2 / (known**2).sum(), 7))
    without = [np.nanmean(np.repeat(np.delete(own, n), np.delete(sizes, n).astype(int))) for n in range(10)]
    assert np.corrcoef(without, evidence.pulls)[0, 1] < -0.98


@pytest.mark.parametrize(("units", "low"), [(7, False), (8, True)])
def test_over_fewer_than_eight_units_there_is_no_interval_and_over_fewer_than_twenty_one_of_99_percent(units, low):
    rng = np.random.default_rng(2)
    own = rng.normal(1, 1, units)
    measured = Measured.by(Evidence(own), over="articles")
    assert np.isnan(measured.low) != low
    assert (measured.p_value is None) != low
    if low:
        assert (measured.low, measured.high) == pytest.approx(Evidence(own).ends(0.01))
        assert measured.p_value(0) == pytest.approx(min(1, 10 * min(Evidence(own).tails(0))))
    more = Measured.by(Evidence(rng.normal(1, 1, 21)), over="articles")
    assert more.units == 21
    own = rng.normal(1, 1, 60)
    assert Measured.by(Evidence(own), over="").ends == Evidence(own).ends(0.05)


def test_units_that_are_all_alike_decide_nothing_unless_there_are_ends_of_what_they_can_be():
    alike = np.full(40, 2.5)
    assert np.isnan(Measured.by(Evidence(alike), over="segments").low)
    assert not Measured.by(Evidence(alike), over="segments").decides
    measured = Measured.by(Evidence(alike, None, (-100, 100)), over="questions")
    assert measured.low < 0 < 2.5 < measured.high


def test_means_that_are_added_up_share_the_error():
    rare = np.zeros(50)
    rare[0] = -100
    parts = [Evidence(np.random.default_rng(3).normal(5, 1, 50)), Evidence(rare, None, (-100, 0))]
    together = Together(parts)
    expected = np.sum([part.ends(0.025) for part in parts], axis=0)
    assert together.ends(0.05) == pytest.approx(tuple(expected))
    measured = Measured.by(together, over="")
    for end in (measured.low, measured.high):
        assert measured.p_value(end) == pytest.approx(0.05, abs=0.002)


def test_means_over_different_items_of_the_same_units_are_added_unit_by_unit():
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 30, (2, 200))
    common, own = rng.normal(0, 1, 200), rng.normal(0, 0.1, (2, 200))
    alike = added([Evidence(common + own[0], sizes[0]), Evidence(-common - own[1], sizes[1])])
    few, many = (np.average(common + own[place], weights=sizes[place]) for place in (0, 1))
    assert alike.value == pytest.approx(few - many)
    apart = [Evidence(common + own[0], sizes[0]), Evidence(rng.permutation(common) - own[1], sizes[1])]
    assert np.ptp(alike.ends(0.05)) < 0.6 * np.ptp(added(apart).ends(0.05))
    assert added(apart[:1]) is apart[0]


def test_95_of_100_intervals_over_articles_hold_the_truth():
    # As many articles as SQuAD dev has, and as unequal; a tenth of the variance lies between them.
    rng = np.random.default_rng(7)
    sizes = np.round(40 * rng.lognormal(0, 0.5, 48)).astype(int)
    level, loss = (rng.beta(*shape, size=(48, 1000)) for shape in ((6.3, 2.7), (1.8, 7.2)))
    right = rng.binomial(sizes[:, None], level)
    kept = rng.binomial(right, 1 - loss)
    of_articles = np.broadcast_to(sizes[:, None], right.shape)
    for sums, truth in ((kept, 0.56), (right - kept, 0.14)):
        low, high = mean_intervals(sums, of_articles)
        assert 100 * ((low <= truth) & (truth <= high)).mean() == pytest.approx(95, abs=2)


def test_means_over_different_items_have_intervals_over_the_units_that_have_some():
    rng = np.random.default_rng(0)
    sums, sizes = rng.random((30, 2)), np.ones((30, 2))
    low, high = mean_intervals(sums, sizes)
    np.testing.assert_allclose((low, high), mean_intervals(sums))
    # A unit without items of a column changes nothing.
    padded = mean_intervals(*(np.pad(each, ((0, 5), (0, 0))) for each in (sums, sizes)))
    np.testing.assert_allclose(padded, (low, high))
    sizes[:25, 1] = 0
    assert np.isnan(mean_intervals(sums * (sizes > 0), sizes)[0]).tolist() == [False, True]


def test_one_of_many_estimates_that_is_far_beyond_the_limit_survives_a_correction():
    """The head of 144 that looks at the previous token: no number of heads beside it makes it doubtful."""
    heads = np.random.default_rng(2).normal(0, 0.1, (100, 144))
    heads[:, 3] += 0.3
    found = [Evidence(head) for head in heads.T]
    assert Measured.by(*found, over="", rank=1).p_value(0.1) == pytest.approx(288 * found[3].tails(0.1)[0])
    assert Measured.by(*found, over="", rank=1).low > 0.1
    # Three standard errors beyond are not enough for one of so many, though they are for one alone.
    heads[:, 3] -= 0.173
    found = [Evidence(head) for head in heads.T]
    assert Measured.by(found[3], over="").p_value(0.1) < 0.01 < 0.05 < Measured.by(*found, over="", rank=1).p_value(0.1)


@pytest.mark.parametrize("rank", [1, 4, -1])
def test_p_values_of_a_rank_are_below_5_percent_exactly_where_its_interval_excludes_the_limit(rank):
    rng = np.random.default_rng(4)
    for _ in range(40):
        found = [Evidence(column) for column in (rng.normal(0, 1, 6) + rng.normal(0, 4, (60, 6))).T]
        measured = Measured.by(*found, over="", rank=rank)
        assert (measured.p_value(0) < 0.05) == (not measured.low <= 0 <= measured.high)


def closed_testing(p: list[float]) -> list[float]:
    """Of each test the largest p-value of all sets of hypotheses with it, each by Bonferroni (Marcus et al. 1976)."""
    places = range(len(p))
    sets = [chosen for size in range(1, len(p) + 1) for chosen in combinations(places, size)]
    of_set = {chosen: min(1, len(chosen) * min(p[place] for place in chosen)) for chosen in sets}
    return [max(value for chosen, value in of_set.items() if place in chosen) for place in places]


@pytest.mark.parametrize("seed", range(5))
def test_holm_equals_its_definition(seed):
    rng = np.random.default_rng(seed)
    p = (rng.random(7) ** 3).round(2 if seed % 2 else 9).tolist()
    assert holm(np.array(p)) == pytest.approx(closed_testing(p))


def test_what_was_not_tested_counts_for_nothing():
    p = np.array([0.01, np.nan, 0.04, 0.03, np.nan])
    found = holm(p)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(p))
    np.testing.assert_allclose(found[[0, 2, 3]], holm(p[[0, 2, 3]]))
    assert np.isnan(holm(np.full(3, np.nan))).all()
    assert holm(np.array([0.02])) == [0.02]
