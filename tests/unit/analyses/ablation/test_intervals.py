"""Scores under conditions: drops are paired, and what is rare is counted in what changes, whatever the baseline."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from headtypes.analyses.ablation.intervals import Scored, condition_intervals, differences
from headtypes.core.errors import InputError
from headtypes.core.statistics import Evidence, Measured
from headtypes.papers.claims import FAILS, HOLDS, OPEN, Finding

CONDITIONS = ["baseline", "worse", "the same", "much worse"]
ARTICLES = [f"article {number}" for number in np.random.default_rng(5).integers(0, 24, 240)]


def answered(level: float, seed: int, articles=ARTICLES) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    exact_match = 100.0 * (rng.random(len(articles)) < level)
    f1 = np.maximum(exact_match, 100 * rng.random(len(articles)))
    ids = [f"q{number}" for number in range(len(articles))]
    return pd.DataFrame({"id": ids, "article": articles, "exact_match": exact_match, "f1": f1})


def tables() -> dict[str, pd.DataFrame]:
    """Of `CONDITIONS`; the third gives the answers of the first."""
    return {
        name: answered(level, seed)
        for name, (level, seed) in zip(CONDITIONS, ((0.8, 0), (0.6, 1), (0.8, 0), (0.1, 2)), strict=True)
    }


@pytest.mark.parametrize("step", [1, -1])
def test_every_condition_has_its_row_with_drops_from_the_baseline_wherever_it_stands(step):
    scores = dict(list(tables().items())[::step])
    table = condition_intervals(scores, "baseline")
    assert table["condition"].tolist() == CONDITIONS[::step]
    by_name = table.set_index("condition")
    for metric in ("exact_match", "f1"):
        values, before = scores["worse"][metric].to_numpy(), scores["baseline"][metric].to_numpy()
        for name, each, reach in ((metric, values, (0, 100)), (f"drop_{metric}", before - values, (-100, 100))):
            for suffix, unit in (("", np.arange(len(each))), ("_by_article", ARTICLES)):
                of_units = pd.Series(each).groupby(np.array(unit))
                evidence = Evidence(of_units.mean().to_numpy(), of_units.size().to_numpy(float), reach)
                expected = Measured.by(evidence, over="")
                found = by_name.loc["worse", [f"{name}_low{suffix}", f"{name}_high{suffix}"]].tolist()
                assert by_name.loc["worse", name] == pytest.approx(expected.value)
                assert found == pytest.approx([expected.low, expected.high])
        # What changes no answer drops by nothing, and that decides nothing.
        assert by_name.loc["the same", f"drop_{metric}"] == 0
        assert by_name.loc["the same", f"drop_{metric}_low"] < 0 < by_name.loc["the same", f"drop_{metric}_high"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_question_without_a_score_is_an_error(value):
    scores = tables()
    scores["worse"].loc[7, "f1"] = value
    with pytest.raises(InputError, match=r"1 of 960 scores are NaN or infinite: .* Evaluate every condition on all"):
        condition_intervals(scores, "baseline")


@pytest.mark.parametrize("articles", [3, 7, 8])
def test_over_few_articles_there_are_no_intervals(articles):
    of = [f"a{number % articles}" for number in range(240)]
    table = condition_intervals({"baseline": answered(0.8, 0, of), "c": answered(0.5, 1, of)}, "baseline")
    assert table.filter(like="high_by_article").isna().all(axis=None) == (articles < 8)
    assert table.loc[1].filter(like="high").drop(table.filter(like="by_article").columns, errors="ignore").notna().all()


def test_without_baseline_or_articles_the_columns_are_there_and_empty():
    whole = condition_intervals(tables(), "baseline")
    bare = condition_intervals({name: table.drop(columns="article") for name, table in tables().items()}, None)
    assert list(bare.columns) == list(whole.columns)
    empty = bare.columns[bare.columns.str.startswith("drop_") | bare.columns.str.endswith("_by_article")]
    assert bare[empty].isna().all(axis=None)
    kept = bare.columns.difference(empty)
    assert bare[kept].equals(whole[kept])


def test_differences_are_paired_and_over_articles():
    table = differences(tables()).set_index(["metric", "condition", "other"])
    assert len(table) == 2 * 4 * 3
    row = table.loc["f1", "much worse", "worse"]
    assert row["difference"] == pytest.approx(tables()["worse"]["f1"].mean() - tables()["much worse"]["f1"].mean())
    assert 0 < row["low"] < row["difference"] < row["high"]
    assert row["over"] == "articles"
    back = table.loc["f1", "worse", "much worse"]
    assert (back["low"], back["high"]) == pytest.approx((-row["high"], -row["low"]))


def over_articles(lost: list[int], questions: int = 20, wrong: int = 0) -> Scored:
    """Of each article so many of its questions lose their answer, and so many had none in every other article."""
    article = np.repeat(np.arange(len(lost)), questions)
    number = np.tile(np.arange(questions), len(lost))
    before = 100.0 * (number < questions - wrong * (article % 2))
    after = before * (number >= np.repeat(lost, questions))
    ids = np.arange(len(article)).astype(str)
    columns = {"baseline": before, "c": after}
    return Scored(
        {name: pd.DataFrame({"id": ids, "article": article, "exact_match": it}) for name, it in columns.items()},
        "exact_match",
    )


def drop_of(scored: Scored) -> Measured:
    return scored.sum({"baseline": 1.0, "c": -1.0}, "baseline")


def test_articles_that_do_not_differ_are_not_counted():
    assert drop_of(over_articles([2] * 9 + [3] * 9)).units == 9
    assert drop_of(over_articles(list(range(20)) * 2)).units == 38


def test_of_few_articles_that_differ_the_bound_is_exact():
    """Of 60 articles of which none differs, 6 of 100 may lose all answers; of 60 of which 3 lose all, 14 may."""
    for lost, most in (([0] * 60, 1 - 0.025 ** (1 / 60)), ([0] * 57 + [20] * 3, beta.isf(0.025, 4, 57))):
        drop = drop_of(over_articles(lost))
        assert drop.high == pytest.approx(100 * most, abs=0.4)
        assert Finding("", drop, "below", drop.high - 0.1).verdict == OPEN
        assert Finding("", drop, "below", drop.high + 0.1).verdict == HOLDS
        assert Finding("", drop, "above", 50.0).verdict == FAILS


@pytest.mark.parametrize("wrong", [0, 5])
def test_what_is_left_of_a_baseline_rests_on_the_articles_that_lose_whatever_the_baseline(wrong):
    """Of 20 articles of which none loses, one of six may: that 95 percent are left is not shown, that half are is."""
    scored = over_articles([0] * 20, wrong=wrong)
    left = {percent: scored.sum({"c": 1.0, "baseline": -percent / 100}, "baseline") for percent in (95, 50)}
    assert left[95].low < 0 < left[95].value < left[95].high
    assert left[50].low > 0
    # Nearly all lose everything: hardly any differ in what is left of them.
    scored = over_articles([20] * 19 + [0], wrong=wrong)
    assert scored.sum({"c": 1.0, "baseline": -0.1}, "baseline").high > 0


def test_what_many_articles_of_few_lose_is_told():
    lost = np.random.default_rng(2).binomial(20, 0.3, 16).tolist()
    assert Finding("", drop_of(over_articles(lost)), "above", 0.0).verdict == HOLDS
    assert Finding("", drop_of(over_articles(lost[:7])), "above", 0.0).verdict == OPEN


def read_texts(factor: float, seed: int) -> pd.DataFrame:
    tokens = np.random.default_rng(1).integers(5, 40, 20)
    loss = factor * tokens * np.random.default_rng(seed).uniform(1, 2, 20)
    return pd.DataFrame({"id": [f"d{number}" for number in range(20)], "loss": loss, "tokens": tokens})


def test_texts_have_the_loss_of_a_token_whose_drop_is_its_rise():
    scores = {"baseline": read_texts(1, 0), "c": read_texts(1.5, 1)}
    found = condition_intervals(scores, "baseline")
    assert {name for name in found if not name.endswith(("low", "high", "_by_article"))} == {
        *("condition", "loss", "drop_loss")
    }
    before, after = (table["loss"].sum() / table["tokens"].sum() for table in scores.values())
    assert found["loss"].tolist() == pytest.approx([before, after])
    assert found["drop_loss"].tolist() == pytest.approx([0, after - before])
    assert 0 < found.loc[1, "drop_loss_low"] < after - before < found.loc[1, "drop_loss_high"]
    # Sums of conditions are those of losses as they are.
    total = Scored(scores, "loss").sum({"c": 1, "baseline": -1}, "baseline")
    expected = found.loc[1, ["drop_loss", "drop_loss_low", "drop_loss_high"]].tolist()
    assert [total.value, total.low, total.high] == pytest.approx(expected)
