"""Corrections for many tests equal their definitions, worked out over all sets of tests."""

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


def smallest_rate(p: list[float], place: int) -> float:
    """The smallest rate at which the procedure of Benjamini and Hochberg (1995) counts the test as a discovery."""
    candidates = sorted({1.0, *(min(1, len(p) * value / rank) for value in p for rank in range(1, len(p) + 1))})
    for rate in candidates:
        passing = [rank for rank, value in enumerate(sorted(p), start=1) if value <= rate * rank / len(p) + 1e-15]
        if passing and p[place] <= sorted(p)[passing[-1] - 1]:
            return rate
    return 1.0


@pytest.mark.parametrize("seed", range(5))
def test_corrections_equal_their_definitions(seed):
    rng = np.random.default_rng(seed)
    p = (rng.random(7) ** 3).round(2 if seed % 2 else 9).tolist()
    assert holm(np.array(p)) == pytest.approx(closed_testing(p))
    assert false_discovery_rates(np.array(p)) == pytest.approx([smallest_rate(p, place) for place in range(7)])


@pytest.mark.parametrize("correct", [holm, false_discovery_rates])
def test_what_was_not_tested_counts_for_nothing(correct):
    p = np.array([0.01, np.nan, 0.04, 0.03, np.nan])
    found = correct(p)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(p))
    np.testing.assert_allclose(found[[0, 2, 3]], correct(p[[0, 2, 3]]))
    assert np.isnan(correct(np.full(3, np.nan))).all()
    assert correct(np.array([0.02])) == [0.02]
