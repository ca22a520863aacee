"""Stability: sure clusters are stable, noise is not, and every figure equals that of naive loops."""

import itertools
import json

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from headtypes.analyses.types.clustering import cluster_heads
from headtypes.analyses.types.names import METHODS
from headtypes.analyses.types.stability import PAIR_METHODS, match_labels, measure_stability, own_cluster_share
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from tests.support.planted import heads, naive_match, samples_of

pytestmark = pytest.mark.filterwarnings("ignore:Graph is not fully connected")

COUNTS = {"dense": 10, "diagonal": 12, "dense_vertical": 10, "vertical": 12}
CLUSTERING = {"method": "kmeans", "k": 4, "scale": False, "restarts": 10}


def full_fit(by_sample, **settings):
    return cluster_heads(by_sample.mean(axis=0, dtype=float), seed=0, **CLUSTERING | settings).labels


@pytest.mark.parametrize("method", METHODS)
def test_well_separated_clusters_are_stable(method):
    by_sample = samples_of(heads(COUNTS, noise=0.01, seed=1)[0], 30, noise=0.05, seed=2)
    labels = full_fit(by_sample, method=method)
    found = measure_stability(by_sample, labels, models=4, seed=3, **CLUSTERING | {"method": method})
    for kind in ("heads", "samples", *(["pairs"] if method in PAIR_METHODS else [])):
        assert found[kind] == {"all_agree": 100.0, "pairwise": 100.0, "by_head": [100.0] * 44}
    if method not in PAIR_METHODS:
        assert found["pairs"] is None
    without = measure_stability(by_sample, labels, models=4, seed=3, pairs=False, **CLUSTERING | {"method": method})
    assert without == found | {"pairs": None}
    assert own_cluster_share(by_sample, labels) == 100
    json.dumps(found, allow_nan=False)


def naive_figures(predicted, labels):
    models, count = len(predicted), len(labels)
    pairs = [(a, b) for a in range(models) for b in range(a + 1, models)]
    same = [sum(predicted[a][h] == predicted[b][h] for h in range(count)) / count for a, b in pairs]
    return {
        "all_agree": 100 * sum(len({model[h] for model in predicted}) == 1 for h in range(count)) / count,
        "pairwise": 100 * sum(same) / len(same),
        "by_head": [100 * sum(m[h] == labels[h] for m in predicted) / models for h in range(count)],
    }


def nearest(train: np.ndarray, points: np.ndarray, *place) -> np.ndarray:
    """The cluster of each point, by k-means fitted to others; place: of the fit's seed."""
    with threadpool_limits(1):
        fitted = KMeans(4, n_init=10, random_state=derive_seed(9, *place)).fit(train)
    return ((points[:, None] - fitted.cluster_centers_) ** 2).sum(axis=-1).argmin(axis=1)


def half_of(items: int, kind: str, model: int) -> list[int]:
    return sorted(np.random.default_rng(derive_seed(9, kind, "half", model)).choice(items, items // 2, replace=False))


@pytest.mark.parametrize("kind", ["heads", "samples", "pairs"])
def test_agreement_equals_naive_loops(kind):
    """Every pair of a head and a sample is a point of its own, in the halves and in what is predicted."""
    # More samples than one block, and an odd number of them; of pairs, few, since each is a point.
    samples, noise = (9, 2) if kind == "pairs" else (67, 0.5)
    by_sample = samples_of(heads(COUNTS, noise=0.3, seed=5)[0], samples, noise=noise, seed=6)
    labels = full_fit(by_sample)
    found = measure_stability(by_sample, labels, models=5, seed=9, **CLUSTERING)[kind]
    points = by_sample.astype(float).reshape(-1, by_sample.shape[-1]) if kind == "pairs" else by_sample.mean(0, float)
    items = len(by_sample) if kind == "samples" else len(points)
    labels, predicted = nearest(points, points, "pairs", "full") if kind == "pairs" else labels, []
    for model in range(5):
        half = half_of(items, kind, model)
        train = by_sample[half].mean(0, float) if kind == "samples" else points[half]
        predicted.append(naive_match(nearest(train, points, kind, "fit", model), labels))
    expected = naive_figures(predicted, labels)
    assert 0 < expected["all_agree"] < 100
    for name in ("all_agree", "pairwise"):
        assert found[name] == pytest.approx(expected[name])
    np.testing.assert_allclose(found["by_head"], np.reshape(expected["by_head"], (-1, 44)).mean(0))


def test_samples_that_differ_make_a_narrow_name_doubtful_and_equal_ones_do_not():
    """Vertical heads look at special tokens a little more than dense_vertical ones: on average, or in every sample."""
    features, names = heads(COUNTS, noise=0.01, seed=1)
    by_sample = np.repeat(features[None], 40, axis=0)
    sep = 18
    of = {name: np.flatnonzero(names == name) for name in COUNTS}
    by_sample[:, of["vertical"]] = 0
    by_sample[:, of["vertical"], sep], by_sample[:, of["vertical"], 16] = 0.56, 0.44
    by_sample[:, of["dense_vertical"]] = 0
    by_sample[:, of["dense_vertical"], sep], by_sample[:, of["dense_vertical"], 5] = 0.55, 0.45

    def doubts(by_sample):
        mean = by_sample.mean(axis=0, dtype=float)
        clustering = cluster_heads(mean, seed=0, **CLUSTERING)
        stability = measure_stability(by_sample, clustering.labels, models=6, seed=3, pairs=False, **CLUSTERING)
        judged = clustering.beside(stability["profiles"]).naming
        return {name for name, doubt in zip(judged.names, judged.doubts, strict=True) if doubt}

    assert doubts(by_sample) == set()
    varied = by_sample.copy()
    for sample, more in enumerate(np.resize([0.1, -0.1], 40)):
        varied[sample][np.ix_(of["vertical"], [sep])] += more
        varied[sample][np.ix_(of["vertical"], [16])] -= more
    np.testing.assert_allclose(varied.mean(axis=0), by_sample.mean(axis=0))
    assert doubts(varied) == {"vertical"}


def test_pairs_are_nearest_to_their_heads_cluster_or_not():
    by_sample = samples_of(heads(COUNTS, noise=0.3, seed=5)[0], 7, noise=2, seed=6)
    labels = full_fit(by_sample)
    mean = by_sample.mean(axis=0, dtype=float)
    centroids = [mean[[head for head in range(44) if labels[head] == cluster]].mean(axis=0) for cluster in range(4)]
    own = [
        min(range(4), key=lambda cluster: ((sample[head] - centroids[cluster]) ** 2).sum()) == labels[head]
        for sample in by_sample.astype(float)
        for head in range(44)
    ]
    assert 30 < 100 * sum(own) / len(own) < 100
    assert own_cluster_share(by_sample, labels) == pytest.approx(100 * sum(own) / len(own))


def test_matching_does_not_depend_on_the_names_of_clusters():
    rng = np.random.default_rng(10)
    reference = rng.integers(0, 4, 50)
    labels = np.where(rng.random(50) < 0.7, reference, rng.integers(0, 4, 50))
    matched = match_labels(labels, reference, 4)
    np.testing.assert_array_equal(matched, naive_match(labels, reference))
    for renamed in itertools.permutations(range(4)):
        np.testing.assert_array_equal(match_labels(np.array(renamed)[labels], reference, 4), matched)


def test_matching_knows_clusters_that_no_head_was_given():
    np.testing.assert_array_equal(match_labels(np.array([3, 3, 0]), np.array([1, 1, 0]), 4), [1, 1, 0])


def test_one_sample_is_an_error():
    by_sample = samples_of(heads(COUNTS, noise=0.1, seed=5)[0], 1, noise=0, seed=6)
    with pytest.raises(InputError, match="at least 2 samples, and there are 1"):
        measure_stability(by_sample, full_fit(by_sample), models=2, seed=0, **CLUSTERING)
