"""The published figures: complete, consistent with one another, and found however a condition is written."""

from headtypes.analyses.types.names import TYPES
from tests.unit.papers.guan2020.test_claims import REFERENCE


def test_conditions_are_those_of_tables_2_and_3():
    assert [condition.id for condition in REFERENCE.conditions] == list(range(1, 20))
    assert [condition.table for condition in REFERENCE.conditions] == [2] * 11 + [3] * 8
    assert len({tuple(sorted(condition.operations.items())) for condition in REFERENCE.conditions}) == 19


def test_a_condition_is_found_by_its_operations():
    found = REFERENCE.condition_with({"vertical": "zero", "diagonal": "keep", "dense": "zero"})
    assert (found.id, found.exact_match, found.f1) == (6, 75.31, 84.05)
    assert REFERENCE.condition_with({}).id == 1
    assert REFERENCE.condition_with(dict.fromkeys(TYPES, "keep")).id == 1
    for condition in REFERENCE.conditions:
        turned = dict(reversed(condition.operations.items()))
        assert REFERENCE.condition_with(turned) is condition


def test_a_remark_on_a_condition_is_not_of_another_whose_number_begins_alike():
    of_baseline = REFERENCE.notes[0].model_copy(update={"figures": ["1"]})
    assert of_baseline.concerns("1.exact_match")
    assert not of_baseline.concerns("11.exact_match")
