"""Gaps are found between clusters, and hardly ever in a cloud without any, whatever its shape."""

import numpy as np
import pytest
from scipy.special import softmax

from headtypes.analyses.types.gaps import head_gaps, measured_gaps
from headtypes.pages.summary.findings import NO, YES, types_answer

HEADS, COLUMNS, TRIALS = 72, 21, 20
MEAN = np.linspace(1, -2, COLUMNS)


def spread(coordinates: np.ndarray, rng: np.random.Generator, noise: float = 0.15) -> np.ndarray:
    """Shares of heads that lie so in the logarithms, in directions at random, with some noise."""
    directions = rng.normal(size=(coordinates.shape[1], COLUMNS))
    logs = MEAN + coordinates @ directions + noise * rng.normal(size=(len(coordinates), COLUMNS))
    return softmax(logs, axis=1)


def round_(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def of_layers(heads: int) -> np.ndarray:
    """[head, layer] of layers of twelve heads, or of six layers, since two that lie apart would be clusters."""
    layers = max(6, heads // 12)
    return np.repeat(np.eye(layers), heads // layers, axis=0)


# Coordinates of so many heads in clouds without gaps.
CLOUDS = {
    "normal": lambda rng, heads: 0.4 * rng.normal(size=(heads, 5)),
    "heavy tails": lambda rng, heads: 0.3 * rng.standard_t(3, size=(heads, 5)),
    "three factors": lambda rng, heads: rng.uniform(-0.7, 0.7, (heads, 3)),
    "two factors": lambda rng, heads: rng.uniform(-0.9, 0.9, (heads, 2)),
    "a band": lambda rng, heads: rng.uniform(-1.2, 1.2, (heads, 1)),
    "an arc": lambda rng, heads: round_(rng.uniform(0, np.pi, heads)),
    "a wide arc": lambda rng, heads: round_(rng.uniform(0, 1.5 * np.pi, heads)),
    "a ring": lambda rng, heads: 0.9 * round_(rng.uniform(0, 2 * np.pi, heads)),
    "skewed factors": lambda rng, heads: 0.6 * rng.exponential(1, (heads, 3)),
    "one skewed factor": lambda rng, heads: 0.8 * rng.exponential(1, (heads, 1)),
    "layers along a line": lambda rng, heads: (
        (layers := of_layers(heads)) @ np.linspace(-1, 1, layers.shape[1])[:, None] + rng.normal(0, 0.25, (heads, 1))
    ),
    "layers of their own": lambda rng, heads: (
        (layers := of_layers(heads)) @ rng.normal(0, 0.25, (layers.shape[1], 4)) + rng.normal(0, 0.25, (heads, 4))
    ),
}
PATTERNS = {"mixtures of three patterns": 1, "close mixtures of three patterns": 5}
# Most shares of a head are next to nothing.
SPARSE = {"sparse shares": 0.1, "shares that are less sparse": 0.3}
CLUSTERS = {
    "four": ([18] * 4, 1.2),
    "unequal": ([28, 10, 12, 22], 1.2),
    "near": ([40, 20, 8, 4], 0.7),
    "two": ([52, 20], 1.2),
}


def shares_in(cloud: str, heads: int, rng: np.random.Generator) -> np.ndarray:
    """The shares of so many heads in a cloud without gaps."""
    if cloud in SPARSE:
        return rng.dirichlet(np.full(COLUMNS, SPARSE[cloud]), heads)
    if cloud in PATTERNS:
        patterns = softmax(MEAN + 1.5 * rng.normal(size=(3, COLUMNS)), axis=1)
        return rng.dirichlet(np.full(3, PATTERNS[cloud]), heads) @ patterns
    noise = 0.3 if cloud == "an arc" and heads > HEADS else 0.15
    return spread(CLOUDS[cloud](rng, heads), rng, noise)


def found(shares: np.ndarray) -> str:
    return types_answer(measured_gaps(head_gaps(shares, seed=0), len(shares)).values())


@pytest.mark.parametrize("cloud", [*CLOUDS, *PATTERNS, *SPARSE])
def test_no_cloud_without_gaps_is_taken_for_types(cloud):
    """Of 20, one is expected where 5 % may; four are seen once in sixty times."""
    rng = np.random.default_rng(2)
    assert sum(found(shares_in(cloud, HEADS, rng)) == YES for _ in range(TRIALS)) <= 3


@pytest.mark.parametrize("cloud", ["a ring", "a wide arc"])
def test_few_heads_around_a_ring_are_no_types(cloud):
    """Paths over as many as ten of 24 heads led across it, in 8 % of rings."""
    rng = np.random.default_rng(7)
    assert sum(found(shares_in(cloud, 24, rng)) == YES for _ in range(60)) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("heads", [24, 72, 144, 360])
@pytest.mark.parametrize("cloud", [*CLOUDS, *PATTERNS, *SPARSE])
def test_nor_is_one_of_few_or_many_heads(cloud, heads):
    """Of 60, at most three, and two standard errors."""
    rng = np.random.default_rng(6)
    assert sum(found(shares_in(cloud, heads, rng)) == YES for _ in range(60)) <= 6


def test_a_thick_arc_of_many_heads_has_no_gaps():
    """Lengths of paths from single heads come in steps, which were taken for peaks in half of these."""
    rng = np.random.default_rng(3)
    assert sum(found(shares_in("an arc", 360, rng)) == YES for _ in range(10)) <= 2


def clustered(sizes: list[int], apart: float, rng: np.random.Generator) -> np.ndarray:
    """The shares of heads in clusters of these sizes."""
    centres = np.repeat(apart * rng.normal(size=(len(sizes), COLUMNS)), sizes, axis=0)
    return softmax(MEAN + centres + 0.27 * rng.normal(size=centres.shape), axis=1)


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_clusters_are_found_and_never_denied(clusters):
    rng = np.random.default_rng(3)
    each = [found(clustered(*CLUSTERS[clusters], rng)) for _ in range(TRIALS)]
    assert each.count(YES) >= 18
    assert NO not in each


@pytest.mark.parametrize(("sizes", "least"), [([6] * 4, 10), ([17, 7], 10), ([60, 6, 4, 2], 0)])
def test_clusters_that_are_small_or_of_few_heads_are_hardly_ever_denied(sizes, least):
    """Of 400 times, a large cluster and three small ones are denied in 5."""
    rng = np.random.default_rng(3)
    each = [found(clustered(sizes, 1.2, rng)) for _ in range(TRIALS)]
    assert each.count(YES) >= least
    assert each.count(NO) <= 1


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
