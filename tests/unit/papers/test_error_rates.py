"""Of every kind of rule that claims are judged by: false claims hardly ever hold, and true ones hardly ever fail.

Truths are known, and as hard to tell as they can be: a false claim lies on the limit, a true one hardly beyond it. What
is simulated are the constructors of `Measured` and what `judge` makes of findings. A verdict from a value without an
interval has no rate of errors, and is said to have none.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation.intervals import Scored
from headtypes.analyses.divergence.projection import layer_test
from headtypes.core.statistics import Evidence, Measured, mean_intervals
from headtypes.papers.claims import (
    FAILS,
    HOLDS,
    Claim,
    Finding,
    NoVerdictError,
    Quantities,
    Quantity,
    Verdict,
    beside_permuted_layers,
    correct,
    in_each_reading,
    judge,
)
from headtypes.papers.clark2019.claims.language import Column, Trees, sep_beyond_others
from headtypes.papers.clark2019.claims.texts import _permuted, alike_beyond_layers
from headtypes.papers.comparison import judged_together
from headtypes.papers.guan2020.quantities import beyond_others, by_thirds
from tests.support.clark_results import best_heads
from tests.support.measured import with_error

UNITS, TRIALS = 60, 200


def most_of(trials: int) -> int:
    """Five percent, and two standard errors of so many trials."""
    return round(trials * 0.05 + 2 * (trials * 0.05 * 0.95) ** 0.5)


MOST = most_of(TRIALS)
ONTO, FAR, NEAR = 0.0, 4.0, 0.01

# The findings of each trial, of several truths.
Simulate = Callable[[list[float], np.random.Generator], Iterator[list[Finding]]]


def above(measured: Measured, reading: str = "") -> Finding:
    return Finding("value", measured, "above", 0, reading)


def claim(ask: Callable) -> Claim:
    return Claim("c", ask=ask, about="", basis="from_table", place="", text="", limit="")


def verdicts(trials: Iterator[list[Finding]]) -> list:
    """The verdict on the claim that rests on the findings of each trial."""
    return [judge(claim(lambda quantities, it=it: it), Quantities({})) for it in trials]


def normal(truths: list[float], rng: np.random.Generator, shared: float = 0.0) -> np.ndarray:
    """[trial, unit, truth] values whose means have a standard error of 1; shared: what they have in common of it."""
    shape = TRIALS, UNITS, len(truths)
    common, own = rng.normal(0, UNITS**0.5, (*shape[:2], 1)), rng.normal(0, UNITS**0.5, shape)
    return np.array(truths) + shared**0.5 * common + (1 - shared) ** 0.5 * own


def of_means(truths: list[float], rng: np.random.Generator, shared: float = 0.0) -> Iterator[list[Finding]]:
    """One or several means, all of which have to be above 0."""
    for values in normal(truths, rng, shared):
        yield [above(Measured.by(Evidence(column), over="units")) for column in values.T]


def of_articles(truths: list[float], rng: np.random.Generator, articles: int) -> Iterator[list[Finding]]:
    """A mean over articles of unequal sizes, whose questions are alike; a few articles make most of it."""
    for sizes in rng.integers(20, 40, (TRIALS, articles)).astype(float):
        own = truths[0] + 1 - rng.exponential(1, articles) + rng.normal(0, sizes**-0.5)
        yield [above(Measured.by(Evidence(own, sizes), over="articles"))]


def off(truths: list[float], rng: np.random.Generator, limit: float) -> Iterator[list[Finding]]:
    """What a difference is off by, whichever its sign is, has to be below a limit."""
    for values in normal([limit - truths[0]], rng):
        own = np.sign(values.mean()) * values[:, 0]
        yield [Quantity("value", Measured.by(Evidence(own), over="units")).below(limit)]


def ranked(truths: list[float], rng: np.random.Generator, rank: int) -> Iterator[list[Finding]]:
    for values in normal(truths, rng):
        yield [above(Measured.by(*map(Evidence, values.T), over="units", rank=rank))]


def of_groups(truths: list[float], rng: np.random.Generator) -> Iterator[list[Finding]]:
    """What a few words of a sentence have less what all others have; sentences differ, and some have no such word."""
    sizes = np.stack([rng.integers(low, high, (UNITS, TRIALS)) for low, high in ((0, 3), (5, 30))], axis=-1)
    of_word = np.array([truths[0], 0]) + rng.normal(0, 1, (UNITS, TRIALS, 1)) + rng.normal(0, 1, sizes.shape)
    for sums, counts in zip(np.moveaxis(of_word * sizes, 1, 0), np.moveaxis(sizes, 1, 0), strict=True):
        few, many = map(Column, sums.T, counts.T)
        yield [above(Trees({}, columns={"few": few, "many": many}).measured({"few": 1.0, "many": -1.0}))]


def rare(truths: list[float], rng: np.random.Generator, side: int, points: float) -> Iterator[list[Finding]]:
    """Words of which hardly any is found by one head alone, less so many points: the truth lies on the limit."""
    lost = -side * (rng.random((UNITS, TRIALS)) < points / 100).astype(float)
    for of_trial in lost.T:
        trees = Trees({}, columns={"lead": Column(of_trial, np.ones(UNITS), -100.0)})
        yield [Quantity("value", trees.measured({"lead": float(side)})).above(-points)]


# What is lost of the answers: all of an article's, or any.
LOSSES = {
    "whole articles": lambda lost, article, rng: (rng.random(article.max() + 1) < lost)[article],
    "single answers": lambda lost, article, rng: rng.random(len(article)) < lost,
}


def left(
    truth: float,
    rng: np.random.Generator,
    types: int,
    articles: int,
    each: int,
    equal: bool,
    percent: float,
    how: str,
    right: float,
    trials: int,
) -> Iterator[list[Finding]]:
    """More than so many percent of the right answers are left without each of some types, which are so many of all."""
    for _ in range(trials):
        sizes = np.full(articles, each) if equal else np.ceil(each * rng.lognormal(0, 0.5, articles)).astype(int)
        article = np.repeat(np.arange(articles), sizes)
        before = rng.random(len(article)) < right
        answers = {"baseline": before}
        for type_ in range(types):
            answers[str(type_)] = before & ~LOSSES[how](1 - percent / 100 - truth / 100, article, rng)
        about = {"id": np.arange(len(article)).astype(str), "article": article}
        tables = {name: pd.DataFrame({**about, "exact_match": 100.0 * of}) for name, of in answers.items()}
        scored = Scored(tables, "exact_match")
        yield [
            Quantity("left", scored.sum({str(type_): 1.0, "baseline": -percent / 100}, "baseline")).above(0)
            for type_ in range(types)
        ]


def where(truths: list[float], rng: np.random.Generator, layers: int, own: bool) -> Iterator[list[Finding]]:
    """Most heads of a type are in the last third of layers; layers have mixes of their own, or none, and no order."""

    def beyond(heads: np.ndarray) -> np.ndarray:
        return 100 * beyond_others(by_thirds(heads), "last") / np.maximum(by_thirds(heads).sum(axis=-1), 1)

    for _ in range(TRIALS):
        shares = rng.beta(0.5, 1.5, layers) if own else np.full(layers, 0.25)
        yield [beside_permuted_layers("value", beyond, rng.binomial(12, shares)).above(0)]


def readings(truths: list[float], rng: np.random.Generator) -> Iterator[list[Finding]]:
    for findings in of_means(truths, rng, 0.9):
        yield in_each_reading({str(number): each for number, each in enumerate(findings)})


def beyond_chance(truths: list[float], rng: np.random.Generator) -> Iterator[list[Finding]]:
    """Ten values less ten others, beside what permutations give; a standard error is 0.45."""
    values = rng.normal(0, 1, (TRIALS, 20))
    values[:, :10] += 0.45 * truths[0]
    for each in values:
        permuted = rng.permuted(np.tile(each, (199, 1)), axis=1)
        own, *chance = 2 * np.vstack([each, permuted])[:, :10].mean(1) - 2 * each.mean()
        yield [above(Measured.beyond_chance(own, np.array(chance)))]


def of_layers(truths: list[float], rng: np.random.Generator) -> Iterator[list[Finding]]:
    layer = np.repeat(np.arange(3), 4)
    for trial in range(TRIALS):
        half = rng.random((12, 12))
        apart = half + half.T - 0.1 * truths[0] * (layer[:, None] == layer)
        yield [Quantity("value", _permuted(layer_test(apart, layer, seed=trial, permutations=99))).below(0)]


def of_behaviours(truths: list[float], rng: np.random.Generator) -> Iterator[list[Finding]]:
    """Heads of one behaviour are alike; heads of a layer are, whatever they do, and layers have mixes of their own."""
    layer = np.repeat(np.arange(4), 8)
    for _ in range(TRIALS):
        marked = np.array([rng.choice(["next", "sep", ""], 8, p=mix) for mix in rng.dirichlet([1, 1, 1], 4)])
        same = (marked.ravel()[:, None] == marked.ravel()) & (marked.ravel() != "")
        half = rng.random((32, 32))
        apart = half + half.T + 0.5 * (layer[:, None] != layer) - 0.1 * truths[0] * same
        np.fill_diagonal(apart, 0)
        yield [Quantity("value", alike_beyond_layers(apart, marked)).below(0)]


def beside_others(truths: list[float], rng: np.random.Generator) -> Iterator[list[Finding]]:
    """The best head of each of six relations beside the others of its layer; a standard error is 0.4, layers differ."""
    shape = 4, 8
    for _ in range(TRIALS):
        of_layer, of_head = rng.normal(0, 2, (4, 1)), rng.normal(0, 1, shape)
        relations = {str(number): number for number in range(6)}
        best = best_heads([("stanford", name) for name in relations], sentences=1, shape=shape)
        best.looks[:] = 0.5
        for number in relations.values():
            at = number, 0, number % 4, number
            best.chosen[number, 0, :2] = at[2:]
            best.rises[number, 0] = of_layer + of_head + rng.normal(0, 0.5, shape)
            best.leads[at], best.rises[at] = 20, best.rises[at] + truths[0]
        yield [above(sep_beyond_others(best, relations))]


# How it is simulated, with the truths of a false claim and of a true one.
KINDS: dict[str, tuple[Simulate, list[float], list[float]]] = {
    "a mean": (of_means, [ONTO], [NEAR]),
    **{f"a mean over {n} articles": (partial(of_articles, articles=n), [ONTO], [0.001]) for n in (8, 12, 19, 24, 48)},
    "an absolute difference": (partial(off, limit=8), [ONTO], [NEAR]),
    "an absolute difference of nothing": (partial(off, limit=NEAR), [ONTO], [NEAR]),
    "six that all have to hold": (of_means, [ONTO, *[FAR] * 5], [NEAR] * 6),
    "the smallest of twelve": (partial(ranked, rank=-1), [ONTO, *[FAR] * 11], [NEAR] * 12),
    "the largest of a hundred": (partial(ranked, rank=1), [ONTO] * 100, [NEAR, *[-FAR] * 99]),
    "four of twelve": (partial(ranked, rank=4), [*[FAR] * 3, *[ONTO] * 9], [*[NEAR] * 4, *[-FAR] * 8]),
    "most of twelve": (partial(ranked, rank=7), [*[FAR] * 6, *[ONTO] * 6], [*[NEAR] * 7, *[-FAR] * 5]),
    "some words less others": (of_groups, [ONTO], [0.001]),
    **{
        f"rare differences of {points} points, {name}": (partial(rare, side=side, points=points), [ONTO], [NEAR])
        for points in (0.5, 2.0)
        for name, side in (("more", 1), ("less", -1))
    },
    "three readings": (readings, [ONTO] * 3, [NEAR] * 3),
    "beyond permutations": (beyond_chance, [ONTO], [NEAR]),
    "beyond permutations of layers": (of_layers, [ONTO], [NEAR]),
    **{
        f"where heads of {layers} layers{mixes} are": (partial(where, layers=layers, own=own), [ONTO], [ONTO])
        for layers in (6, 12, 24)
        for mixes, own in ((" with mixes of their own", True), ("", False))
    },
    "behaviours of heads within layers": (of_behaviours, [ONTO], [NEAR]),
    "heads beside others of their layers": (beside_others, [ONTO], [NEAR]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_false_claims_hardly_ever_hold_and_true_ones_hardly_ever_fail(kind):
    simulate, false, true = KINDS[kind]
    for truths, wrong in ((false, HOLDS), (true, FAILS)):
        found = [it.verdict for it in verdicts(simulate(truths, np.random.default_rng(5)))]
        assert found.count(wrong) <= MOST, (wrong, found.count(wrong) / TRIALS)


def test_nothing_else_makes_an_interval():
    made = {name for name, it in vars(Measured).items() if isinstance(it, classmethod)}
    assert made == {"by", "beyond_chance"}


# Trials of a cell. Three articles are too few to tell anything.
CELL = 30
SIZES = ((3, 40), (8, 20), (12, 20), (20, 10), (48, 5))


def wrong_families(trials: Iterator[list[Finding]], wrong: str) -> int:
    """In how many trials some claim has the wrong verdict, once those on all types are corrected."""
    corrected = (correct(verdicts(iter([[it] for it in findings]))) for findings in trials)
    return sum(any(it.verdict == wrong for it in family) for family in corrected)


@pytest.mark.parametrize(("percent", "right"), product((95, 10), (0.6, 0.9, 1.0)))
def test_what_is_left_of_a_baseline_is_judged_by_the_articles_that_lose(percent, right):
    """Of so many articles, however answers are lost and however many types are tested; half a point makes a claim true.

    From cell to cell there are one to four types, and articles are equal or not.
    """
    cells = product(SIZES, ("whole articles", "single answers") if right == 1 else ("whole articles",))
    for number, ((articles, each), how) in enumerate(cells, start=round(10 * right) + percent):
        types, equal = 1 + number % 4, number % 3 == 0
        for truth, wrong in ((ONTO, HOLDS), (0.5, FAILS)):
            rng = np.random.default_rng(7)
            trials = left(truth, rng, types, articles, each, equal, percent, how, right, CELL)
            found = wrong_families(trials, wrong)
            assert found <= (most_of(CELL) if articles >= 8 else 0), (articles, types, equal, how, wrong, found / CELL)


# Effects of units whose mean is 0, and which a few units make.
SKEWED = {
    "exponential": lambda rng, shape: rng.exponential(1, shape) - 1,
    "log-normal": lambda rng, shape: rng.lognormal(0, 1, shape) - np.exp(0.5),
}


@pytest.mark.parametrize("effects", SKEWED)
@pytest.mark.parametrize("articles", [3, 5, 9, 12, 20, 30, 48])
def test_tables_have_the_intervals_of_claims(articles, effects):
    rng = np.random.default_rng(3)
    sizes = np.broadcast_to(rng.integers(20, 40, articles)[:, None], (articles, TRIALS)).astype(float)
    low, high = mean_intervals(SKEWED[effects](rng, sizes.shape) * sizes, sizes)
    assert np.isnan(low).all() == (articles < 8)
    assert (low > 0).sum() <= MOST
    assert (high < 0).sum() <= MOST


def test_intervals_know_that_few_units_show_less_skewness_than_there_is():
    """Over 20 log-normal units intervals end too low in 4.6 % of trials, and by the skewness that is seen in 7.0 %."""
    own = SKEWED["log-normal"](np.random.default_rng(9), (20, 2000))
    _, high = mean_intervals(own, np.ones_like(own))
    assert (high < 0).sum() <= most_of(2000)


def over_seeds(truths: np.ndarray, shared: float, rng: np.random.Generator) -> list[str]:
    """The verdict over models of each trial; truths: [trial, model]; shared: how much of the error, 1, models share."""
    error = shared**0.5 * rng.normal(size=(len(truths), 1)) + (1 - shared) ** 0.5 * rng.normal(size=truths.shape)
    said = claim(above), "", ""
    each = ([Verdict(*said, (above(with_error(value)),)) for value in values] for values in truths + error)
    return [judged_together(verdicts).verdict for verdicts in each]


# The share of seeds in a regime far beyond the limit, by how many standard errors, and what models share of the error.
SEEDS = {
    "two regimes": (0.5, 1 / 0.01, 1),
    "two regimes that are near": (0.5, 1 / 0.3, 0.5),
    **{
        f"a regime of {share} of the seeds, errors of {error} of the distance": (share, 1 / error, 1)
        for share in (0.05, 0.2, 0.4)
        for error in (0.01, 0.3)
    },
    "models that are alike": (0, 0, 1),
    "models of chance": (0, 0, 0),
}


@pytest.mark.parametrize("kind", SEEDS)
def test_what_most_seeds_do_not_give_hardly_ever_holds_over_models_and_what_they_give_hardly_ever_fails(kind):
    share, far, shared = SEEDS[kind]
    rng = np.random.default_rng(5)
    for near, side, wrong in ((ONTO, 1, HOLDS), (NEAR, -1, FAILS)):
        found = over_seeds(np.where(rng.random((TRIALS, 5)) < share, side * far, near), shared, rng)
        assert found.count(wrong) <= MOST, (wrong, found.count(wrong) / TRIALS)


def test_what_all_seeds_give_is_decided():
    """Each model by itself holds in 98 % of trials."""
    for shared, least in ((1, 0.9), (0, 0.8)):
        assert over_seeds(np.full((TRIALS, 5), FAR), shared, np.random.default_rng(6)).count(HOLDS) > least * TRIALS


@pytest.mark.parametrize("kind", ["a mean", "six that all have to hold", "the largest of a hundred", "three readings"])
def test_what_is_far_beyond_the_limit_is_decided(kind):
    simulate, _, true = KINDS[kind]
    for far, right in ((9.0, HOLDS), (-9.0, FAILS)):
        found = [it.verdict for it in verdicts(simulate([far] * len(true), np.random.default_rng(6)))]
        assert found.count(right) > 0.9 * TRIALS


def test_a_condition_that_is_hardly_met_adds_no_errors():
    """Its own value decides whether there is a verdict; what has one is as often wrong as without a condition."""

    def conditional(truth: float) -> Iterator[Claim]:
        for condition, claimed in of_means([2.0, truth], np.random.default_rng(7), shared=0.5):

            def ask(quantities: Quantities, condition=condition, claimed=claimed) -> Finding:
                if condition.verdict != HOLDS:
                    raise NoVerdictError("it is not met")
                return claimed

            yield claim(ask)

    for truth, wrong in ((ONTO, HOLDS), (NEAR, FAILS)):
        found = [judge(it, Quantities({})).verdict for it in conditional(truth)]
        assert found.count(wrong) <= MOST
        assert TRIALS / 5 < found.count("no verdict") < 4 * TRIALS / 5


def test_of_many_claims_hardly_ever_is_one_wrong_once_they_are_corrected():
    """Of twelve claims, half are false and half are true; each by itself would be wrong in one of forty runs."""
    truths, wrong = [ONTO, NEAR] * 6, {"before": 0, "after": 0}
    for findings in of_means(truths, np.random.default_rng(8), shared=0.3):
        judged = verdicts(iter([[it] for it in findings]))
        for when, found in (("before", judged), ("after", correct(judged))):
            pairs = zip(found, [HOLDS, FAILS] * 6, strict=True)
            wrong[when] += any(it.verdict == against for it, against in pairs)
    assert wrong["after"] <= MOST < wrong["before"]
