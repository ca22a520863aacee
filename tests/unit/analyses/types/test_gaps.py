"""Gaps are found between clusters, and hardly ever in a cloud without any, whatever its shape."""

import numpy as np
import pytest
from scipy.special import softmax

from headtypes.analyses.types.gaps import head_gaps, measured_gaps

HEADS, COLUMNS, TRIALS = 72, 21, 20
OF_LAYER = np.repeat(np.eye(6), 12, axis=0)
MEAN = np.linspace(1, -2, COLUMNS)


def spread(coordinates: np.ndarray, rng: np.random.Generator, noise: float = 0.15) -> np.ndarray:
    """Shares of heads that lie so in the logarithms, in directions at random, with some noise."""
    directions = rng.normal(size=(coordinates.shape[1], COLUMNS))
    logs = MEAN + coordinates @ directions + noise * rng.normal(size=(HEADS, COLUMNS))
    return softmax(logs, axis=1)


def round_(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


# Coordinates of heads in clouds without gaps.
CLOUDS = {
    "normal": lambda rng: 0.4 * rng.normal(size=(HEADS, 5)),
    "heavy tails": lambda rng: 0.3 * rng.standard_t(3, size=(HEADS, 5)),
    "three factors": lambda rng: rng.uniform(-0.7, 0.7, (HEADS, 3)),
    "two factors": lambda rng: rng.uniform(-0.9, 0.9, (HEADS, 2)),
    "a band": lambda rng: rng.uniform(-1.2, 1.2, (HEADS, 1)),
    "an arc": lambda rng: round_(rng.uniform(0, np.pi, HEADS)),
    "a ring": lambda rng: 0.9 * round_(rng.uniform(0, 2 * np.pi, HEADS)),
    "skewed factors": lambda rng: 0.6 * rng.exponential(1, (HEADS, 3)),
    "one skewed factor": lambda rng: 0.8 * rng.exponential(1, (HEADS, 1)),
    "layers along a line": lambda rng: OF_LAYER @ np.linspace(-1, 1, 6)[:, None] + rng.normal(0, 0.25, (HEADS, 1)),
    "layers of their own": lambda rng: (
        np.repeat(rng.normal(0, 0.25, (6, 4)), 12, axis=0) + rng.normal(0, 0.25, (HEADS, 4))
    ),
}
PATTERNS = {"mixtures of three patterns": 1, "close mixtures of three patterns": 5}
CLUSTERS = {
    "four": ([18] * 4, 1.2),
    "unequal": ([28, 10, 12, 22], 1.2),
    "near": ([40, 20, 8, 4], 0.7),
    "two": ([52, 20], 1.2),
}


def found(shares: np.ndarray) -> int:
    """1 where both dips are told from those of one peak, -1 where one is below them, else 0."""
    gaps = measured_gaps(head_gaps(shares, seed=0), HEADS).values()
    return 1 if all(it.low > 0 for it in gaps) else -any(it.high < 0 and 2 * it.p_value(0) < 0.05 for it in gaps)


@pytest.mark.parametrize("cloud", [*CLOUDS, *PATTERNS])
def test_no_cloud_without_gaps_is_taken_for_types(cloud):
    """Of 20, one is expected where 5 % may; four are seen once in sixty times."""
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(TRIALS):
        if cloud in CLOUDS:
            shares = spread(CLOUDS[cloud](rng), rng)
        else:
            patterns = softmax(MEAN + 1.5 * rng.normal(size=(3, COLUMNS)), axis=1)
            shares = rng.dirichlet(np.full(3, PATTERNS[cloud]), HEADS) @ patterns
        wrong += found(shares) > 0
    assert wrong <= 3


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_clusters_are_found_and_never_denied(clusters):
    sizes, apart = CLUSTERS[clusters]
    rng = np.random.default_rng(3)
    each = []
    for _ in range(TRIALS):
        centres = apart * rng.normal(size=(len(sizes), COLUMNS))
        logs = (
            np.linspace(1, -2, COLUMNS) + np.repeat(centres, sizes, axis=0) + 0.27 * rng.normal(size=(HEADS, COLUMNS))
        )
        each.append(found(softmax(logs, axis=1)))
    assert each.count(1) >= 18
    assert -1 not in each


def test_heads_that_are_few_are_not_asked():
    rng = np.random.default_rng(4)
    heads = rng.dirichlet(np.ones(5), 19)
    assert head_gaps(heads, seed=0) is None
    assert head_gaps(np.repeat(heads, 4, axis=0), seed=0) is None


def test_positions_lie_between_the_centres_of_two_clusters():
    rng = np.random.default_rng(5)
    logs = np.repeat([[0.0, 0, 0], [3, 0, 0]], 12, axis=0) + 0.1 * rng.normal(size=(24, 3))
    gaps = head_gaps(softmax(logs, axis=1), seed=0)
    position = np.array(gaps["position"])
    first, second = position[:12], position[12:]
    assert first.max() < second.min() or second.max() < first.min()
    # Two points of equal mass: the nearest distribution with one peak is a quarter away.
    assert 20 < gaps["line"] <= 25
