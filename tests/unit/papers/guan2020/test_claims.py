"""The paper's claims: all hold on its own numbers, each can be broken by itself, and doubt gives no verdict."""

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from headtypes.analyses.types.names import TYPES
from headtypes.papers.claims import BASES, FAILS, HOLDS, NO_VERDICT, OPEN, Verdict
from headtypes.papers.claims import judge as judge_claim
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.quantities import published_quantities
from headtypes.papers.guan2020.words import name_operations
from headtypes.papers.quantities import Measured, Quantities
from tests.support.places import GUAN

REFERENCE = read_guan2020(GUAN)
CLAIMS = {claim.id: claim for claim in REFERENCE.claims}
# Claims about which the paper gives no numbers.
IN_WORDS = {
    *(
        "heads-consistent",
        "three-clusters-stable",
        "five-clusters-stable",
        "mixture-similar",
        "diagonal-medium-special",
    ),
    *("dense-first-layers", "diagonal-nearly-all-layers", "dense_vertical-middle-layers", "vertical-last-layers"),
    *("clusters-kept-in-fine-tuning", "changes-in-last-layers", "models-alike", "dense_vertical-last-layer"),
}

# Heads of each type in the 12 layers of a model that is as the paper says.
LAYERS = {
    "dense": [5, 5, 5, 4, 1, 1, 1, 1, 1, 1, 1, 1],
    "diagonal": [3, 3, 3, 3, 3, 0, 3, 3, 3, 3, 3, 3],
    "dense_vertical": [1, 1, 1, 1, 6, 6, 6, 6, 4, 3, 2, 2],
    "vertical": [0, 0, 0, 0, 0, 1, 0, 0, 4, 5, 5, 6],
}


# The other models have the same types in the same layers, but for two dense_vertical heads of the last.
OTHERS = LAYERS | {"dense": [*LAYERS["dense"][:-1], 3], "dense_vertical": [*LAYERS["dense_vertical"][:-1], 0]}
FAMILY = {"pre-trained": LAYERS, "squad": LAYERS, "mrpc": OTHERS, "mnli": OTHERS}


@dataclass(frozen=True)
class Evidence:
    """What is known of a model, in the shapes in which tests change it most easily."""

    doubtful: tuple[str, ...] = ()
    scores: dict[int, dict[str, float]] = field(default_factory=dict)
    interval: Any = None
    shares: dict[str, float] = field(default_factory=dict)
    heads: dict[str, list[int]] = field(default_factory=dict)
    stability: dict[int, dict[str, float]] = field(default_factory=dict)
    special: dict[str, float] = field(default_factory=dict)
    changed: tuple[float, ...] = ()
    alone: dict[str, float] = field(default_factory=dict)
    family: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    doubtful_in_family: tuple[str, ...] = ()

    def quantities(self) -> Quantities:
        values = {f"share.{name}": share for name, share in self.shares.items()}
        values |= {f"doubtful.{name}": 1 for name in self.doubtful}
        values |= {f"{number}.{metric}": v for number, row in self.scores.items() for metric, v in row.items()}
        values |= layout(self.heads)
        values |= {f"stability.{k}.{half}": v for k, halves in self.stability.items() for half, v in halves.items()}
        values |= {f"special.{name}": value for name, value in self.special.items()}
        values |= {f"changed.{layer}": percent for layer, percent in enumerate(self.changed)}
        values |= {"kept": 100 - sum(self.changed) / len(self.changed)} if self.changed else {}
        for model, heads in self.family.items():
            values |= {f"family.{model}.{name}": n for name, n in layout(heads).items()}
        values |= {f"family.{name}": 1 for name in self.doubtful_in_family}
        values |= self.alone
        return Quantities({name: Measured(value) for name, value in values.items()}, self.interval)


def layout(heads: dict[str, list[int]]) -> dict[str, int]:
    return {f"heads.{layer}.{name}": n for name, counts in heads.items() for layer, n in enumerate(counts)}


def judge(claim, evidence: Evidence) -> Verdict:
    return judge_claim(claim, evidence.quantities(), REFERENCE)


def satisfied() -> Evidence:
    """Numbers of a model that bears out every claim: the published ones, and made-up ones where none are given."""
    return Evidence(
        scores={each.id: {"exact_match": each.exact_match, "f1": each.f1} for each in REFERENCE.conditions},
        shares={"dense": 27.0, "diagonal": 26.0, "dense_vertical": 34.0, "vertical": 13.0},
        heads=LAYERS,
        stability={k: {"heads": 95.5, "samples": 99.0, "pairs": 97.0} for k in (3, 4, 5)},
        special={"dense": 10.0, "diagonal": 30.0, "dense_vertical": 45.0, "vertical": 80.0},
        changed=(0, 0, 5, 0, 10, 10, 5, 5, 20, 30, 20, 40),
        alone={"own_cluster": 90.0, "mixture_agreement": 0.8},
        family=FAMILY,
    )


def verdicts(evidence: Evidence) -> dict[str, str]:
    return {claim.id: judge(claim, evidence).verdict for claim in REFERENCE.claims}


def scored(evidence: Evidence, **exact_match: float) -> Evidence:
    """The same with other exact matches, by condition: c3=40."""
    scores = {number: dict(figures) for number, figures in evidence.scores.items()}
    for condition, figure in exact_match.items():
        scores[int(condition[1:])]["exact_match"] = figure
    return replace(evidence, scores=scores)


def stable(evidence: Evidence, k: int, **halves: float) -> Evidence:
    return replace(evidence, stability=evidence.stability | {k: evidence.stability[k] | halves})


def alone(evidence: Evidence, **values: float) -> Evidence:
    return replace(evidence, alone=evidence.alone | values)


def of_family(evidence: Evidence, model: str, **layers: list[int]) -> Evidence:
    return replace(evidence, family=FAMILY | {model: FAMILY[model] | layers})


def laid_out(evidence: Evidence, **layers: list[int]) -> Evidence:
    return replace(evidence, heads=LAYERS | layers)


def used(rule) -> set[int]:
    """The conditions that a rule reads, apart from the baseline."""
    return {getattr(rule, "condition", 1), *getattr(rule, "than", ())} - {1}


@pytest.mark.parametrize("model", REFERENCE.rows)
def test_every_claim_holds_on_the_published_numbers_or_a_note_says_that_it_does_not(model):
    """Claims in words without numbers have no verdict on them."""
    published = published_quantities(REFERENCE, [REFERENCE.stability.models[model]])
    found = {claim.id: judge_claim(claim, published, REFERENCE).verdict for claim in REFERENCE.claims}
    assert {name for name, verdict in found.items() if verdict == NO_VERDICT} == IN_WORDS
    contradicted = {name for name, verdict in found.items() if verdict not in (HOLDS, NO_VERDICT)}
    assert contradicted == ({"types-stable"} if model == "mnli" else set())
    for name in contradicted:
        assert f"{REFERENCE.stability.models[model]}" in REFERENCE.remarks(name)
    assert len(found) - len(IN_WORDS) == 21


def test_what_the_paper_says_is_told_from_what_its_tables_show():
    bases = {basis: {claim.id for claim in REFERENCE.claims if claim.basis == basis} for basis in BASES}
    assert {basis: len(claims) for basis, claims in bases.items()} == {"stated": 24, "inferred": 2, "from_table": 8}
    assert bases["inferred"] == {"dense_vertical-inter-over-intra", "changes-in-last-layers"}
    assert bases["from_table"] == {
        *("dense_vertical-most-heads", "vertical-fewest-heads", "zero-dense-little", "uniform-diagonal-breaks"),
        *("zero-dense_vertical-and-vertical-costlier", "uniform-dense-costlier", "uniform-dense_vertical-costlier"),
        "uniform-vertical-costlier",
    }


def test_the_limits_in_words_are_those_of_the_rules():
    """The limit and, of the baseline's exact match that is left, what is published."""
    baseline = REFERENCE.baseline.exact_match
    for claim in REFERENCE.claims:
        for rule in claim.rules:
            if rule.kind == "level":
                level = REFERENCE.levels[rule.level]
                more_or_less = "more" if level.side == "above" else "less"
                if claim.id != "uniform-vertical-works":
                    assert claim.limit.startswith(
                        f"{more_or_less} than {level.percent:g} percent of the baseline's exact"
                    )
                    left = 100 * REFERENCE.conditions[rule.condition - 1].exact_match / baseline
                    assert f"(published, {left:.1f})" in claim.limit
            elif rule.kind in ("drop", "stability") and (limit := getattr(rule, "points", getattr(rule, "above", 0))):
                assert f"{limit:g}" in claim.words + claim.limit
            elif rule.kind in ("agreement", "distribution", "spread"):
                assert f"{rule.above:g}" in claim.limit
            elif rule.kind in ("kept", "consistent"):
                assert "more than half" in claim.limit
                assert rule.above == 50
        if claim.basis == "from_table" and claim.rules[0].kind == "costlier":
            rule, exact_match = claim.rules[0], [it.exact_match for it in REFERENCE.conditions]
            costs = baseline - exact_match[rule.condition - 1]
            others = sum(baseline - exact_match[number - 1] for number in rule.than)
            assert f"(published, {costs:.2f} and {others:.2f})" in claim.limit


def test_quantities_are_those_of_the_paper_worked_out_by_hand():
    published = published_quantities(REFERENCE, [96.26])
    by_hand = {
        "types-stable": [96.26],
        "dense_vertical-most-heads": [34.11 - 26.04],
        "vertical-fewest-heads": [13.28 - 25.56],
        "zero-diagonal-breaks": [4.59 - 82.85 / 4],
        "zero-dense-little": [79.92 - 82.85 * 0.95],
        "zero-vertical-little": [82.85 - 81.42],
        "zero-diagonal-costliest": [79.92 - 4.59, 73.33 - 4.59, 81.42 - 4.59],
        "keeping-dense_vertical-better": [75.31 - 56.87],
        "uniform-dense-little": [82.85 - 74.68],
        "uniform-vertical-works": [53.17 - 82.85 / 2],
        "uniform-dense_vertical-costs": [82.85 - 9.13],
        "zero-dense_vertical-and-vertical-costlier": [82.85 - 56.87 - (82.85 - 73.33) - (82.85 - 81.42)],
        "uniform-dense-costlier": [79.92 - 74.68],
        "dense_vertical-inter-over-intra": [80.28 - 77.95],
        "diagonal-carries-intra": [71.80 - 82.85 / 2],
        "dense_vertical-carries-inter": [75.54 - 82.85 / 2],
    }
    for name, values in by_hand.items():
        findings = judge_claim(CLAIMS[name], published, REFERENCE).findings
        assert [finding.measured.value for finding in findings] == pytest.approx(values), name


def test_a_made_up_model_that_bears_out_every_claim_says_so():
    assert set(verdicts(satisfied()).values()) == {HOLDS}


# What breaks each claim and no other.
BREAKS = {
    "heads-consistent": lambda it: alone(it, own_cluster=49.0),
    "types-stable": lambda it: stable(it, 4, heads=60.0, samples=95.0, pairs=94.0),
    "three-clusters-stable": lambda it: stable(it, 3, heads=60.0, samples=95.0, pairs=94.0),
    "five-clusters-stable": lambda it: stable(it, 5, heads=60.0, samples=95.0, pairs=94.0),
    "mixture-similar": lambda it: alone(it, mixture_agreement=0.6),
    "diagonal-medium-special": lambda it: replace(it, special={**it.special, "diagonal": 46.0}),
    "dense_vertical-most-heads": lambda it: replace(it, shares={**it.shares, "dense": 35.0}),
    "vertical-fewest-heads": lambda it: replace(it, shares={**it.shares, "vertical": 28.0}),
    "dense-first-layers": lambda it: laid_out(it, dense=[2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3]),
    "diagonal-nearly-all-layers": lambda it: laid_out(it, diagonal=[5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0]),
    "dense_vertical-middle-layers": lambda it: laid_out(it, dense_vertical=[3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1]),
    "vertical-last-layers": lambda it: laid_out(it, vertical=[0, 0, 0, 0, 5, 5, 5, 5, 1, 1, 1, 1]),
    "clusters-kept-in-fine-tuning": lambda it: replace(it, changed=(40,) * 8 + (80,) * 4),
    "changes-in-last-layers": lambda it: replace(it, changed=(0, 0, 5, 0, 40, 40, 40, 40, 20, 30, 20, 40)),
    "models-alike": lambda it: of_family(
        it, "mrpc", dense_vertical=[5, 5, 5, 5, 1, 1, 1, 1, 2, 2, 2, 0], vertical=[0, 0, 0, 0, 3, 4, 3, 3, 2, 2, 2, 2]
    ),
    "dense_vertical-last-layer": lambda it: of_family(it, "mnli", dense_vertical=LAYERS["dense_vertical"]),
    "zero-diagonal-breaks": lambda it: scored(it, c3=40),
    "zero-diagonal-costliest": lambda it: scored(it, c4=4, c7=2, c10=1),
    "zero-dense-little": lambda it: scored(it, c2=75),
    "zero-vertical-little": lambda it: scored(it, c5=81.3),
    "keeping-dense_vertical-better": lambda it: scored(it, c6=50),
    "zero-dense_vertical-and-vertical-costlier": lambda it: scored(it, c7=75),
    "uniform-diagonal-breaks": lambda it: scored(it, c9=40),
    "uniform-dense_vertical-costs": lambda it: scored(it, c4=84, c10=83.5),
    "uniform-dense-little": lambda it: scored(it, c8=70),
    "uniform-dense-costlier": lambda it: scored(it, c8=81),
    "uniform-dense_vertical-costlier": lambda it: scored(it, c10=75),
    "uniform-vertical-works": lambda it: scored(it, c11=40),
    "uniform-vertical-costlier": lambda it: scored(it, c11=82),
    "drop_intra-diagonal-breaks": lambda it: scored(it, c12=40),
    "drop_inter-diagonal-little": lambda it: scored(it, c13=70),
    "dense_vertical-inter-over-intra": lambda it: scored(it, c14=77),
    "diagonal-carries-intra": lambda it: scored(it, c16=30),
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
        ("zero-diagonal-costliest", {"c2": 4}),
        ("zero-diagonal-costliest", {"c4": 4}),
        ("zero-diagonal-costliest", {"c5": 4}),
    ],
)
def test_every_rule_of_a_claim_counts(name, change):
    assert verdicts(scored(satisfied(), **change))[name] == FAILS


def test_a_reason_says_what_failed_and_by_how_much():
    verdict = judge(CLAIMS["zero-diagonal-costliest"], scored(satisfied(), c4=2))
    assert verdict.deciding == 1
    assert verdict.reason == (
        "drop of exact match with zero diagonal less that with zero dense_vertical: -2.59; claimed above 0"
    )
    verdict = judge(CLAIMS["dense_vertical-last-layer"], satisfied())
    assert verdict.reason.startswith(
        "dense_vertical heads in the last layer: pre-trained 2, squad 2, mrpc 0 and mnli 0;"
    )
    verdict = judge(CLAIMS["models-alike"], BREAKS["models-alike"](satisfied()))
    assert "the least (pre-trained and mrpc): " in verdict.reason


def test_limits_scale_with_the_baseline():
    """A model with half of the published scores throughout bears out the same claims."""
    half = {
        number: {metric: 0.5 * figure for metric, figure in each.items()} for number, each in satisfied().scores.items()
    }
    assert set(verdicts(replace(satisfied(), scores=half)).values()) == {HOLDS}


def test_the_rounding_of_floats_decides_nothing():
    # The drops are 0.1, 0.3 and, together, exactly as much as both; the sum of floats is a little above 0 (also from
    # Python 3.12 on, which adds up with less rounding).
    evidence = scored(satisfied(), c1=80.0, c4=79.9, c5=79.7, c7=79.6)
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
    opened = {"zero-dense-little", "zero-vertical-little", "uniform-dense-little"}
    assert {name for name, verdict in found.items() if verdict == OPEN} == opened
    assert {verdict for name, verdict in found.items() if name not in opened} == {HOLDS}
    assert {"3.exact_match": 1.0, "1.exact_match": -0.25} in asked
    assert {"1.exact_match": 1.0, "5.exact_match": -1.0} in asked
    assert {"14.exact_match": 1.0, "15.exact_match": -1.0} in asked
    assert {"1.exact_match": -1.0, "7.exact_match": -1.0, "4.exact_match": 1.0, "5.exact_match": 1.0} in asked


def test_a_claim_fails_where_one_rule_does_though_another_is_open():
    def interval(weights):
        return Measured(-3, -4, -2) if "4.exact_match" in weights else Measured(0, -1, 1)

    verdict = judge(CLAIMS["zero-diagonal-costliest"], replace(satisfied(), interval=interval))
    assert (verdict.verdict, verdict.deciding) == (FAILS, 1)


def test_stability_is_open_where_its_readings_differ():
    verdict = judge(CLAIMS["types-stable"], stable(satisfied(), 4, heads=64.0))
    assert verdict.verdict == OPEN
    assert "64.00 to 99.00; claimed above 95" in verdict.reason


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
    if condition in (17, 18):
        # The paper says nothing of these two, and no claim is made of their numbers.
        assert condition not in set().union(*(used(rule) for claim in REFERENCE.claims for rule in claim.rules))
        return
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
    assert found["uniform-dense-costlier"] == found["zero-diagonal-costliest"] == HOLDS
    assert found["zero-dense-little"] == found["zero-dense_vertical-and-vertical-costlier"] == NO_VERDICT


def test_a_model_that_answers_nothing_has_no_verdict():
    scores = {number: {"exact_match": 0.0, "f1": 0.0} for number in satisfied().scores}
    found = {name: judge(claim, replace(satisfied(), scores=scores)) for name, claim in CLAIMS.items()}
    assert found["zero-vertical-little"].verdict == found["zero-dense-little"].verdict == NO_VERDICT
    assert "answers no question correctly" in found["zero-dense-little"].reason


def test_other_types_have_no_verdict_but_on_what_needs_no_names():
    types = tuple(f"type-{number}" for number in range(1, 6))
    evidence = replace(
        satisfied(),
        shares=dict.fromkeys(types, 20.0),
        heads={name: [1] * 12 for name in types},
        scores={1: satisfied().scores[1]},
    )
    found = {name: judge(claim, evidence) for name, claim in CLAIMS.items()}
    for name in ("heads-consistent", "clusters-kept-in-fine-tuning", "changes-in-last-layers"):
        assert found.pop(name).verdict == HOLDS
    for name in ("types-stable", "three-clusters-stable", "mixture-similar"):
        assert found[name].reason == "the partition has 5 types, not 4"
    assert found["zero-diagonal-costliest"].reason == "the partition lacks dense, diagonal, dense_vertical and vertical"
    assert {verdict.verdict for verdict in found.values()} == {NO_VERDICT}


def test_nothing_known_is_no_verdict_with_a_reason():
    for claim in REFERENCE.claims:
        verdict = judge(claim, Evidence())
        assert (verdict.verdict, verdict.deciding) == (NO_VERDICT, None)
        assert verdict.reason


@pytest.mark.parametrize(
    ("change", "name", "reason"),
    [
        ({"stability": {4: {"heads": 99}}}, "five-clusters-stable", "stability was not measured"),
        ({"alone": {}}, "mixture-similar", "k-means was not compared with a Gaussian mixture"),
        ({"changed": ()}, "changes-in-last-layers", "there is no parent to compare with"),
        ({"changed": (0, 50)}, "changes-in-last-layers", "the model has fewer than three layers"),
        ({"family": {}}, "models-alike", "the paper's models are compared where the one for SQuAD is judged"),
        (
            {"family": {name: FAMILY[name] for name in ("pre-trained", "squad")}},
            "dense_vertical-last-layer",
            "no model stands beside mrpc and mnli",
        ),
        (
            {"family": FAMILY | {"mnli": {name: [1, 1] for name in TYPES}}},
            "models-alike",
            "the models have different numbers of layers",
        ),
        ({"doubtful_in_family": ("mrpc.doubtful.dense",)}, "models-alike", "doubtful name in mrpc: dense"),
        ({"heads": {name: [1, 1] for name in TYPES}}, "dense-first-layers", "the model has fewer than three layers"),
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


def test_models_are_alike_as_their_layouts_correlate():
    """Between the two that are least alike, the types' counts by layer less each type's mean, in one row."""
    found = judge(CLAIMS["models-alike"], BREAKS["models-alike"](satisfied()))
    rows = [[np.array(heads[name]) - np.mean(heads[name]) for name in TYPES] for heads in FAMILY.values()]
    mrpc = BREAKS["models-alike"](satisfied()).family["mrpc"]
    rows[2] = [np.array(mrpc[name]) - np.mean(mrpc[name]) for name in TYPES]
    pairs = [np.corrcoef(np.concatenate(one), np.concatenate(other))[0, 1] for one, other in combinations(rows, 2)]
    assert found.findings[0].measured.value == pytest.approx(min(pairs))
    flat = {name: [2] * 12 for name in TYPES}
    unrelated = judge(CLAIMS["models-alike"], replace(satisfied(), family=FAMILY | {"mnli": flat}))
    assert (unrelated.verdict, unrelated.findings[0].measured.value) == (FAILS, 0)
