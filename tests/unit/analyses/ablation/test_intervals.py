"""Intervals of conditions: each row that of its own scores, drops paired, sums those of a loop over the same draws."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom

from headtypes.analyses.ablation import intervals
from headtypes.analyses.ablation.intervals import condition_intervals, weighted_sums
from headtypes.core import statistics
from headtypes.papers.quantities import FAILS, HOLDS, OPEN, Finding, Measured
from tests.support.resampling import naive_bounds, units_of

RESAMPLES = 200
CONDITIONS = ["baseline", "worse", "the same", "much worse"]
ARTICLES = [f"article {number}" for number in np.random.default_rng(5).integers(0, 7, 240)]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """As few for the tables as for the sums, so that loops over them take no time."""
    monkeypatch.setattr(intervals, "RESAMPLES", RESAMPLES)
    monkeypatch.setitem(statistics.score_intervals.__kwdefaults__, "resamples", RESAMPLES)


def answered(level: float, seed: int, articles=ARTICLES) -> pd.DataFrame:
    """Scores of questions of which a share is answered."""
    rng = np.random.default_rng(seed)
    exact_match = 100.0 * (rng.random(len(articles)) < level)
    f1 = np.maximum(exact_match, 100 * rng.random(len(articles)))
    ids = [f"q{number}" for number in range(len(articles))]
    return pd.DataFrame({"id": ids, "article": articles, "exact_match": exact_match, "f1": f1})


def tables() -> list[pd.DataFrame]:
    """Of `CONDITIONS`; the third gives the answers of the first."""
    return [answered(level, seed) for level, seed in ((0.8, 0), (0.6, 1), (0.8, 0), (0.1, 2))]


@pytest.mark.parametrize("step", [1, -1])
def test_every_condition_has_its_row_with_drops_from_the_baseline_wherever_it_stands(step):
    scores, conditions = tables()[::step], CONDITIONS[::step]
    table = condition_intervals(scores, conditions=conditions, baseline="baseline", seed=11)
    assert table["condition"].tolist() == conditions
    by_metric = {name: np.stack([of_condition[name] for of_condition in scores]) for name in ("exact_match", "f1")}
    how = {"baseline": conditions.index("baseline"), "articles": np.array(ARTICLES), "seed": 11}
    pd.testing.assert_frame_equal(table.drop(columns="condition"), statistics.score_intervals(by_metric, **how))


@pytest.mark.parametrize("metric", ["exact_match", "f1"])
@pytest.mark.parametrize(
    "weights", [{"worse": 1.0}, {"baseline": 1.0, "worse": -1.0}, {"much worse": -1, "the same": 0.25, "worse": 2}]
)
def test_sums_equal_a_loop_over_the_same_articles(weights, metric):
    by_condition = dict(zip(CONDITIONS, tables(), strict=True))
    value, low, high, *_ = weighted_sums(by_condition, seed=4)(weights, metric)
    summed = sum(weight * by_condition[name][metric] for name, weight in weights.items())
    assert value == pytest.approx(summed.mean())
    ends = naive_bounds(summed, units_of(ARTICLES), seed=4, resamples=RESAMPLES)
    assert [low, high] == pytest.approx(ends, abs=1e-9)


def test_one_article_alone_has_a_value_and_no_interval():
    scores = {"baseline": answered(0.8, 0, ["one"] * 20), "c": answered(0.4, 1, ["one"] * 20)}
    value, low, high, *_ = weighted_sums(scores, seed=4)({"baseline": 1, "c": -1}, "f1")
    assert value == pytest.approx(scores["baseline"]["f1"].mean() - scores["c"]["f1"].mean())
    assert np.isnan([low, high]).all()
    two = {name: table.assign(article=["one"] * 19 + ["two"]) for name, table in scores.items()}
    assert not np.isnan(weighted_sums(two, seed=4)({"c": 1}, "f1")[:3]).any()


def of_answers(lost: int, questions: int, won: int = 0) -> Measured:
    """The drop of a condition that loses the first answers and wins others that the baseline lacks."""
    baseline, condition = np.full((2, questions), 100.0)
    condition[:lost] = 0
    baseline[lost : lost + won] = 0
    scores = {"baseline": baseline, "c": condition}
    tables = {name: pd.DataFrame({"exact_match": values, "f1": values}) for name, values in scores.items()}
    return Measured(*weighted_sums(tables, seed=1)({"baseline": 1, "c": -1}, "exact_match"))


@pytest.mark.parametrize(("questions", "points"), [*product([20, 50, 200, 1000], [0.5, 1.0, 1.5, 2.0]), (2000, 0.5)])
def test_rare_differences_decide_wrongly_in_at_most_one_run_of_twenty(questions, points, monkeypatch):
    """By the probability of each number of lost answers, where the true drop is so many points."""
    monkeypatch.setattr(intervals, "RESAMPLES", 2000)
    lost = np.arange(int(binom.isf(1e-4, questions, points / 100)) + 1)
    chance = binom.pmf(lost, questions, points / 100)
    drops = [of_answers(number, questions) for number in lost]
    for side, limit, wrong in (("below", points, HOLDS), ("above", points, HOLDS), ("above", 0.0, FAILS)):
        verdicts = np.array([Finding("", drop, side, limit).verdict for drop in drops])
        assert chance[verdicts == wrong].sum() <= 0.05, (side, limit)


def test_where_no_answer_differs_a_drop_is_below_what_so_many_questions_can_show():
    few, many = of_answers(0, 100), of_answers(0, 1000)
    assert (Finding("", few, "above", 0.0).verdict, Finding("", few, "below", 1.5).verdict) == (OPEN, OPEN)
    assert Finding("", many, "below", 1.5).verdict == HOLDS
    # The rule of three: with 1,000 questions a drop of 0.3 points would show in 19 runs of 20.
    assert (many.low, many.high) == pytest.approx((-0.299, 0.299), abs=1e-3)


def test_few_answers_that_all_differ_in_one_way_tell_a_drop():
    assert Finding("", of_answers(9, 200), "above", 0.0).verdict == HOLDS
    assert Finding("", of_answers(5, 200, won=4), "above", 0.0).verdict == OPEN


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (1, 0), (8, 0), (3, 2), (19, 0)])
def test_p_values_of_rare_differences_decide_as_their_intervals_do(lost, won):
    drop = of_answers(lost, 100, won)
    for side in ("above", "below"):
        for limit in (0.0, drop.low - 0.1, drop.low + 0.1, drop.high - 0.1, drop.high + 0.1):
            finding = Finding("", drop, side, limit)
            assert (finding.p < 0.05) == (finding.verdict != OPEN), (side, limit)


def drop_over_articles(lost: list[int], questions: int = 20) -> Measured:
    """The drop of a condition that loses so many answers in each article of so many questions."""
    baseline = np.full(len(lost) * questions, 100.0)
    condition = np.concatenate([100.0 * (np.arange(questions) >= number) for number in lost])
    articles = np.repeat(np.arange(len(lost)), questions).astype(str)
    tables = {
        name: pd.DataFrame({"article": articles, "exact_match": values, "f1": values})
        for name, values in (("baseline", baseline), ("c", condition))
    }
    return Measured(*weighted_sums(tables, seed=1)({"baseline": 1, "c": -1}, "exact_match"))


@pytest.mark.parametrize(
    ("articles", "points", "correlation"),
    [(9, 10.0, 0.2), (12, 2.0, 0.02), (19, 2.0, 0.2), (19, 10.0, 0.02), (24, 5.0, 0.9), (48, 5.0, 0.3), (64, 5.0, 0.9)],
)
def test_over_few_articles_at_most_one_run_of_twenty_is_wrong(articles, points, correlation, monkeypatch):
    """Answers of one article are lost together; the true drop is so many points, and lies on the limits."""
    monkeypatch.setattr(intervals, "RESAMPLES", 4000)
    rng, share, verdicts = np.random.default_rng(3), points / 100, []
    for _ in range(60):
        of_article = rng.beta(*((1 / correlation - 1) * np.array([share, 1 - share])), articles)
        drop = drop_over_articles(rng.binomial(20, of_article).tolist())
        verdicts.append([Finding("", drop, side, points).verdict for side in ("above", "below")])
    wrong = (np.array(verdicts) == HOLDS).mean(axis=0)
    assert wrong.max() <= 0.05


def test_articles_that_do_not_differ_are_not_counted():
    assert drop_over_articles([2] * 9 + [3] * 9).units == 9
    assert drop_over_articles(list(range(20)) * 2).units == 38


def test_of_few_articles_that_differ_the_bound_is_exact():
    """Of 60 articles of which none differs, 1 of 20 may lose all answers; of 60 of which 3 differ, 15 of 100."""
    for lost, most in (([0] * 60, 1 - 0.05 ** (1 / 60)), ([0] * 57 + [1] * 3, beta.isf(0.0125, 4, 57))):
        drop = drop_over_articles(lost)
        assert drop.high == pytest.approx(100 * most)
        assert [Finding("", drop, "below", limit).verdict for limit in (drop.high - 0.1, drop.high + 0.1)] == [
            OPEN,
            HOLDS,
        ]
        assert Finding("", drop, "above", 50.0).verdict == FAILS


def test_what_many_articles_of_few_lose_is_told(monkeypatch):
    # Fewer resamples would not tell it.
    monkeypatch.setattr(intervals, "RESAMPLES", 4000)
    lost = np.random.default_rng(2).binomial(20, 0.3, 16).tolist()
    assert Finding("", drop_over_articles(lost), "above", 0.0).verdict == HOLDS
    assert Finding("", drop_over_articles(lost[:7]), "above", 0.0).verdict == OPEN


def read_texts(factor: float, seed: int) -> pd.DataFrame:
    """The losses of documents of different lengths."""
    tokens = np.random.default_rng(1).integers(5, 40, 20)
    loss = factor * tokens * np.random.default_rng(seed).uniform(1, 2, 20)
    return pd.DataFrame({"id": [f"d{number}" for number in range(20)], "loss": loss, "tokens": tokens})


def test_texts_have_the_loss_of_a_token_whose_drop_is_its_rise():
    scores = [read_texts(1, 0), read_texts(1.5, 1)]
    found = condition_intervals(scores, conditions=["baseline", "c"], baseline="baseline", seed=2)
    assert {name for name in found if not name.endswith(("low", "high", "_by_article"))} == {
        *("condition", "loss", "drop_loss", "drop_loss_p", "drop_loss_fdr")
    }
    before, after = (table["loss"].sum() / table["tokens"].sum() for table in scores)
    assert found["loss"].tolist() == pytest.approx([before, after])
    assert found["drop_loss"].tolist() == pytest.approx([0, after - before])
    assert 0 < found.loc[1, "drop_loss_low"] < after - before < found.loc[1, "drop_loss_high"]
    # Sums of conditions are those of losses as they are, with the same draws.
    total = weighted_sums(dict(zip(["baseline", "c"], scores, strict=True)), seed=2)({"c": 1, "baseline": -1}, "loss")
    assert total[:3] == pytest.approx(found.loc[1, ["drop_loss", "drop_loss_low", "drop_loss_high"]].tolist())
