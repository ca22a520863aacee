"""How claims of any paper are judged: an interval decides, without one the value does, and doubt is no verdict."""

import math
from typing import Literal

import pytest

from headtypes.papers.claims import (
    FAILS,
    HOLDS,
    NO_VERDICT,
    OPEN,
    Claim,
    Finding,
    NoVerdictError,
    Rule,
    join,
    judge,
)
from headtypes.papers.published import Published
from headtypes.papers.quantities import Measured, Quantities

PAPER = Published(paper="", url="", notes=[])


class AboveRule(Rule):
    kind: Literal["above"] = "above"
    of: str
    limit: float

    def find(self, quantities: Quantities, published: Published) -> Finding:
        if self.of not in quantities:
            raise NoVerdictError(f"{self.of} is not known")
        return Finding(self.of, quantities[self.of], "above", self.limit)


def claim(**limits: float) -> Claim:
    rules = [AboveRule(of=name, limit=limit) for name, limit in limits.items()]
    return Claim[AboveRule](id="c", place="section 1", text="So it is.", rules=rules)


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


@pytest.mark.parametrize(("value", "above", "below"), [(1, HOLDS, FAILS), (0, FAILS, FAILS), (-1, FAILS, HOLDS)])
def test_without_an_interval_the_figure_decides(value, above, below):
    assert Finding("", Measured(value), "above", 0).verdict == above
    assert Finding("", Measured(value), "below", 0).verdict == below


def test_numbers_and_names_as_a_reader_sees_them():
    assert str(Measured(-0.001)) == "0.00"
    assert str(Measured(1.5, 1, 2)) == "1.50 (1.00 to 2.00)"
    assert str(Measured(math.nan, 1, 2)) == "1.00 to 2.00"
    assert join("abc") == "a, b and c"
    assert join(["a"]) == "a"


@pytest.mark.parametrize(
    ("a", "b", "verdict", "deciding"),
    [((1, 2), (3, 4), HOLDS, 0), ((1, 2), (-1, 4), OPEN, 1), ((-1, 2), (-3, -2), FAILS, 1)],
)
def test_a_claim_fails_where_a_rule_does_and_is_open_where_one_is(a, b, verdict, deciding):
    by_name = {name: Measured(sum(ends) / 2, *ends) for name, ends in (("a", a), ("b", b))}
    found = judge(claim(a=0, b=0), Quantities(by_name), PAPER)
    assert (found.verdict, found.deciding) == (verdict, deciding)
    assert found.reason.startswith("ab"[deciding])


def test_a_missing_quantity_is_no_verdict_with_its_reason():
    found = judge(claim(a=0, b=0), Quantities({"a": Measured(1.0)}), PAPER)
    assert (found.verdict, found.reason, found.deciding) == (NO_VERDICT, "b is not known", None)


def test_a_weighted_sum_has_the_interval_of_its_draws_or_none():
    known = {"a.x": Measured(3.0), "a.y": Measured(1.0), "b": Measured(7.0)}
    assert Quantities(known).weighted_sum({"a.x": 1.0, "b": -1.0}) == Measured(-4.0)
    drawn = Quantities(known, lambda weights: Measured(len(weights), 0, 9))
    assert drawn.weighted_sum({"a.x": 1.0, "b": -1.0}) == Measured(2, 0, 9)
    assert drawn.of_kind("a") == {"x": 3.0, "y": 1.0}
