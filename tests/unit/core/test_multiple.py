"""Corrections for many tests."""

from itertools import combinations

import numpy as np
import pytest

from headtypes.core.statistics import false_discovery_rates, holm


def closed_testing(p: list[float]) -> list[float]:
    """Of each test the largest p-value of all sets of hypotheses with it, each by Bonferroni (Marcus et al. 1976)."""
    places = range(len(p))
    sets = [chosen for size in range(1, len(p) + 1) for chosen in combinations(places, size)]
    of_set = {chosen: min(1, len(chosen) * min(p[place] for place in chosen)) for chosen in sets}
    return [max(value for chosen, value in of_set.items() if place in chosen) for place in places]


@pytest.mark.parametrize("seed", range(5))
def test_holm_equals_its_definition(seed):
    rng = np.random.default_rng(seed)
    p = (rng.random(7) ** 3).round(2 if seed % 2 else 9).tolist()
    assert holm(np.array(p)) == pytest.approx(closed_testing(p))


@pytest.mark.parametrize("correct", [holm, false_discovery_rates])
def test_what_was_not_tested_counts_for_nothing(correct):
    p = np.array([0.01, np.nan, 0.04, 0.03, np.nan])
    found = correct(p)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(p))
    np.testing.assert_allclose(found[[0, 2, 3]], correct(p[[0, 2, 3]]))
    assert np.isnan(correct(np.full(3, np.nan))).all()
    assert correct(np.array([0.02])) == [0.02]
