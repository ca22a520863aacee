"""The heads in two dimensions: distances that fit are shown as they are, layers that are alike are found."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from headtypes.analyses.divergence.projection import goodness_of_fit, layer_test, project_heads
from headtypes.analyses.divergence.results import Divergence

LAYERS, HEADS, ROWS = 4, 6, 50


def in_two_dimensions() -> np.ndarray:
    """Places of heads, those of a layer around one place."""
    rng = np.random.default_rng(0)
    return np.repeat(rng.normal(size=(LAYERS, 2)), HEADS, axis=0) + 0.3 * rng.normal(size=(LAYERS * HEADS, 2))


def test_distances_in_two_dimensions_are_shown_as_they_are():
    distances = squareform(pdist(in_two_dimensions()))
    places, summary = project_heads(Divergence(ROWS * distances, ROWS, LAYERS, ["a"]), seed=3)
    assert places[["layer", "head"]].to_numpy().tolist() == [list(head) for head in np.ndindex(LAYERS, HEADS)]
    np.testing.assert_allclose(squareform(pdist(places[["x", "y"]])), distances, atol=1e-3)
    assert summary["stress"] < 1e-3
    assert summary["correlation"] > 0.99999
    assert summary["rows"] == ROWS


def test_stress_and_correlation_are_those_of_the_definition():
    rng = np.random.default_rng(2)
    places, distances = rng.normal(size=(7, 2)), squareform(rng.random(21))
    over, under, given, shown = 0.0, 0.0, [], []
    for a in range(7):
        for b in range(a):
            projected = np.hypot(*(places[a] - places[b]))
            over, under = over + (projected - distances[a, b]) ** 2, under + projected**2
            given.append(distances[a, b])
            shown.append(projected)
    expected = {"stress": np.sqrt(over / under), "correlation": np.corrcoef(given, shown)[0, 1]}
    assert goodness_of_fit(distances, places) == pytest.approx(expected)
    assert goodness_of_fit(np.zeros((3, 3)), np.zeros((3, 2))) == {"stress": None, "correlation": None}


def test_heads_of_a_layer_that_are_alike_are_found():
    distances, layer = squareform(pdist(in_two_dimensions())), np.repeat(np.arange(LAYERS), HEADS)
    found = layer_test(distances, layer, seed=0)
    same = np.equal.outer(layer, layer)
    assert found["within"] == pytest.approx(distances[same & ~np.eye(len(layer), dtype=bool)].mean())
    assert found["between"] == pytest.approx(distances[~same].mean())
    assert found["difference"] == pytest.approx(found["within"] - found["between"])
    assert found["p"] == 1 / 2001
    # Where layers say nothing, their p is anything.
    shuffled = np.random.default_rng(5).permutation(layer)
    assert layer_test(distances, shuffled, seed=0, permutations=200)["p"] > 0.05
