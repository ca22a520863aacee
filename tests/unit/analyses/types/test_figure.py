"""In figures, types are told apart by every reader, and are paler where clusterings disagree."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from headtypes.analyses.types.clustering import COLUMNS, COUNTS
from headtypes.analyses.types.figure import stability_figure
from headtypes.analyses.types.style import type_labels, type_styles
from headtypes.core.style import PAGE, PAGE_HEIGHT, PALETTE
from tests.support.drawing import check_lettering, colour, planted
from tests.support.planted import TYPES, typed

# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0; on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(colour: str, deficiency: str) -> np.ndarray:
    """CIE Lab under D65 of a colour as a reader without one kind of cones sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    x, y, z = np.cbrt(xyz / (0.9505, 1, 1.089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def drawn(layers: int = 2, heads: int = 3, percent: float = 100.0, **chosen) -> Figure:
    partition = typed([["dense" if head % 2 else "vertical" for head in range(heads)]] * layers)
    numbers = pd.DataFrame({name: np.arange(7.0) + 10 * place for place, name in enumerate(COLUMNS)})
    numbers["k"] = COUNTS
    numbers.loc[0, [name for name in COLUMNS if name != "k"]] = np.nan
    by_head = {half: np.full(layers * heads, 100.0) for half in ("heads", "samples")}
    by_head["heads"][:1] = percent
    stability = {half: {"by_head": values.tolist()} for half, values in by_head.items()}
    criteria = {"silhouette": 5, "heads": 3, "samples": None} | chosen
    return stability_figure(
        {**stability, "gaps": {"position": np.arange(layers * heads)}, "chosen": criteria}, numbers, partition
    )


def test_a_ring_is_at_what_a_criterion_chooses():
    silhouettes, _, halves, *_ = drawn().axes
    for axes, k, column in ((silhouettes, 5, "silhouette"), (halves, 3, "heads_pairwise")):
        rings = [line.get_xydata().tolist() for line in axes.lines if line.get_markersize() == 7]
        assert rings == [[[k, 10 * COLUMNS.index(column) + k - 2]]]


def test_a_head_is_the_paler_the_fewer_clusterings_give_it_its_type():
    *_, heads, samples = drawn(percent=20).axes
    full = [to_rgb(type_styles([name])[name].colour) for name in ["vertical", "dense", "vertical"] * 2]
    np.testing.assert_allclose(np.asarray(samples.images[0].get_array()).reshape(-1, 3), full, atol=0.01)
    shades = np.asarray(heads.images[0].get_array()).reshape(-1, 3)
    np.testing.assert_allclose(shades[1:], full[1:], atol=0.01)
    assert (shades[0] > full[0]).all()
    # Heads and layers from 1.
    assert [(text.get_position(), text.get_text()) for text in heads.texts] == [((1, 1), "20")]
    assert not samples.texts


@pytest.mark.parametrize(("layers", "heads"), [(1, 2), (6, 12), (24, 16), (48, 25)])
def test_lettering_lies_apart_and_inside(layers, heads):
    figure = drawn(layers, heads)
    assert figure.get_figwidth() == PAGE
    assert figure.get_figheight() <= PAGE_HEIGHT
    check_lettering(figure)


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
    labels = type_labels(planted(doubtful=("dense", "vertical"))[1])
    assert labels == {name: name + " (doubtful)" * (name in ("dense", "vertical")) for name in TYPES}
