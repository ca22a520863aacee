"""The published values: complete, as copied, and where they contradict one another a note says so."""

import pytest

from tests.support.clark_results import PUBLISHED


def test_values_sum_as_copied():
    relations = PUBLISHED.relations.rows
    assert sum(row.accuracy for row in relations) == pytest.approx(1054.6)
    assert sum(row.baseline for row in relations) == pytest.approx(716.6)
    means = [round(sum(values), 2) for values in PUBLISHED.digitised.by_layer.values()]
    assert means == [0.81, 3.69, 1.78, 3.68, 5.89, 30.07, 33.91]
    assert sum(row.uas for row in PUBLISHED.probes.rows) == 332
    assert sum(row.all for row in PUBLISHED.coreference.rows) == 296


def test_where_the_text_and_the_released_figures_differ_a_note_says_so():
    """The text's limits, held against the means that were read off, and its heads against the dots."""
    said = {value.id: value for value in PUBLISHED.surface}
    below = [layer for layer in said["sep.layers"].layers if PUBLISHED.digitised.by_layer["sep"][layer - 1] <= 0.5]
    assert below == [10]
    assert "layer 10 lies at 0.48" in PUBLISHED.remarks("sep.layers")
    shown = PUBLISHED.digitised.heads_over_half
    assert [layer for layer in said["next.heads"].layers if layer not in shown["next"]] == [2, 2]
    assert "three above 0.5" in PUBLISHED.remarks("next.heads")
    means = zip(*(PUBLISHED.digitised.by_layer[name] for name in ("entropy", "entropy_cls")), strict=True)
    far = [abs(all_tokens - cls) >= 0.295 for all_tokens, cls in means]
    assert f"in {sum(far)} of 12 layers" in PUBLISHED.remarks("entropy_cls.last")
