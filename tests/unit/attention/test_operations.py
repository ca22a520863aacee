"""Targets of a condition, by type and by head, and what a reading of the paper can change."""

import numpy as np
import pytest

from headtypes.attention.operations import head_of, operation_of, operations_by_head, seeded
from headtypes.core.errors import InputError

TYPES = np.array([["dense", "diagonal"], ["vertical", "dense"], ["dense", "vertical"]], dtype=object)


def test_operations_follow_the_types():
    found = operations_by_head(TYPES, {"dense": "zero", "vertical": "uniform"}, "c")
    assert found.tolist() == [["zero", "keep"], ["uniform", "zero"], ["zero", "uniform"]]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_head_named_by_itself_goes_before_its_type_in_any_order(reverse):
    operations = [("dense", "zero"), ("2-2", "keep"), ("3-1", "mean"), ("1-2", "uniform")]
    found = operations_by_head(TYPES, dict(reversed(operations) if reverse else operations), "c")
    assert found.tolist() == [["zero", "uniform"], ["keep", "keep"], ["mean", "keep"]]
    assert TYPES[0, 0] == "dense"


def test_heads_are_counted_from_one_by_a_person_and_from_zero_in_code():
    assert [head_of(target) for target in ("1-1", "3-12", "type-1", "1-1\n")] == [(0, 0), (2, 11), None, None]


@pytest.mark.parametrize(
    "text", ["zero 2", "zero ", "temperature", "temperature 0.00", "temperature  2", "resample 1.5"]
)
def test_a_number_that_an_operation_does_not_take_is_refused(text):
    with pytest.raises(InputError, match=f"{text.split()[0]} takes .*; found '{text}'"):
        operation_of(text)


@pytest.mark.parametrize("text", ["keep", "mean", "temperature 2", "temperature 0.05", "resample", "resample 12"])
def test_what_draws_gets_a_seed_in_the_place_of_its_number_and_nothing_else_does(text):
    assert operation_of(text).name == text.split()[0]
    assert seeded(text, 345) == (f"{text.split()[0]} 345" if text.startswith("resample") else text)
