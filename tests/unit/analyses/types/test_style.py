"""Colours of types that every reader tells apart, and marks of doubt."""

import itertools

import numpy as np
import pytest

from headtypes.analyses.types.style import type_labels, type_styles
from headtypes.core.style import PALETTE
from tests.support.drawing import DEFICIENCIES, colour, lab, planted
from tests.support.planted import TYPES


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_of_types_stay_apart_for_colour_blind_readers(deficiency):
    def closest(colours):
        pairs = itertools.combinations([lab(each, deficiency) for each in colours], 2)
        return min(np.linalg.norm(one - other) for one, other in pairs)

    assert closest([colour(name) for name in TYPES]) > 20
    assert closest(PALETTE) > 14


def test_a_type_has_one_style_whatever_stands_beside_it():
    alone = {name: type_styles([name])[name] for name in (*TYPES, "type-1", "type-2", "type-9")}
    assert type_styles(TYPES) == {name: alone[name] for name in TYPES}
    many = type_styles([f"type-{number}" for number in range(1, 22)])
    assert many["type-9"] == alone["type-9"]
    assert len({(each.colour, each.hatch) for each in many.values()}) == 21
    assert len({(each.colour, each.marker) for each in many.values()}) == 21
    assert len(set(type_styles(["a", "b", "c"]).values())) == 3


def test_the_types_are_told_without_colours():
    """Printed in grey, neighbours differ by 1.3 to 1."""
    styles = type_styles(TYPES).values()
    assert [len({getattr(each, sign) for each in styles}) for sign in ("marker", "hatch", "dashes")] == [4, 4, 4]


def test_labels_mark_doubtful_types():
    assert type_labels(planted(doubtful=("dense", "vertical"))[1]) == {
        "dense": "dense (doubtful)",
        "diagonal": "diagonal",
        "dense_vertical": "dense_vertical",
        "vertical": "vertical (doubtful)",
    }
