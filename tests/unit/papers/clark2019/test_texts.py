"""Quantities are means of means over segments, with intervals over segments; what cannot be asked is missing."""

import numpy as np
import pytest

from headtypes.analyses.surface.measure import COLUMNS, Surface
from headtypes.core.statistics import mean_intervals
from headtypes.papers.clark2019.claims.statistics import behaviours_of, whole_statistics
from headtypes.papers.clark2019.claims.texts import collect_quantities
from tests.support.clark_results import PUBLISHED, gradients_of, head_values, layers_of, surface_of


def drawn_surface(segments: int = 9, layers: int = 6, heads: int = 4) -> Surface:
    """Random patterns, different in every segment."""
    rng = np.random.default_rng(3)
    patterns = rng.random((segments, layers, heads, len(COLUMNS))).astype(np.float32)
    uniform = rng.uniform(4, 5, (segments, layers)).astype(np.float32)
    return Surface(patterns, uniform, np.full(segments, 100, np.int32), [f"s{n}" for n in range(segments)])


def test_a_layers_value_is_the_mean_over_heads_of_means_over_segments():
    surface = drawn_surface()
    found = collect_quantities(surface, None, layers_of(), PUBLISHED)
    for name in ("previous", "entropy"):
        values = surface.column(name).astype(float).mean(axis=-1)
        low, high = mean_intervals(values.T)
        for layer in range(6):
            measured = found[f"layer.{name}.{layer + 1}"]
            expected = [values[:, layer].mean(), low[layer], high[layer]]
            assert [measured.value, measured.low, measured.high] == pytest.approx(expected, rel=1e-12)


def test_segments_without_a_pattern_do_not_count_for_it():
    surface = drawn_surface(segments=12)
    surface.patterns[:3, :, :, COLUMNS.index("sep_to_sep")] = np.nan
    found = collect_quantities(surface, None, layers_of(), PUBLISHED)
    measured = found["layer.sep_to_sep.2"]
    rest = surface.column("sep_to_sep")[3:, 1].astype(float)
    assert measured.value == pytest.approx(rest.mean(), rel=1e-12)
    assert measured.low < measured.value < measured.high


def test_one_segment_has_values_and_no_intervals():
    surface = drawn_surface(segments=1)
    found = collect_quantities(surface, None, layers_of(), PUBLISHED)
    assert np.isnan(found["layer.entropy.1"].low)
    assert found["layer.entropy.1"].value == pytest.approx(surface.column("entropy")[0, 0].mean())
    assert found["n_segments"].value == 1


def test_gradients_are_means_over_heads_and_have_no_interval():
    found = collect_quantities(surface_of(head_values()), gradients_of(), layers_of(), PUBLISHED)
    assert found["layer.gradient.all.3"].value == pytest.approx(3e-4)
    assert found["layer.gradient_ratio.punctuation.3"].value == pytest.approx(1.5)
    assert np.isnan(found["layer.gradient_ratio.punctuation.3"].low)
    assert found["divergence.within"].value == pytest.approx(0.24)
    assert found["surface.sep.layers"].value == pytest.approx(np.mean([0.55, 0.54, 0.57, 0.57, 0.48]), abs=1e-6)
    assert found["surface.gradient.sep"].value == pytest.approx(0.2)


@pytest.mark.parametrize(("difference", "p"), [(-0.06, 0.001), (0.005, 0.4), (0.06, 0.001)])
def test_the_p_value_of_layers_is_that_of_both_sides(difference, p):
    layers = layers_of(difference)
    measured = collect_quantities(drawn_surface(), None, layers, PUBLISHED)["divergence.within_less_between"]
    assert [measured.value, measured.low, measured.high] == [difference, difference - 0.01, difference + 0.01]
    assert measured.p_value(0) == pytest.approx(p)


def test_the_sink_is_the_special_token_with_the_most_attention():
    def sinks(values: dict) -> list[str]:
        found = collect_quantities(surface_of(values), None, layers_of(), PUBLISHED).of_kind("sink")
        return [name.partition(".")[2] for name in found]

    values = head_values()
    assert sinks(values) == ["punctuation", "cls", "cls", *["sep"] * 7, "punctuation", "punctuation"]
    assert set(sinks(values | {"first": values["cls"] + 0.6})) == {"first"}


def test_behaviours_are_those_of_figure_6_and_later_rules_override_earlier_ones():
    values = head_values()
    # The first looks at the next token as well.
    values["sep"][5, 4] = 0.7
    values["punctuation"][11, 0] = 0.61
    values["cls"][2, 1] = 0.59
    marked = behaviours_of(PUBLISHED.behaviours, whole_statistics(surface_of(values), None, PUBLISHED))
    expected = {"previous": 4, "next": 4, "broad": 24, "sep": 1, "punctuation": 1}
    assert {name: int((marked == name).sum()) for name in set(marked.ravel()) - {""}} == expected
    assert (marked[5, 4], marked[2, 1]) == ("sep", "")
