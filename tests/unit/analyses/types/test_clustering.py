"""Clusters of heads: planted ones are found, errors are said, seeds and threads do not matter."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from headtypes.analyses.types.clustering import cluster_heads, fit_and_predict, head_silhouettes
from headtypes.analyses.types.names import METHODS
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from tests.support.planted import heads

# Planted types are far apart, and the graph of their neighbours has no edge from one to another.
pytestmark = pytest.mark.filterwarnings("ignore:Graph is not fully connected")

COUNTS = {"dense": 20, "diagonal": 16, "dense_vertical": 24, "vertical": 12}
SETTINGS = {"method": "kmeans", "k": 4, "scale": False, "restarts": 10, "seed": 7}


def naive_silhouettes(points, labels):
    result = []
    for index, point in enumerate(points):
        distances = np.sqrt(((points - point) ** 2).sum(axis=1))
        own = [distances[j] for j in range(len(points)) if labels[j] == labels[index] and j != index]
        if not own:
            result.append(0.0)
            continue
        inner = np.mean(own)
        outer = min(np.mean(distances[labels == other]) for other in set(labels) - {labels[index]})
        result.append((outer - inner) / max(inner, outer))
    return np.array(result)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_planted_types_are_found_and_named(method, scale):
    features, names = heads(COUNTS, noise=0.01, seed=3)
    found = cluster_heads(features, **SETTINGS | {"method": method, "scale": scale})
    assert [found.naming.names[label] for label in found.labels] == list(names)
    assert found.naming.warnings == ()
    for label, name in enumerate(found.naming.names):
        np.testing.assert_allclose(found.centroids[label], features[names == name].mean(axis=0))
    points = (features - features.mean(axis=0)) / features.std(axis=0) if scale else features
    np.testing.assert_allclose(found.silhouette, naive_silhouettes(points, found.labels), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_are_counted_by_rising_special_attention(method):
    features, _ = heads(COUNTS, noise=0.3, seed=4)
    found = cluster_heads(features, **SETTINGS | {"method": method, "k": 5})
    special = [features[found.labels == label, -4:].sum(axis=1).mean() for label in range(5)]
    assert special == sorted(special)
    assert found.naming.names == ("type-1", "type-2", "type-3", "type-4", "type-5")


@pytest.mark.parametrize("method", METHODS)
def test_equal_seeds_give_equal_clusters_with_any_number_of_threads(method):
    features = np.random.default_rng(5).dirichlet(np.ones(21), size=600)
    with threadpool_limits(1):
        one = cluster_heads(features, **SETTINGS | {"method": method, "restarts": 3})
    many = cluster_heads(features, **SETTINGS | {"method": method, "restarts": 3})
    np.testing.assert_array_equal(one.labels, many.labels)
    np.testing.assert_array_equal(one.centroids, many.centroids)
    np.testing.assert_array_equal(one.silhouette, many.silhouette)


def test_scaling_lets_small_columns_count():
    # Two groups, apart in the period column by far less than all heads are in window 0.
    features = np.zeros((60, 21))
    group = np.arange(60) % 2
    features[:, 0] = np.random.default_rng(6).random(60)
    features[:, 20] = 1e-3 * group
    found = {scale: cluster_heads(features, **SETTINGS | {"k": 2, "scale": scale}).labels for scale in (True, False)}
    agreement = {scale: max((found[scale] == group).mean(), (found[scale] != group).mean()) for scale in found}
    assert agreement[True] == 1
    assert agreement[False] < 0.8


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_new_heads_go_to_the_cluster_of_their_like(method, scale):
    train, _ = heads(COUNTS, noise=0.01, seed=8)
    features, names = heads(COUNTS, noise=0.01, seed=9)
    labels = fit_and_predict(train, features, **SETTINGS | {"method": method, "scale": scale})
    assert {len(set(labels[names == name])) for name in COUNTS} == {1}
    assert len(set(labels)) == 4


def test_silhouettes_at_the_limits():
    features = np.random.default_rng(0).random((4, 21))
    assert np.isnan(head_silhouettes(features, np.zeros(4, dtype=int))).all()
    np.testing.assert_array_equal(head_silhouettes(features, np.arange(4)), 0)


def test_more_clusters_than_different_heads_is_an_error():
    features = np.repeat(heads(COUNTS, noise=0.1, seed=0)[0][:3], 10, axis=0)
    with pytest.raises(InputError, match="4 clusters need at least 4 different heads to fit, and there are 3"):
        cluster_heads(features, **SETTINGS)


def test_seeds_are_stable_and_apart():
    # The first four bytes of the SHA-256 of the JSON text, written out here.
    assert derive_seed(2020, "cluster_heads", "bert") == 0x44AF797A
    seeds = {derive_seed(*parts) for parts in [(1, 2), (2, 1), ("1", 2), (12,), ("1", "2"), (1, 2, 0)]}
    assert len(seeds) == 6
    assert all(0 <= seed < 2**32 for seed in seeds)
