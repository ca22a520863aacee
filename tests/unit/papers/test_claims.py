"""How claims of any paper are judged: an interval decides, without one the value does, and doubt gives no verdict."""

import math
from dataclasses import replace

import numpy as np
import pytest

from headtypes.papers.claims import (
    FAILS,
    HOLDS,
    NO_VERDICT,
    OPEN,
    Claim,
    Claims,
    Finding,
    Measured,
    Quantities,
    Quantity,
    correct,
    in_each_reading,
    judge,
)

SAID = {"place": "section 1", "text": "So it is.", "wording": "so it is", "limit": "ours"}


def claim(**limits: float) -> Claim:
    def ask(quantities: Quantities) -> list[Finding]:
        return [quantities.quantity(name, name).above(limit) for name, limit in limits.items()]

    return Claim("c", ask=ask, about="", **SAID)


@pytest.mark.parametrize(
    ("side", "low", "high", "verdict"),
    [
        ("above", 0.1, 2, HOLDS),
        ("above", -1, 2, OPEN),
        ("above", 0, 2, OPEN),
        ("above", -1, 0, FAILS),
        ("below", -2, -0.1, HOLDS),
        ("below", -2, 1, OPEN),
        ("below", -2, 0, OPEN),
        ("below", 0, 1, FAILS),
    ],
)
def test_an_interval_decides_only_where_it_lies_on_one_side(side, low, high, verdict):
    assert Finding("", Measured((low + high) / 2, low, high), side, 0).verdict == verdict


@pytest.mark.parametrize(
    ("a", "b", "verdict", "deciding"),
    [((1, 2), (3, 4), HOLDS, 0), ((1, 2), (-1, 4), OPEN, 1), ((-1, 2), (-3, -2), FAILS, 1)],
)
def test_a_claim_fails_where_a_rule_does_and_is_open_where_one_is(a, b, verdict, deciding):
    by_name = {name: Measured(sum(ends) / 2, *ends) for name, ends in (("a", a), ("b", b))}
    found = judge(claim(a=0, b=0), Quantities(by_name))
    assert (found.verdict, found.deciding) == (verdict, deciding)
    assert found.reason.startswith("ab"[deciding])


def in_readings(*readings: dict[str, Measured]):
    """The verdict where some quantities have to be above 0, of each reading its own, before and after correction."""
    asked = [[Finding(name, it, "above", 0) for name, it in reading.items()] for reading in readings]
    found = in_each_reading({str(number): findings for number, findings in enumerate(asked)})
    verdict = judge(Claim("c", ask=lambda quantities: found, about="", **SAID), Quantities({}))
    return verdict, correct([verdict])[0]


def test_a_claim_that_can_be_read_in_several_ways_is_decided_where_all_agree():
    yes, no, unsure = measured(0.001), measured(0.002, -1.0), measured(0.3)
    cases = [(yes, yes, HOLDS), (no, no, FAILS), (yes, no, OPEN), (yes, unsure, OPEN), (no, unsure, OPEN)]
    for one, other, expected in cases:
        verdict, corrected = in_readings({"a": one}, {"b": other})
        assert (verdict.verdict, corrected.verdict) == (expected, expected)
        # Every value is shown, also those that would decide by themselves.
        assert [part[0] for part in verdict.reason.split("; ") if part[1] == ":"] == ["a", "b"]
    # Inside a reading one rule that fails is enough, and of several readings each has to fail.
    verdict, corrected = in_readings({"a": yes, "b": measured(0.01, -1.0)}, {"c": no, "d": measured(0.004, -1.0)})
    assert (verdict.verdict, verdict.findings[verdict.deciding].quantity) == (FAILS, "b")
    assert corrected.p_holm == pytest.approx(0.01)
    # A reading that is left open by the correction leaves the claim open.
    verdict, corrected = in_readings({"a": yes}, {"b": measured(0.03)}, {"c": measured(0.04)})
    assert (verdict.verdict, corrected.verdict) == (HOLDS, OPEN)


@pytest.mark.parametrize(
    ("side", "ends", "limit", "words"),
    [
        ("above", (2, 4), 1, "the same for limits below 2.00"),
        ("above", (2, 4), 5, "the same for limits above 4.00"),
        ("above", (2, 4), 3, "open for limits from 2.00 to 4.00"),
        ("below", (2, 4), 5, "the same for limits above 4.00"),
        ("below", (2, 4), 1, "the same for limits below 2.00"),
        ("above", (2, 4), 0, ""),
    ],
)
def test_a_verdict_says_for_which_limits_it_would_be_the_same(side, ends, limit, words):
    finding = Finding("a", Measured(3, *ends), side, limit)
    assert finding.same_for == words
    assert words in str(finding)
    if words.startswith("the same"):
        end = float(words.split()[-1])
        step = 0.01 if "above" in words else -0.01
        assert {Finding("a", Measured(3, *ends), side, end + step).verdict} == {finding.verdict}
        assert Finding("a", Measured(3, *ends), side, end - step).verdict == OPEN


def test_a_number_is_rounded_as_tables_round_what_the_file_has():
    assert str(Measured(1.925 - 1e-12, 0.135 - 1e-12, 2.385 - 1e-12)) == f"1.93 ({0.135:.2f} to {2.385:.2f})"


def measured(p: float, value: float = 1.0) -> Measured:
    """With an interval on one side of 0 where the p-value is below 0.05."""
    width = abs(value) * (0.5 if p < 0.05 else 2)
    return Measured(value, value - width, value + width, lambda limit: p)


@pytest.mark.parametrize(
    ("units", "p", "verdict", "words"),
    [(20, 0.04, HOLDS, "over articles)"), (19, 0.04, HOLDS, " †"), (7.9, 1e-9, OPEN, " ‡")],
)
def test_over_few_units_a_claim_is_decided_by_an_interval_of_99_percent_or_by_none(units, p, verdict, words):
    finding = Finding("a", replace(measured(p), over="articles", units=units), "above", 0)
    assert finding.verdict == verdict
    assert (finding.p < 0.05) == (verdict != OPEN)
    assert words in str(finding)
    assert replace(finding, measured=Measured(1.0, units=1)).verdict == OPEN
    # The interval names what it is over.
    assert "1.00 (0.50 to 1.50, over articles)" in str(finding)


def test_an_interval_of_width_zero_decides_nothing():
    finding = Finding("a", Measured(2.5, 2.5, 2.5, lambda limit: 0.0004, "segments", 40), "above", 0)
    assert (finding.verdict, finding.p) == (OPEN, 1.0)


def test_claims_are_corrected_for_all_rules_that_were_tested_beside_them():
    known = {
        "a": measured(0.01),
        "b": measured(0.02),
        "c": measured(0.04, -1.0),
        "d": measured(0.3),
        "e": Measured(1.0),
    }
    claims = [claim(**dict.fromkeys(names, 0)) for names in ("a", "b", "ab", "c", "ac", "d", "e", "x")]
    verdicts = [judge(it, Quantities(known)) for it in claims]
    # One of two that have to hold fails the claim at half of 5 percent.
    assert [it.verdict for it in verdicts] == [HOLDS, HOLDS, HOLDS, FAILS, OPEN, OPEN, HOLDS, NO_VERDICT]
    assert verdicts[4].findings[verdicts[4].deciding].quantity == "c"
    assert verdicts[4].reason.startswith("c")
    found = correct(verdicts)
    # Nine rules were judged, of which the one without an interval is not tested.
    assert [it.p for it in found[:6]] == [0.01, 0.02, 0.02, 0.04, 0.04, 0.3]
    assert [it.p_holm for it in found[:6]] == pytest.approx([0.08, 0.1, 0.1, 0.12, 0.12, 0.3])
    assert all(math.isnan(it.p) and math.isnan(it.p_holm) for it in found[6:])
    # Nothing is left of any of them; of the one that no interval decided nothing is said.
    assert [it.verdict for it in found] == [OPEN] * 6 + ["", NO_VERDICT]
    alone = correct(verdicts[:1])
    assert (alone[0].verdict, alone[0].p_holm) == (HOLDS, 0.01)


def test_claims_that_the_config_does_not_name_are_described_and_count_for_no_other():
    known = {"a": measured(0.01), "b": measured(0.02)}
    stated, inferred = (judge(claim(**{name: 0}), Quantities(known)) for name in known)
    inferred = replace(inferred, claim=replace(inferred.claim, basis="inferred"))
    found = correct([stated, inferred], ["stated"])
    assert (found[0].verdict, found[0].p, found[0].p_holm) == (HOLDS, 0.01, 0.01)
    assert (found[1].verdict, math.isnan(found[1].p), math.isnan(found[1].p_holm)) == ("", True, True)


def test_a_corrected_claim_holds_with_its_least_certain_rule_and_fails_with_its_most_certain():
    known = {"a": measured(0.001), "b": measured(0.03), "c": measured(0.001, -1.0), "d": measured(0.04, -1.0)}
    both, one = (correct([judge(claim(**dict.fromkeys(names, 0)), Quantities(known))])[0] for names in ("ba", "dc"))
    assert (both.verdict, both.p, both.p_holm) == (HOLDS, 0.03, 0.03)
    assert (one.verdict, one.p, one.p_holm) == (FAILS, 0.001, 0.002)
    # A p-value of permutations can be 0.05 itself, which is not below it.
    known = {"a": measured(0.025), "b": measured(0.9)}
    edge, _ = correct([judge(claim(**{name: 0}), Quantities(known)) for name in known])
    assert (edge.verdict, edge.p_holm) == (OPEN, 0.05)


@pytest.mark.parametrize(("basis", "wording"), [("stated", ""), ("inferred", ""), ("from_table", "so it is")])
def test_claims_rest_on_words_unless_they_are_from_a_table(basis, wording):
    with pytest.raises(ValueError, match="c needs the paper's words unless it is from a table"):
        Claims("heads")("c", ask=lambda quantities: [], **SAID | {"basis": basis, "wording": wording})


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({"share.dense": 20.0, "doubtful.vertical": 1.0}, "the partition lacks vertical and diagonal"),
        (dict.fromkeys(("share.vertical", "share.diagonal", "doubtful.diagonal"), 1.0), "doubtful name: diagonal"),
    ],
)
def test_a_claim_about_types_that_are_missing_or_doubtful_has_no_verdict(known, reason):
    about_types = Claim("c", ask=lambda it: [], about="", types=("vertical", "diagonal"), **SAID)
    found = judge(about_types, Quantities({name: Measured(value) for name, value in known.items()}))
    assert (found.verdict, found.reason) == (NO_VERDICT, reason)


def test_a_missing_quantity_is_no_verdict_with_its_reason():
    assert judge(claim(b=0), Quantities({}, missing={"b": "there is no b"})).reason == "there is no b"
    assert judge(claim(b=0), Quantities({}, otherwise="nothing was read")).reason == "nothing was read"
    found = judge(claim(a=0, b=0), Quantities({"a": Measured(1.0)}))
    assert (found.verdict, found.reason, found.deciding) == (NO_VERDICT, "it was not measured", None)


def test_a_value_that_many_permutations_give_is_not_told_from_chance():
    chance = np.repeat([0.0, 1.0, 2.0], [100, 50, 49])
    for value in (0.0, 1.0, 2.0):
        finding = Quantity("count", Measured.beyond_chance(value, chance)).above(0)
        assert finding.verdict == OPEN
        assert finding.p > 0.05
    assert Quantity("count", Measured.beyond_chance(3.0, chance)).above(0).verdict == HOLDS
