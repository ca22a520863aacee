"""What random heads cost, beside what the condition costs, on exactly the questions that the controls were asked."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation import control_drops as module
from headtypes.analyses.ablation.control_drops import (
    LAYER,
    control_drops,
    drops_over_seeds,
    enough,
    further_draws,
    of_family,
    sequential_p,
)
from headtypes.core.statistics import ALPHA, crossed_intervals

ASKED = ["q7", "q2", "q9"]
METRICS = ("exact_match", "f1")


def scores(exact_match: list[float], ids: list[str], **more) -> pd.DataFrame:
    return pd.DataFrame({"id": ids, "article": "a", "exact_match": exact_match, "f1": np.add(exact_match, 1.0), **more})


def everywhere(of_asked: list[float], elsewhere: float) -> pd.DataFrame:
    """Scores of ten questions, of which the controls were asked three."""
    figures = {f"q{number}": elsewhere for number in range(10)} | dict(zip(ASKED, of_asked, strict=True))
    return scores(list(figures.values()), list(figures))


def of_layer(draws: list[pd.DataFrame]) -> pd.DataFrame:
    """The draws of random heads of the same layers; these are all that are planned."""
    numbered = [each.assign(draw=draw, family=LAYER) for draw, each in enumerate(draws)]
    return pd.concat(numbered, ignore_index=True).assign(planned=len(draws))


def test_drops_are_those_on_the_questions_that_were_asked():
    draws = (([90, 90, 60], 0.5), ([60, 0, 0], 0.25), ([90, 90, 90], 0.0))
    controls = of_layer([scores(exact_match, ASKED, overlap=overlap) for exact_match, overlap in draws])
    # Elsewhere the condition gains 100 points, which does not concern the controls.
    found = control_drops(controls, everywhere([30, 60, 0], 100.0), everywhere([90, 90, 90], 0.0), seed=0)
    of_metric = {
        "control_drop_{}": pytest.approx((10 + 70 + 0) / 3),
        "control_drop_{}_low": pytest.approx(0),
        "control_drop_{}_high": pytest.approx(70),
        "own_drop_{}": pytest.approx(60),
        "own_excess_{}": pytest.approx(60 - 80 / 3),
        "own_rank_{}": 2,
        "own_rank_p_{}": 0.5,
        "detectable_drop_{}": pytest.approx(np.nan, nan_ok=True),
    }
    assert {name: value for name, value in found.items() if "_excess_" not in name or name.endswith(METRICS)} == {
        "control_draws": 3,
        "control_draws_planned": 3,
        "control_questions": 3,
        "control_overlap": 0.25,
        **{name.format(metric): value for metric in METRICS for name, value in of_metric.items()},
    }


def many(own_cost: float, costs: list[float]) -> tuple[pd.DataFrame, ...]:
    """Controls, scores and baseline of questions of ten articles that cost this share of the answers, in percent."""
    rng, questions = np.random.default_rng(0), 200
    ids, articles = [f"q{number}" for number in range(questions)], [f"a{number % 10}" for number in range(questions)]

    def answered(cost: float) -> pd.DataFrame:
        right = 100.0 * (rng.permutation(questions) >= round(questions * cost / 100))
        return pd.DataFrame({"id": ids, "article": articles, "exact_match": right, "f1": right})

    draws = of_layer([answered(cost).assign(overlap=0.5) for cost in costs])
    return draws, answered(own_cost), answered(0)


@pytest.mark.parametrize(
    ("own_cost", "rank", "p"),
    # Of twenty draws that cost 10, 11, ... 29 percent: an equal draw goes before the type's own, and the first of them
    # that costs as much decides.
    [
        (60, 1, 1 / 21),
        (29.5, 1, 1 / 21),
        (29, 2, 1 / 20),
        (27.5, 3, 1 / 19),
        (19.5, 11, 1 / 11),
        (10, 21, 1),
        (5, 21, 1),
    ],
)
def test_the_rank_counts_the_draws_that_cost_at_least_as_much(own_cost, rank, p):
    found = control_drops(*many(own_cost, list(range(10, 30))), seed=0)
    for metric in METRICS:
        assert found[f"own_drop_{metric}"] == pytest.approx(own_cost)
        assert found[f"own_rank_{metric}"] == rank
        assert found[f"own_rank_p_{metric}"] == pytest.approx(p)
        assert found[f"own_excess_{metric}"] == pytest.approx(own_cost - 19.5)


@pytest.mark.parametrize(("draws", "expected"), [(18, np.nan), (19, 29.5), (39, 29), (59, 28.5)])
def test_a_larger_drop_than_the_detectable_one_would_have_been_told(draws, expected):
    costs = [10.0] * (draws - 4) + [28, 28.5, 29, 29.5]
    found = control_drops(*many(5, costs), seed=0)
    assert found["detectable_drop_f1"] == pytest.approx(expected, nan_ok=True)
    if draws > 18:
        for own_cost, told in ((expected, False), (expected + 0.5, True)):
            assert (control_drops(*many(own_cost, costs), seed=0)["own_rank_p_f1"] <= 0.05) == told


def test_families_have_columns_of_their_own():
    controls, own, baseline = many(30, [10] * 20)
    controls.loc[controls["draw"] > 0, "family"] = "profile"
    found = control_drops(controls, own, baseline, seed=0)
    assert (found["control_draws"], found["profile_control_draws"]) == (1, 19)
    # One of its twenty draws is lacking, as if it had cost as much.
    assert found["profile_own_rank_p_f1"] == pytest.approx(1 / 20)
    alone = control_drops(of_family(controls), own, baseline, seed=0)
    assert {name: found[name] for name in alone} == pytest.approx(alone, nan_ok=True)


def test_draws_that_are_the_type_itself_are_not_told_from_it():
    controls, own, baseline = many(30, [30])
    controls = of_layer([own.assign(overlap=1.0)] * 20)
    # In another order: sums of the same scores may differ by rounding.
    found = control_drops(controls.sample(frac=1, random_state=0), own, baseline, seed=0)
    ends = [f"own_excess_f1{end}" for end in ("", "_low", "_high", "_low_by_article", "_high_by_article")]
    assert [found[name] for name in ends] == pytest.approx([0] * 5, abs=1e-9)
    assert (found["own_rank_f1"], found["own_rank_p_f1"]) == (21, 1)


def test_the_interval_is_the_bootstrap_of_the_difference_over_draws_and_questions():
    controls, own, baseline = many(40, [10, 20, 45])
    found = control_drops(controls, own, baseline, seed=5)
    # Each draw beside the condition, question by question: what makes a question hard for both cancels out.
    own = own.sort_values("id").set_index("id")
    excess = np.stack([(each.set_index("id")["f1"] - own["f1"])[own.index] for _, each in controls.groupby("draw")])
    for unit, articles in (("", None), ("_by_article", own["article"].to_numpy())):
        expected = excess.mean(), *map(float, crossed_intervals(excess, articles, seed=5))
        ends = [found[f"own_excess_f1{end}"] for end in ("", f"_low{unit}", f"_high{unit}")]
        assert ends == pytest.approx(list(expected))
    assert found["own_excess_f1_low"] < found["own_excess_f1"] < found["own_excess_f1_high"]


def test_a_loss_drops_where_it_rises_and_is_that_of_a_token():
    baseline = pd.DataFrame({"id": ["a", "b", "c"], "loss": [10.0, 30.0, 9.0], "tokens": [10, 20, 3]})
    own = baseline.assign(loss=[20.0, 50.0, 9.0])
    asked = baseline.iloc[:2]
    draws = [asked.assign(loss=loss, overlap=0.5) for loss in ([16.0, 30.0], [30.0, 70.0], [4.0, 33.0])]
    controls = of_layer(draws)
    found = control_drops(controls, own, baseline, seed=0)
    assert found["own_drop_loss"] == pytest.approx(30 / 30)
    of_draws = found["control_drop_loss"], found["control_drop_loss_low"], found["control_drop_loss_high"]
    assert of_draws == pytest.approx((63 / 3 / 30, -3 / 30, 60 / 30))
    assert found["own_excess_loss"] == pytest.approx(9 / 30)
    assert (found["own_rank_loss"], found["control_questions"]) == (2, 2)
    assert found["own_excess_loss_low"] < 9 / 30 < found["own_excess_loss_high"]


def seeds_of_one_model(cost: float, rng: np.random.Generator, draws: int = 19) -> list[tuple[pd.DataFrame, ...]]:
    """Three models of one layer, whose heads cost alike, and whose types hardly differ; cost: of heads of the type."""
    heads, ids = 12, ["a", "b"]
    of_head, types = rng.normal(0, 1, heads), np.arange(heads) < 4
    orders, models = [rng.permutation(heads) for _ in range(draws)], []
    for _ in range(3):
        own = types.copy()
        own[rng.permutation(heads)[:2]] ^= True
        costs = of_head + rng.normal(0, 0.3, heads) + cost * own
        left = [50.0 - costs[chosen].sum() for chosen in (np.zeros(heads, bool), own, *(own[it] for it in orders))]
        # Whatever a question is, it loses the same.
        table = pd.DataFrame(
            {"id": ids * len(left), "f1": np.repeat(left, 2), "draw": np.repeat(np.arange(-2, draws), 2)}
        )
        baseline, scores, drawn = table[:2], table[2:4], table[4:].assign(family=LAYER, overlap=0.0, planned=draws)
        models.append((drawn.assign(exact_match=0.0), scores.assign(exact_match=0.0), baseline.assign(exact_match=0.0)))
    return models


@pytest.mark.parametrize(("cost", "trials", "least", "most"), [(0.0, 60, 0, 0.1), (3.0, 15, 0.9, 1)])
def test_over_seeds_with_heads_that_are_alike_chance_tells_one_in_twenty(cost, trials, least, most, monkeypatch):
    """And what costs more is told. Five percent, and two standard errors of so many trials."""
    monkeypatch.setitem(crossed_intervals.__kwdefaults__, "resamples", 2)
    rng = np.random.default_rng(4)
    found = [drops_over_seeds(seeds_of_one_model(cost, rng), seed=0)["seeds_own_rank_p_f1"] for _ in range(trials)]
    assert least <= np.mean(np.array(found) <= 0.05) <= most


def test_what_is_lost_over_seeds_is_the_mean_of_what_each_loses():
    models = seeds_of_one_model(0.5, np.random.default_rng(2), draws=5)
    found = drops_over_seeds(models, seed=0)
    each = [control_drops(*model, seed=0) for model in models]
    for name in ("own_drop_f1", "control_drop_f1", "own_excess_f1", "control_overlap"):
        assert found[f"seeds_{name}"] == pytest.approx(np.mean([it[name] for it in each]))
    assert (found["seeds_models"], found["seeds_control_draws"]) == (3, 5)
    assert drops_over_seeds(models[:1], seed=0) == {}


# The sequential permutation test, beside an enumeration of all orders


def until_decided(reached: np.ndarray, draws: int) -> np.ndarray:
    """The draws that are made, of all that could be, in rounds as `controls` makes them."""
    made = 0
    while number := further_draws(reached[:made], draws):
        made += number
    return reached[:made]


@pytest.mark.parametrize(("alpha", "draws"), [(0.25, 11), (0.25, 13), (0.2, 9), (0.5, 6), (0.05, 6)])
def test_the_p_is_exact_and_holds_whenever_one_stops(alpha, draws, monkeypatch):
    monkeypatch.setattr(module, "ALPHA", alpha)
    # Of a value that is exchangeable with the draws, every number that reach it is as likely, in any order.
    at_the_end, at_any_stop = {}, {}
    for order in product([False, True], repeat=draws):
        probability = Fraction(1, (draws + 1) * comb(draws, sum(order)))
        made = until_decided(np.array(order), draws)
        ps = [Fraction(sequential_p(made[:number], draws)).limit_denominator(1000) for number in range(len(made) + 1)]
        assert ps == sorted(ps, reverse=True), "what is known so far is never taken back"
        for found, p in ((at_the_end, ps[-1]), (at_any_stop, min(ps))):
            found[p] = found.get(p, 0) + probability
    for found in (at_the_end, at_any_stop):
        assert sum(found.values()) == 1
        for p in found:
            assert sum(share for other, share in found.items() if other <= p) == p


def test_draws_end_where_no_p_of_five_percent_can_follow():
    for draws in (19, 20, 80, 199, 200, 999):
        end = enough(draws)
        assert end / (draws + 1) <= ALPHA < (end + 1) / (draws + 1)
        never, always = np.zeros(draws, bool), np.ones(draws, bool)
        assert len(until_decided(never, draws)) == draws
        assert sequential_p(never, draws) == pytest.approx(1 / (draws + 1))
        assert len(until_decided(always, draws)) == end
        assert sequential_p(until_decided(always, draws), draws) == 1
    # So few cannot decide, and all are made.
    assert len(until_decided(np.ones(18, bool), 18)) == 18
    assert sequential_p(np.zeros(18, bool), 18) == pytest.approx(1 / 19)
