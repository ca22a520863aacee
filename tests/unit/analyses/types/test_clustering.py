"""Clusters of heads: planted ones are found and named, errors are said, seeds and threads do not matter."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from headtypes.analyses.distances.features import Groups, attention_groups
from headtypes.analyses.types.clustering import (
    TYPES,
    cluster_heads,
    embed_heads,
    fit_and_predict,
    head_silhouettes,
    name_types,
)
from headtypes.analyses.types.names import METHODS
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed
from tests.support.drawing import planted
from tests.support.planted import BINS, WIDTH, heads

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
    assert found.naming.doubts == ("",) * 4
    for name, near in zip(found.naming.names, found.naming.groups.near, strict=True):
        assert near == pytest.approx(features[names == name][:, [0, BINS]].sum(axis=1).mean())
    points = (features - features.mean(axis=0)) / features.std(axis=0) if scale else features
    np.testing.assert_allclose(found.silhouette, naive_silhouettes(points, found.labels), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_are_counted_by_rising_special_attention(method):
    features, _ = heads(COUNTS, noise=0.3, seed=4)
    found = cluster_heads(features, **SETTINGS | {"method": method, "k": 5})
    special = [features[found.labels == label, -4:].sum(axis=1).mean() for label in range(5)]
    assert special == sorted(special)
    assert found.naming.names == ("type-1", "type-2", "type-3", "type-4", "type-5")
    assert (found.naming.margin, found.naming.doubts) == (None, ("",) * 5)


@pytest.mark.parametrize("method", METHODS)
def test_equal_seeds_give_equal_clusters_with_any_number_of_threads(method):
    features = np.random.default_rng(5).dirichlet(np.ones(21), size=600)
    with threadpool_limits(1):
        one = cluster_heads(features, **SETTINGS | {"method": method, "restarts": 3})
    many = cluster_heads(features, **SETTINGS | {"method": method, "restarts": 3})
    np.testing.assert_array_equal(one.labels, many.labels)
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


def named(shares, halves=(), errors=0.0):
    """Names of clusters by near, special and far, known to `errors` over heads, and to what halves of samples give."""
    groups = [Groups(*np.array(of_clusters, dtype=float).T) for of_clusters in (shares, *halves)]
    return name_types(groups[0], Groups(*np.full((3, len(shares)), errors)), groups[1:])


CLEAR = {
    "dense": (0.1, 0.1, 0.8),
    "diagonal": (0.8, 0.1, 0.1),
    "dense_vertical": (0.1, 0.47, 0.43),
    "vertical": (0.05, 0.9, 0.05),
}


@pytest.mark.parametrize("order", permutations(TYPES))
def test_clear_patterns_get_their_names_in_any_order(order):
    naming = named([CLEAR[name] for name in order])
    assert naming.names == order
    assert naming.doubts == ("",) * 4


def test_names_and_margin_are_those_of_brute_force():
    rng = np.random.default_rng(1)
    for _ in range(50):
        centroids = rng.dirichlet(np.full(WIDTH, 0.4), size=4)
        scores = []
        for row in centroids:
            near, special = row[0] + row[16], row[17:].sum()
            far = 1 - near - special
            scores.append(
                {"dense": far - special, "diagonal": near, "dense_vertical": min(far, special)}
                | {"vertical": special - far}
            )
        ranked = sorted(
            ((sum(score[name] for score, name in zip(scores, names, strict=True)), names))
            for names in permutations(TYPES)
        )
        naming = name_types(attention_groups(centroids), Groups(*np.zeros((3, 4))))
        assert naming.names == ranked[-1][1]
        assert naming.margin == pytest.approx(ranked[-1][0] - ranked[-2][0])


def test_name_that_is_left_over_is_doubtful():
    # Shares of a real model's clusters: the last is a diagonal with a stripe, vertical by what is left.
    shares = [(0.14, 0.20, 0.66), (0.53, 0.19, 0.28), (0.10, 0.47, 0.43), (0.39, 0.40, 0.21)]
    naming = named(shares)
    assert naming.names == ("dense", "diagonal", "dense_vertical", "vertical")
    assert [doubt != "" for doubt in naming.doubts] == [False, False, False, True]
    assert "would be named diagonal" in naming.doubts[3]
    assert naming.as_dict()["types"]["vertical"]["doubt"] == naming.doubts[3]


def test_name_without_the_largest_share_is_doubtful_though_it_is_the_best_score():
    # dense has the best score for dense (far - special = 0.50), but dense_vertical has more far.
    shares = [(0.40, 0.05, 0.55), (0.95, 0.03, 0.02), (0.02, 0.40, 0.58), (0.02, 0.96, 0.02)]
    naming = named(shares)
    assert naming.names == ("dense", "diagonal", "dense_vertical", "vertical")
    assert [doubt != "" for doubt in naming.doubts] == [True, False, False, False]
    assert "its far is 0.55, and another type has 0.58" in naming.doubts[0]


def test_names_that_tie_are_doubtful():
    naming = named([(0.1, 0.1, 0.8), (0.1, 0.1, 0.8), (0.1, 0.45, 0.45), (0.05, 0.9, 0.05)])
    assert naming.margin == pytest.approx(0)
    assert "second-best assignment by 0.000" in naming.doubts[naming.names.index("dense")]


# Vertical has the most special attention, by 0.015.
CLOSE = [(0.10, 0.15, 0.75), (0.80, 0.10, 0.10), (0.05, 0.549, 0.401), (0.30, 0.564, 0.136)]


def test_a_name_is_doubtful_whose_lead_is_no_larger_than_what_halves_of_the_samples_change():
    def half(change):
        return [*CLOSE[:3], (0.30, 0.564 + change, 0.136 - change)]

    assert named(CLOSE).doubts == ("",) * 4
    assert named(CLOSE, [half(0.010), half(-0.012)]).doubts == ("",) * 4
    naming = named(CLOSE, [half(0.010), half(-0.020)])
    assert naming.names == ("dense", "diagonal", "dense_vertical", "vertical")
    assert naming.doubts[:3] == ("",) * 3
    assert "ahead of the special of another type by 0.015, which is known to 0.020 only" in naming.doubts[3]
    # A half that has no such cluster.
    assert named(CLOSE, [[*CLOSE[:3], (0, 0, 0)]]).doubts[3]


def test_a_name_is_doubtful_whose_share_is_the_largest_by_less_than_heads_differ():
    # Two standard errors of the difference of two means.
    assert named(CLOSE, errors=0.0074 / np.sqrt(2)).doubts == ("",) * 4
    assert [doubt != "" for doubt in named(CLOSE, errors=0.0076 / np.sqrt(2)).doubts] == [False, False, False, True]
    features, _ = heads(COUNTS, noise=0.3, seed=2)
    found = cluster_heads(features, **SETTINGS)
    special = features[:, BINS + 1 :].sum(axis=1)
    for label, error in enumerate(found.naming.errors.special):
        own = special[found.labels == label]
        assert error == pytest.approx(own.std(ddof=1) / np.sqrt(len(own)))


def test_an_embedding_keeps_planted_types_apart_and_comes_out_the_same_again():
    features, partition = planted()
    places = embed_heads(features, partition.shape, seed=3)
    pd.testing.assert_frame_equal(places, embed_heads(features, partition.shape, seed=3))
    assert places[["layer", "head"]].to_numpy().tolist() == [list(head) for head in np.ndindex(partition.shape)]
    assert silhouette_score(places[["x", "y"]], partition.type_of.reshape(-1)) > 0.3
