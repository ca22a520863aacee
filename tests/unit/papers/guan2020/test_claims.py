"""The paper's claims: all hold on its own numbers, each can be broken by itself, and doubt gives no verdict."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from headtypes.papers.claims import FAILS, HOLDS, NO_VERDICT, OPEN, Verdict
from headtypes.papers.claims import judge as judge_claim
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.quantities import published_quantities
from headtypes.papers.guan2020.words import name_operations
from headtypes.papers.quantities import Measured, Quantities
from headtypes.types.names import TYPES
from tests.support.places import GUAN

REFERENCE = read_guan2020(GUAN)
CLAIMS = {claim.id: claim for claim in REFERENCE.claims}
IN_WORDS = {"best_k", "layers", "spread", "kept"}

# Heads of each type in the 12 layers of a model that is as the paper says.
LAYERS = {
    "dense": [5, 5, 5, 4, 1, 1, 1, 1, 1, 1, 1, 1],
    "diagonal": [3, 3, 3, 3, 3, 0, 3, 3, 3, 3, 3, 3],
    "dense_vertical": [1, 1, 1, 1, 6, 6, 6, 6, 4, 3, 2, 2],
    "vertical": [0, 0, 0, 0, 0, 1, 0, 0, 4, 5, 5, 6],
}


@dataclass(frozen=True)
class Evidence:
    """What is known of a model, in the shapes in which tests change it most easily."""

    doubtful: tuple[str, ...] = ()
    scores: dict[int, dict[str, float]] = field(default_factory=dict)
    interval: Any = None
    shares: dict[str, float] = field(default_factory=dict)
    heads: dict[str, list[int]] = field(default_factory=dict)
    stability: dict[str, float] = field(default_factory=dict)
    silhouettes: dict[int, float] = field(default_factory=dict)
    kept: float | None = None
    doubtful_in_parent: tuple[str, ...] = ()

    def quantities(self) -> Quantities:
        values = {f"share.{name}": share for name, share in self.shares.items()}
        values |= {f"doubtful.{name}": 1 for name in self.doubtful}
        values |= {f"{number}.{metric}": v for number, row in self.scores.items() for metric, v in row.items()}
        values |= {f"heads.{layer}.{name}": n for name, counts in self.heads.items() for layer, n in enumerate(counts)}
        values |= {f"stability.{name}": value for name, value in self.stability.items()}
        values |= {f"silhouette.{k}": value for k, value in self.silhouettes.items()}
        values |= {} if self.kept is None else {"kept": self.kept}
        values |= {f"parent.doubtful.{name}": 1 for name in self.doubtful_in_parent}
        return Quantities({name: Measured(value) for name, value in values.items()}, self.interval)


def judge(claim, evidence: Evidence) -> Verdict:
    return judge_claim(claim, evidence.quantities(), REFERENCE)


def satisfied() -> Evidence:
    """Numbers of a model that bears out every claim: the published ones, and made-up ones where none are given."""
    return Evidence(
        scores={each.id: {"exact_match": each.exact_match, "f1": each.f1} for each in REFERENCE.conditions},
        shares={"dense": 27.0, "diagonal": 26.0, "dense_vertical": 34.0, "vertical": 13.0},
        heads=LAYERS,
        stability={"heads": 94.5, "samples": 99.0},
        silhouettes={2: 0.44, 3: 0.45, 4: 0.46, 5: 0.45, 6: 0.38},
        kept=90.0,
    )


def verdicts(evidence: Evidence) -> dict[str, str]:
    return {claim.id: judge(claim, evidence).verdict for claim in REFERENCE.claims}


def scored(evidence: Evidence, **exact_match: float) -> Evidence:
    """The same with other exact matches, by condition: c3=40."""
    scores = {number: dict(figures) for number, figures in evidence.scores.items()}
    for condition, figure in exact_match.items():
        scores[int(condition[1:])]["exact_match"] = figure
    return replace(evidence, scores=scores)


def f1(evidence: Evidence, condition: int, figure: float) -> Evidence:
    return replace(evidence, scores=evidence.scores | {condition: {**evidence.scores[condition], "f1": figure}})


def laid_out(evidence: Evidence, **layers: list[int]) -> Evidence:
    return replace(evidence, heads=LAYERS | layers)


def used(rule) -> set[int]:
    """The conditions that a rule reads, apart from the baseline."""
    return {getattr(rule, "condition", 1), *getattr(rule, "than", ())} - {1}


def test_every_claim_holds_on_the_published_numbers_or_is_one_in_words():
    published = published_quantities(REFERENCE, REFERENCE.stability.models.values())
    found = {claim.id: judge_claim(claim, published, REFERENCE) for claim in REFERENCE.claims}
    in_words = {name for name, claim in CLAIMS.items() if {rule.kind for rule in claim.rules} <= IN_WORDS}
    assert {name for name, verdict in found.items() if verdict.verdict == NO_VERDICT} == in_words
    assert {verdict.verdict for name, verdict in found.items() if name not in in_words} == {HOLDS}
    assert len(found) - len(in_words) == 20


def test_quantities_are_those_of_the_paper_worked_out_by_hand():
    published = published_quantities(REFERENCE, [96.26])
    by_hand = {
        "types-stable": [96.26],
        "dense_vertical-most-heads": [34.11 - 26.04],
        "vertical-fewest-heads": [13.28 - 25.56],
        "zero-diagonal-breaks": [4.59 - 82.85 / 4],
        "zero-dense-little": [79.92 - 82.85 * 0.95],
        "zero-vertical-little": [82.85 - 81.42, 89.68 - 88.57],
        "zero-order": [73.33 - 4.59, 79.92 - 73.33, 81.42 - 79.92],
        "zero-dense-and-vertical-works": [75.31 - 82.85 / 2],
        "zero-dense_vertical-and-vertical-costlier": [82.85 - 56.87 - (82.85 - 73.33) - (82.85 - 81.42)],
        "uniform-dense-costlier": [79.92 - 74.68],
        "dense_vertical-inter-over-intra": [80.28 - 77.95],
        "dense_vertical-carries-inter": [14.83 - 82.85 / 4, 75.54 - 82.85 / 2],
    }
    for name, values in by_hand.items():
        findings = judge_claim(CLAIMS[name], published, REFERENCE).findings
        assert [finding.measured.value for finding in findings] == pytest.approx(values), name


def test_a_made_up_model_that_bears_out_every_claim_says_so():
    assert set(verdicts(satisfied()).values()) == {HOLDS}


# What breaks each claim and no other.
BREAKS = {
    "four-clusters": lambda it: replace(it, silhouettes={**it.silhouettes, 3: 0.47}),
    "types-stable": lambda it: replace(it, stability={"heads": 60.0, "samples": 93.9}),
    "dense_vertical-most-heads": lambda it: replace(it, shares={**it.shares, "dense": 35.0}),
    "vertical-fewest-heads": lambda it: replace(it, shares={**it.shares, "vertical": 28.0}),
    "dense-first-layers": lambda it: laid_out(it, dense=[2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3]),
    "diagonal-nearly-all-layers": lambda it: laid_out(it, diagonal=[5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0]),
    "dense_vertical-middle-layers": lambda it: laid_out(it, dense_vertical=[3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1]),
    "vertical-last-layers": lambda it: laid_out(it, vertical=[0, 0, 0, 0, 5, 5, 5, 5, 1, 1, 1, 1]),
    "types-kept-in-fine-tuning": lambda it: replace(it, kept=62.0),
    "zero-diagonal-breaks": lambda it: scored(it, c3=40),
    "zero-dense-little": lambda it: scored(it, c2=75),
    "zero-vertical-little": lambda it: f1(it, 5, 88.0),
    "zero-order": lambda it: scored(it, c2=82),
    "zero-dense-and-vertical-works": lambda it: scored(it, c6=30),
    "zero-dense_vertical-and-vertical-costlier": lambda it: scored(it, c7=75),
    "uniform-diagonal-breaks": lambda it: scored(it, c9=40),
    "uniform-dense_vertical-breaks": lambda it: scored(it, c10=40),
    "uniform-dense-works": lambda it: scored(it, c8=30),
    "uniform-dense-costlier": lambda it: scored(it, c8=81),
    "uniform-dense_vertical-costlier": lambda it: scored(it, c4=5, c7=2),
    "uniform-vertical-costlier": lambda it: scored(it, c11=82),
    "drop_intra-diagonal-breaks": lambda it: scored(it, c12=40),
    "drop_inter-diagonal-little": lambda it: scored(it, c13=70),
    "dense_vertical-inter-over-intra": lambda it: scored(it, c14=77),
    "diagonal-carries-intra": lambda it: scored(it, c17=60),
    "dense_vertical-carries-inter": lambda it: scored(it, c19=30),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_model_that_breaks_one_claim_names_it_and_no_other(name):
    found = verdicts(BREAKS[name](satisfied()))
    assert {claim for claim, verdict in found.items() if verdict != HOLDS} == {name}
    assert found[name] == FAILS


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("zero-vertical-little", {"c5": 81.3}),
        ("zero-order", {"c5": 79.9, "c6": 75, "c7": 50}),
        ("diagonal-carries-intra", {"c16": 40}),
        ("dense_vertical-carries-inter", {"c18": 21}),
    ],
)
def test_every_rule_of_a_claim_counts(name, change):
    assert verdicts(scored(satisfied(), **change))[name] == FAILS


def test_a_reason_says_what_failed_and_by_how_much():
    verdict = judge(CLAIMS["diagonal-carries-intra"], scored(satisfied(), c17=60))
    assert verdict.deciding == 1
    assert verdict.reason == (
        "exact match with drop_inter dense+dense_vertical+vertical less 25 % of the baseline's: 39.29; claimed below 0"
    )


def test_limits_scale_with_the_baseline():
    """A model with half of the published scores throughout bears out the same claims."""
    half = {
        number: {metric: 0.5 * figure for metric, figure in each.items()} for number, each in satisfied().scores.items()
    }
    assert set(verdicts(replace(satisfied(), scores=half)).values()) == {HOLDS}


def test_the_rounding_of_floats_decides_nothing():
    # The drops are 0.1, 0.2 and, together, exactly as much as both; the sum of floats is a little above 0.
    evidence = scored(satisfied(), c1=80.0, c4=79.9, c5=79.8, c7=79.7)
    verdict = judge(CLAIMS["zero-dense_vertical-and-vertical-costlier"], evidence)
    assert 0 < verdict.findings[0].measured.value < 1e-12
    assert verdict.verdict == FAILS


def test_intervals_are_asked_for_sums_of_scores_and_leave_close_claims_open():
    asked = []

    def interval(weights):
        asked.append(weights)
        value = satisfied().quantities().weighted_sum(weights).value
        return Measured(value, value - 2, value + 2)

    found = verdicts(replace(satisfied(), interval=interval))
    opened = {"zero-dense-little", "zero-vertical-little", "zero-order"}
    assert {name for name, verdict in found.items() if verdict == OPEN} == opened
    assert {verdict for name, verdict in found.items() if name not in opened} == {HOLDS}
    assert {"3.exact_match": 1.0, "1.exact_match": -0.25} in asked
    assert {"1.f1": 1.0, "5.f1": -1.0} in asked
    assert {"14.exact_match": 1.0, "15.exact_match": -1.0} in asked
    assert {"1.exact_match": -1.0, "7.exact_match": -1.0, "4.exact_match": 1.0, "5.exact_match": 1.0} in asked


def test_a_claim_fails_where_one_rule_does_though_another_is_open():
    def interval(weights):
        return Measured(-3, -4, -2) if "16.exact_match" in weights else Measured(0, -1, 1)

    verdict = judge(CLAIMS["diagonal-carries-intra"], replace(satisfied(), interval=interval))
    assert (verdict.verdict, verdict.deciding) == (FAILS, 0)


def test_stability_is_open_where_its_readings_differ():
    verdict = judge(CLAIMS["types-stable"], replace(satisfied(), stability={"a": 64.0, "b": 100.0}))
    assert verdict.verdict == OPEN
    assert "64.00 to 100.00; claimed above 94" in verdict.reason


@pytest.mark.parametrize("name", TYPES)
def test_a_doubtful_type_gets_no_verdict_and_leaves_the_other_claims_alone(name):
    evidence = replace(satisfied(), doubtful=(name,))
    for claim in REFERENCE.claims:
        verdict = judge(claim, evidence)
        assert verdict.verdict == (NO_VERDICT if name in claim.types else HOLDS), claim.id
        if name in claim.types:
            assert verdict.reason == f"doubtful name: {name}"


def test_a_doubtful_type_gets_no_verdict_even_where_the_numbers_break_the_claim():
    evidence = replace(scored(satisfied(), c3=80), doubtful=("diagonal",))
    assert verdicts(evidence)["zero-diagonal-breaks"] == NO_VERDICT


@pytest.mark.parametrize("condition", range(2, 20))
def test_a_condition_that_was_not_evaluated_leaves_its_claims_without_verdict(condition):
    scores = {number: figures for number, figures in satisfied().scores.items() if number != condition}
    done = name_operations(REFERENCE.conditions[condition - 1].operations)
    concerned = 0
    for claim in REFERENCE.claims:
        verdict = judge(claim, replace(satisfied(), scores=scores))
        if condition in set().union(*map(used, claim.rules)):
            concerned += 1
            assert (verdict.verdict, verdict.reason) == (NO_VERDICT, f"not evaluated: {done}")
        else:
            assert verdict.verdict == HOLDS
    assert concerned


def test_without_the_baseline_only_comparisons_of_two_conditions_are_judged():
    scores = {number: figures for number, figures in satisfied().scores.items() if number != 1}
    found = verdicts(replace(satisfied(), scores=scores))
    assert found["uniform-dense-costlier"] == found["zero-order"] == HOLDS
    assert found["zero-dense-little"] == found["zero-dense_vertical-and-vertical-costlier"] == NO_VERDICT


def test_a_model_that_answers_nothing_has_no_verdict():
    scores = {number: {"exact_match": 0.0, "f1": 0.0} for number in satisfied().scores}
    found = {name: judge(claim, replace(satisfied(), scores=scores)) for name, claim in CLAIMS.items()}
    assert found["zero-vertical-little"].verdict == found["zero-dense-little"].verdict == NO_VERDICT
    assert "answers no question correctly" in found["zero-dense-little"].reason


def test_other_types_have_no_verdict_and_the_number_of_clusters_still_has():
    types = tuple(f"type-{number}" for number in range(1, 6))
    evidence = replace(
        satisfied(),
        shares=dict.fromkeys(types, 20.0),
        heads={name: [1] * 12 for name in types},
        scores={1: satisfied().scores[1]},
    )
    found = {name: judge(claim, evidence) for name, claim in CLAIMS.items()}
    assert found.pop("four-clusters").verdict == HOLDS
    assert found["types-stable"].reason == "the partition has 5 types, not 4"
    assert found["zero-order"].reason == "the partition lacks dense, diagonal, dense_vertical and vertical"
    assert {verdict.verdict for verdict in found.values()} == {NO_VERDICT}


def test_nothing_known_is_no_verdict_with_a_reason():
    for claim in REFERENCE.claims:
        verdict = judge(claim, Evidence())
        assert (verdict.verdict, verdict.deciding) == (NO_VERDICT, None)
        assert verdict.reason


@pytest.mark.parametrize(
    ("change", "name", "reason"),
    [
        ({"silhouettes": {4: 0.5, 5: 0.4}}, "four-clusters", "not all of 3, 4 and 5 clusters were tried"),
        ({"heads": {name: [1, 1] for name in TYPES}}, "dense-first-layers", "the model has fewer than three layers"),
        ({"doubtful_in_parent": ("dense",)}, "types-kept-in-fine-tuning", "doubtful name in the parent: dense"),
    ],
)
def test_what_cannot_be_measured_is_said(change, name, reason):
    verdict = judge(CLAIMS[name], replace(satisfied(), **change))
    assert (verdict.verdict, verdict.reason) == (NO_VERDICT, reason)


@pytest.mark.parametrize("layers", [3, 4, 5, 6, 7, 12, 24])
def test_thirds_hold_every_layer_once_and_as_evenly_as_they_can(layers):
    """Heads in one layer at a time: it counts for exactly one third."""
    where = []
    for layer in range(layers):
        heads = {"dense": [10 * (each == layer) for each in range(layers)]}
        thirds = []
        for third in ("first", "middle", "last"):
            rule = CLAIMS["dense-first-layers"].rules[0].model_copy(update={"third": third})
            claim = CLAIMS["dense-first-layers"].model_copy(update={"rules": [rule]})
            thirds.append(judge(claim, replace(satisfied(), heads=heads)).verdict)
        assert thirds.count(HOLDS) == 1
        where.append(thirds.index(HOLDS))
    assert where == sorted(where)
    sizes = [where.count(third) for third in range(3)]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sizes[::-1]


def test_conditions_are_named_as_a_reader_sees_them():
    assert name_operations({}) == "baseline"
    assert name_operations({"dense": "zero", "vertical": "zero"}, ["vertical"]) == "zero dense+[vertical]"
