"""Bootstrap intervals, those of a loop over the same draws, right as often as they say; corrections for many tests."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from headtypes.core import statistics
from headtypes.core.errors import InputError
from headtypes.core.statistics import (
    bounds,
    crossed_intervals,
    draw_units,
    false_discovery_rates,
    holm,
    mean_intervals,
    mean_over,
    p_of_ranked,
    p_of_side,
    p_values,
    ranked_bounds,
    ratio_intervals,
    resampled_means,
    score_intervals,
    sums_by_unit,
)
from tests.support.resampling import naive_bounds, units_of

SETTINGS = {"seed": 3, "resamples": 400}


def scores(conditions=4):
    """Exact match and F1 of conditions on questions, some harder than others, and their articles."""
    rng, questions = np.random.default_rng(0), 60
    hard = rng.random(questions)
    exact_match = 100.0 * (rng.random((conditions, questions)) > hard)
    f1 = np.maximum(exact_match, 100 * rng.random((conditions, questions)))
    articles = np.array([f"article {number}" for number in rng.integers(0, 9, questions)])
    return {"exact_match": exact_match, "f1": f1}, articles


def test_intervals_equal_a_naive_loop_over_the_same_draws():
    by_metric, articles = scores()
    table = score_intervals(by_metric, baseline=1, articles=articles, **SETTINGS)
    assert len(table) == 4
    units = {"": [[question] for question in range(60)], "_by_article": units_of(articles)}
    assert 2 < len(units["_by_article"]) < 60
    for metric, values in by_metric.items():
        for condition in range(4):
            for name, figures in ((metric, values[condition]), (f"drop_{metric}", values[1] - values[condition])):
                row = table.loc[condition]
                assert row[name] == pytest.approx(figures.mean())
                for unit, members in units.items():
                    bounds = row[f"{name}_low{unit}"], row[f"{name}_high{unit}"]
                    assert bounds == pytest.approx(naive_bounds(figures, members), abs=1e-9)
    assert len(table.columns) == 2 * (2 * 5 + 4)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_levels_equal_a_naive_loop(level):
    by_metric, articles = scores()
    values = by_metric["f1"][0]
    sums, sizes = sums_by_unit(values[:, None], articles)
    found = bounds(resampled_means(sums, sizes, **SETTINGS)[:, 0], sizes, level)
    assert found == pytest.approx(naive_bounds(values, units_of(articles), level))


@pytest.mark.parametrize("block", [1, 60, 61, 7 * 60])
def test_blocks_change_nothing(monkeypatch, block):
    by_metric, articles = scores()
    whole = score_intervals(by_metric, baseline=0, articles=articles, **SETTINGS)
    counts = np.concatenate(list(draw_units(60, 50, seed=1)))
    monkeypatch.setattr(statistics, "_BLOCK", block)
    np.testing.assert_array_equal(np.concatenate(list(draw_units(60, 50, seed=1))), counts)
    blocked = score_intervals(by_metric, baseline=0, articles=articles, **SETTINGS)
    np.testing.assert_allclose(blocked, whole, rtol=0, atol=1e-10)


def test_a_condition_that_changes_no_answer_drops_by_exactly_nothing():
    by_metric, articles = scores(conditions=1)
    same = {metric: np.repeat(values, 13, axis=0) for metric, values in by_metric.items()}
    table = score_intervals(same, baseline=5, articles=articles, **SETTINGS)
    tested = table.columns[table.columns.str.contains("_p$|_fdr$|_p_|_fdr_")]
    assert (table.filter(like="drop_").drop(columns=tested) == 0).all(axis=None)
    assert (table.drop(index=5)[tested] == 1).all(axis=None)


def test_one_article_or_question_says_nothing_about_others():
    by_metric, articles = scores()
    table = score_intervals(by_metric, baseline=0, articles=np.full(60, "one"), **SETTINGS)
    by_article = table.filter(like="_by_article")
    assert by_article.isna().all(axis=None)
    assert table.drop(index=0, columns=by_article.columns).notna().all(axis=None)
    f1 = by_metric["f1"][0]
    assert np.isnan(mean_intervals(f1, np.full(60, "one"), **SETTINGS)).all()
    assert np.isnan(mean_intervals(f1[:1], **SETTINGS)).all()
    assert np.isfinite(mean_intervals(f1, articles, **SETTINGS)).all()


def test_without_baseline_or_articles_the_columns_are_there_and_empty():
    by_metric, articles = scores()
    whole = score_intervals(by_metric, baseline=0, articles=articles, **SETTINGS)
    bare = score_intervals(by_metric, baseline=None, **SETTINGS)
    assert list(bare.columns) == list(whole.columns)
    empty = bare.columns[bare.columns.str.startswith("drop_") | bare.columns.str.endswith("_by_article")]
    assert bare[empty].isna().all(axis=None)
    kept = bare.columns.difference(empty)
    assert bare[kept].equals(whole[kept])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_question_without_a_score_is_an_error(value):
    by_metric, _ = scores()
    by_metric["f1"][2, 7] = value
    with pytest.raises(InputError, match=r"NaN or infinite: .* Evaluate every condition on all"):
        score_intervals(by_metric, baseline=None, **SETTINGS)


def coverage(values, truth, articles=None):
    """Percent of data sets, [data set, question], whose interval holds the true mean."""
    low, high = mean_intervals(values, articles, seed=1, resamples=1000)
    return 100 * ((low <= truth) & (truth <= high)).mean()


def test_95_of_100_intervals_over_articles_hold_the_truth():
    # As many articles as SQuAD dev has, and as unequal; a tenth of the variance lies between them.
    rng = np.random.default_rng(7)
    sizes = np.round(40 * rng.lognormal(0, 0.5, 48)).astype(int)
    articles = np.repeat(np.arange(48), sizes)
    level, loss = (rng.beta(*shape, size=(2000, 48))[:, articles] for shape in ((6.3, 2.7), (1.8, 7.2)))
    baseline = rng.random(level.shape) < level
    condition = baseline & (rng.random(level.shape) >= loss)
    values, drops = 100.0 * condition, 100.0 * baseline - 100.0 * condition
    assert coverage(values, 56, articles) == pytest.approx(95, abs=2)
    assert coverage(drops, 14, articles) == pytest.approx(95, abs=2)
    assert coverage(values, 56) < 80


@pytest.mark.parametrize("sizes", [[10] * 8, [40, 30, 20, 10, 10, 5, 5, 5, 5, 5]])
def test_few_articles_are_made_up_for(sizes):
    rng = np.random.default_rng(8)
    articles = np.repeat(np.arange(len(sizes)), sizes)
    values = 0.3 * rng.normal(size=(2000, len(sizes)))[:, articles] + rng.normal(size=(2000, len(articles)))
    assert coverage(values, 0, articles) == pytest.approx(95, abs=2)


def test_means_over_different_items_of_the_same_units_have_the_intervals_of_articles():
    rng = np.random.default_rng(0)
    article = rng.integers(0, 30, 400)
    hits = rng.random((2, 400)) < 0.6
    sums = np.stack([np.bincount(article, row, 30) for row in hits], axis=1)
    sizes = np.repeat(np.bincount(article, minlength=30)[:, None], 2, axis=1).astype(float)
    both = ratio_intervals(sums, sizes, seed=3)
    np.testing.assert_allclose(both, mean_intervals(hits.astype(float), article, seed=3))
    # A unit without items of a column changes nothing but which units are drawn.
    low, high = ratio_intervals(np.pad(sums, ((0, 5), (0, 0))), np.pad(sizes, ((0, 5), (0, 0))), seed=3)
    np.testing.assert_allclose((low, high), both, atol=0.02)


def drawn(units: int):
    """Resampled means of as many units of unequal size, at various distances from 0, and the sizes."""
    rng = np.random.default_rng(units)
    sizes = rng.integers(1, 9, units).astype(float)
    means = rng.normal(size=(400, 200)) + 3 * rng.normal(size=200)
    # Some in whole numbers, so that draws lie on the limit itself.
    means[:, ::4] = means[:, ::4].round()
    return means, sizes


@pytest.mark.parametrize("units", [4, 5, 12, 36, 5000])
@pytest.mark.parametrize("limit", [0.0, 0.7])
def test_p_values_are_below_5_percent_exactly_where_the_interval_excludes_the_limit(units, limit):
    means, sizes = drawn(units)
    for level in (0.95, 0.9, 0.5) if units > 5 else (0.95,):
        low, high = bounds(means, sizes, level)
        excluded = (low > limit) | (high < limit)
        assert 0 < excluded.sum() < len(excluded)
        np.testing.assert_array_equal(p_values(means, sizes, limit) < 1 - level, excluded)
        for side, holds, fails in (("above", low > limit, high <= limit), ("below", high < limit, low >= limit)):
            np.testing.assert_array_equal(p_of_side(means, sizes, limit, side) < 1 - level, holds | fails)


def test_p_values_are_those_of_student_where_means_are_normal():
    rng = np.random.default_rng(2)
    values = rng.normal(0.6, 1, size=20)
    means = values.mean() + values.std() / np.sqrt(20) * stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    expected = stats.ttest_1samp(values, 0.25).pvalue
    assert p_values(means, np.ones(20), 0.25) == pytest.approx(expected, rel=0.01)
    assert p_of_side(means, np.ones(20), 0.25, "above") == pytest.approx(expected, rel=0.01)


def test_no_p_value_is_smaller_than_the_draws_can_show():
    far = 50 + np.zeros((10_000, 1))
    assert p_values(far, np.ones(36)) == pytest.approx(8.1e-4, rel=0.01)
    assert p_values(far, np.ones(10)) == pytest.approx(6.4e-3, rel=0.01)
    assert 0.04 < p_values(far, np.ones(3)) < 0.05
    assert p_values(0 * far, np.ones(36)) == 1


def test_rates_are_over_the_conditions_of_a_metric_but_the_baseline():
    by_metric, articles = scores(conditions=8)
    by_metric["f1"] -= 20 * (np.arange(8) % 3)[:, None]
    table = score_intervals(by_metric, baseline=2, articles=articles, **SETTINGS)
    for metric in by_metric:
        for unit in ("", "_by_article"):
            p, rate = (table[f"drop_{metric}_{name}{unit}"] for name in ("p", "fdr"))
            assert p.isna().tolist() == rate.isna().tolist() == [place == 2 for place in range(8)]
            np.testing.assert_allclose(rate.drop(index=2), stats.false_discovery_control(p.drop(index=2)))
            low, high = (table[f"drop_{metric}_{end}{unit}"] for end in ("low", "high"))
            assert ((p < 0.05) == ((low > 0) | (high < 0)))[p.notna()].all()


@pytest.mark.parametrize("by_article", [False, True])
def test_means_of_items_equal_those_of_a_naive_loop_over_every_item(by_article):
    """Sums over documents of several tokens each; documents, or articles of them, are drawn with all their tokens."""
    rng = np.random.default_rng(8)
    sizes, articles = rng.integers(1, 9, 25), np.array([f"a{number}" for number in rng.integers(0, 6, 25)])
    tokens = [rng.exponential(size=size) for size in sizes]
    sums = np.array([values.sum() for values in tokens])
    place = np.concatenate([[0], np.cumsum(sizes)])
    documents = [list(range(place[number], place[number + 1])) for number in range(25)]
    units = [[token for each in unit for token in documents[each]] for unit in units_of(articles)]
    found = mean_intervals(sums, articles if by_article else None, sizes=sizes, seed=3, resamples=400)
    assert found == pytest.approx(naive_bounds(np.concatenate(tokens), units if by_article else documents), abs=1e-9)
    assert mean_over(sums, sizes) == pytest.approx(np.concatenate(tokens).mean())
    of_one = mean_intervals(sums, sizes=np.ones(25), seed=3, resamples=400)
    assert of_one == mean_intervals(sums, seed=3, resamples=400)


def test_what_is_better_when_it_is_lower_drops_where_it_rises():
    sizes = np.array([4, 1, 2, 5, 3, 2])
    sums = np.array([[4.0, 2, 3, 9, 5, 2], [5.0, 2, 4, 12, 7, 3]])
    table = score_intervals({"loss": sums}, baseline=0, sizes=sizes, rising=["loss"], **SETTINGS)
    assert table["loss"].tolist() == pytest.approx([25 / 17, 33 / 17])
    assert table["drop_loss"].tolist() == pytest.approx([0, 8 / 17])
    assert 0 < table.loc[1, "drop_loss_low"] < 8 / 17 < table.loc[1, "drop_loss_high"]
    assert table.loc[1, "drop_loss_p"] < 0.05
    other = score_intervals({"loss": sums}, baseline=0, sizes=sizes, **SETTINGS)
    assert other["drop_loss_low"].tolist() == (-table["drop_loss_high"]).tolist()


TRUTHS = {
    # Rank of the truth that is claimed to be above 0, the truths, and whether the claim is true.
    "smallest, all on the limit": (-1, [0.0] * 12, False),
    "smallest, one on the limit": (-1, [0.0, *[4.0] * 11], False),
    "smallest, all just above": (-1, [0.5] * 12, True),
    "largest, all on the limit": (1, [0.0] * 12, False),
    "largest, one just above": (1, [0.5, *[-4.0] * 11], True),
    "fourth, three far above": (4, [*[4.0] * 3, *[0.0] * 9], False),
    "fourth, four just above": (4, [*[0.5] * 4, *[-4.0] * 8], True),
}


@pytest.mark.parametrize("case", TRUTHS)
def test_ranked_estimates_hold_few_false_claims_and_fail_few_true_ones(case):
    """Truths in standard errors; of the minimum of twelve true claims, a bootstrap of the minimum fails nearly all."""
    rank, truths, true = TRUTHS[case]
    units, trials, wrong = 60, 200, 0
    rng = np.random.default_rng(5)
    for trial in range(trials):
        noise = rng.normal(0, np.sqrt(units), (units, len(truths)))
        means = resampled_means(noise + truths, np.ones(units), seed=trial, resamples=1000)
        low, high = ranked_bounds(means, np.ones(units), rank)
        wrong += bool(high <= 0 if true else low > 0)
        assert (p_of_ranked(means, np.ones(units), 0, "above", rank) < 0.05) == (not low <= 0 < high)
    # Five percent, and what 200 trials scatter.
    assert wrong <= trials * 0.05 + 6


def test_one_of_many_estimates_that_is_far_beyond_the_limit_survives_a_correction():
    """The head of 144 that looks at the previous token: no number of heads beside it makes it doubtful."""
    estimates = np.random.default_rng(2).normal(0, 0.01, (2000, 144))
    estimates[:, 3] += 0.3
    sizes = np.ones(200)
    assert p_of_ranked(estimates, sizes, 0.1, "above", 1) == p_of_side(estimates, sizes, 0.1, "above")[3]
    # Three standard errors beyond are not enough for one of so many, though they are for one alone.
    estimates[:, 3] -= 0.17
    assert p_of_side(estimates, sizes, 0.1, "above")[3] < 0.01 < 0.05 < p_of_ranked(estimates, sizes, 0.1, "above", 1)


def test_what_the_draws_cannot_show_of_the_largest_of_several_is_student_s_test_corrected():
    units, p = 10, 0.006
    normal = stats.zscore(np.random.default_rng(0).normal(size=(units, 3)), ddof=1)
    values = normal + stats.t(units - 1).isf(p / 2) / np.sqrt(units)
    assert stats.ttest_1samp(values, 0).pvalue == pytest.approx(p)
    means = resampled_means(values, np.ones(units), seed=0, resamples=2000)
    assert p_of_ranked(means, np.ones(units), 0, "above", 1) == pytest.approx(3 * p, rel=0.1)


@pytest.mark.parametrize(("draws", "by_article"), [(5, False), (200, False), (200, True), (5, True)])
def test_intervals_over_draws_and_questions_equal_a_naive_loop(draws, by_article):
    rng = np.random.default_rng(0)
    values, sizes = rng.random((2, draws, 30)), rng.integers(1, 4, 30)
    articles = np.array([f"article {number}" for number in rng.integers(0, 7, 30)])
    units = units_of(articles) if by_article else [[question] for question in range(30)]
    low, high = crossed_intervals(values, articles if by_article else None, sizes=sizes, **SETTINGS)
    of_units, of_draws, means = np.random.default_rng(3), np.random.default_rng([3, 1]), []
    for _ in range(400):
        chosen = [question for unit in of_units.integers(0, len(units), len(units)) for question in units[unit]]
        drawn = of_draws.integers(0, draws, draws)
        sums = [sum(values[score, draw, question] for draw in drawn for question in chosen) for score in (0, 1)]
        means.append([each / draws / sum(sizes[question] for question in chosen) for each in sums])
    weights = np.array([sizes[unit].sum() for unit in units])
    fewer = weights if weights.sum() ** 2 / (weights**2).sum() < draws else np.ones(draws)
    expected = bounds(np.array(means), fewer)
    np.testing.assert_allclose([low, high], expected)


def test_one_draw_or_one_question_says_nothing_about_others():
    for shape in ((1, 9), (9, 1)):
        assert np.isnan(crossed_intervals(np.ones((2, *shape)), **SETTINGS)).all()


@pytest.mark.parametrize(("draws", "of_draws"), [(12, 1.0), (60, 0.2)])
def test_intervals_over_draws_and_questions_hold_the_truth(draws, of_draws):
    rng, over_both, over_questions = np.random.default_rng(0), 0, 0
    for seed in range(150):
        values = rng.normal(0, of_draws, (draws, 1)) + rng.normal(0, 1, 50) + rng.normal(0, 1, (draws, 50))
        low, high = crossed_intervals(values, seed=seed, resamples=300)
        over_both += low <= 0 <= high
        low, high = mean_intervals(values.mean(0), seed=seed, resamples=300)
        over_questions += low <= 0 <= high
    assert over_both / 150 > 0.92
    # With the draws as they are, they are too narrow where draws differ.
    assert of_draws < 1 or over_questions < over_both - 15


# Corrections for many tests


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


@pytest.mark.parametrize("correct", [holm, false_discovery_rates])
def test_what_was_not_tested_counts_for_nothing(correct):
    p = np.array([0.01, np.nan, 0.04, 0.03, np.nan])
    found = correct(p)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(p))
    np.testing.assert_allclose(found[[0, 2, 3]], correct(p[[0, 2, 3]]))
    assert np.isnan(correct(np.full(3, np.nan))).all()
    assert correct(np.array([0.02])) == [0.02]
