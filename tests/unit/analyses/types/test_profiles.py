"""Heads that look alike are grouped, in groups as large as layers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headtypes.analyses.types.partitions import Partition, profile_groups
from tests.support.planted import typed


def partition(profiles: np.ndarray, layers: int) -> Partition:
    named = dict(zip(("near", "special", "far"), profiles.T, strict=True))
    return typed(np.full((layers, len(profiles) // layers), "a"), **named)


@given(st.integers(1, 7), st.integers(1, 6), st.integers(0, 99))
def test_heads_of_one_profile_are_together_in_groups_as_large_as_layers(layers, heads, seed):
    profiles = np.random.default_rng(seed).dirichlet(np.ones(3), layers * heads)
    groups = profile_groups(partition(profiles, layers))
    assert groups.shape == (layers, heads)
    assert (np.bincount(groups.ravel()) == heads).all()
    # Heads of three kinds, whose number fills a group each, are kept apart wherever they are.
    kinds = np.random.default_rng(seed).permutation(np.repeat(np.eye(3), heads, axis=0))
    groups = profile_groups(partition(kinds, 3)).ravel()
    assert len({(group, kind) for group, kind in zip(groups, kinds.argmax(1), strict=True)}) == 3


def within(profiles: list, heads: tuple[int, ...]) -> float:
    """Sum of the squared distances of some heads from their mean."""
    return sum(
        (profiles[head][axis] - sum(profiles[other][axis] for other in heads) / len(heads)) ** 2
        for head in heads
        for axis in range(3)
    )


@pytest.mark.parametrize("seed", range(5))
def test_two_groups_are_the_best_halves_by_any_of_the_three(seed):
    profiles = np.random.default_rng(seed).dirichlet(np.ones(3), 10).tolist()
    halves = []
    for axis in range(3):
        ordered = sorted(range(10), key=lambda head: profiles[head][axis])
        halves.append((tuple(ordered[:5]), tuple(ordered[5:])))
    low, _ = min(halves, key=lambda both: sum(within(profiles, heads) for heads in both))
    groups = profile_groups(partition(np.array(profiles), 2)).ravel().tolist()
    assert all((groups[a] == groups[b]) == ((a in low) == (b in low)) for a, b in itertools.combinations(range(10), 2))
