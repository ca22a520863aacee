"""Confidence in heads and types: those of naive loops, and what was planted is found."""

import itertools
import json

import numpy as np
import pytest
from scipy import stats
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from headtypes.analyses.types import confidence
from headtypes.analyses.types.clustering import IndivisibleError, cluster_heads, fit, partition_of
from headtypes.analyses.types.confidence import group_intervals, head_confidence, recluster_samples, recluster_seeds
from headtypes.analyses.types.names import METHODS
from headtypes.analyses.types.partitions import build_partition
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from tests.support.planted import WIDTH, heads, naive_match, pattern, samples_of

pytestmark = pytest.mark.filterwarnings("ignore:Graph is not fully connected")

COUNTS = {"dense": 10, "diagonal": 12, "dense_vertical": 10, "vertical": 12}
CLUSTERING = {"method": "kmeans", "k": 4, "scale": False, "restarts": 10}
SHAPE = (4, 11)


def full_fit(by_sample, **settings):
    return cluster_heads(by_sample.mean(axis=0, dtype=float), seed=0, **CLUSTERING | settings)


def naive_agreement(one, other):
    """Adjusted Rand index by counting pairs of heads."""
    pairs = list(itertools.combinations(range(len(one)), 2))
    in_one = [one[a] == one[b] for a, b in pairs]
    in_other = [other[a] == other[b] for a, b in pairs]
    together = sum(a and b for a, b in zip(in_one, in_other, strict=True))
    expected = sum(in_one) * sum(in_other) / len(pairs)
    return (together - expected) / ((sum(in_one) + sum(in_other)) / 2 - expected)


def naive_keeps(each, labels, seed, restarts):
    """Percent of clusterings in which each head keeps its cluster, and the adjusted Rand indices."""
    kept, agreement = [], []
    for number, features in enumerate(each):
        with threadpool_limits(1):
            model = KMeans(4, n_init=restarts, tol=0, random_state=derive_seed(seed, "fit", number))
            found = model.fit(features).labels_
        kept.append(naive_match(found, labels) == labels)
        agreement.append(naive_agreement(labels, found))
    return 100 * np.mean(kept, axis=0), agreement


def test_intervals_of_groups_equal_a_naive_loop():
    by_sample = samples_of(heads(COUNTS, noise=0.3, seed=5)[0], 23, noise=2, seed=6)
    found = group_intervals(by_sample, seed=4, resamples=300)
    rng = np.random.default_rng(4)
    resampled = [by_sample[rng.integers(0, 23, size=23)].astype(float).mean(axis=0) for _ in range(300)]
    tail = stats.norm.cdf(stats.t(22).ppf(0.025) * np.sqrt(23 / 22))
    columns = {"near": [0, 16], "special": list(range(17, WIDTH)), "far": list(range(1, 16))}
    for group, places in columns.items():
        mean = by_sample.astype(float).mean(axis=0)[:, places].sum(axis=1)
        sums = [features[:, places].sum(axis=1) for features in resampled]
        low, high = np.quantile(sums, [tail, 1 - tail], axis=0)
        np.testing.assert_allclose(found[group], mean, atol=1e-7)
        np.testing.assert_allclose(found[f"{group}_low"], low, atol=1e-7)
        np.testing.assert_allclose(found[f"{group}_high"], high, atol=1e-7)
    assert list(found.columns) == [f"{group}{end}" for group in columns for end in ("", "_low", "_high")]


def test_a_head_that_varies_from_sample_to_sample_has_a_wide_interval():
    steady = np.stack([pattern("diagonal")] * 40)
    varying = np.stack([pattern("diagonal"), pattern("vertical")] * 20)
    found = group_intervals(np.stack([steady, varying], axis=1), seed=0)
    width = found["near_high"] - found["near_low"]
    assert width[0] == pytest.approx(0, abs=1e-12)
    # Near is 0.9 in one half of the samples and 0.05 in the other.
    error = (0.9 - 0.05) / 2 / np.sqrt(39)
    assert width[1] == pytest.approx(2 * stats.t(39).ppf(0.975) * error, rel=0.1)


def test_reclustering_samples_equals_naive_loops():
    # More heads than one block.
    by_sample = samples_of(heads(COUNTS, noise=0.2, seed=5)[0], 15, noise=0.3, seed=6)
    labels = full_fit(by_sample).labels
    found = recluster_samples(by_sample, labels, clusterings=12, seed=9, **CLUSTERING)
    rng = np.random.default_rng(9)
    resampled = [by_sample[rng.integers(0, 15, size=15)].astype(float).mean(axis=0) for _ in range(12)]
    keeps, agreement = naive_keeps(resampled, labels, seed=9, restarts=10)
    np.testing.assert_allclose(found.keeps, keeps)
    np.testing.assert_allclose(found.adjusted_rand, agreement)
    assert 20 < np.count_nonzero(found.keeps == 100) < 40
    assert found.failed == 0


def test_reclustering_seeds_equals_naive_loops():
    features, _ = heads(COUNTS, noise=0.3, seed=5)
    settings = CLUSTERING | {"restarts": 3}
    labels = cluster_heads(features, seed=0, **settings).labels
    found = recluster_seeds(features, labels, clusterings=12, seed=9, **settings)
    keeps, agreement = naive_keeps([features] * 12, labels, seed=9, restarts=3)
    np.testing.assert_allclose(found.keeps, keeps)
    np.testing.assert_allclose(found.adjusted_rand, agreement)
    assert 20 < np.count_nonzero(found.keeps == 100) < 40


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_clear_types_are_sure(method, scale):
    by_sample = samples_of(heads(COUNTS, noise=0.01, seed=1)[0], 30, noise=0.05, seed=2)
    settings = CLUSTERING | {"method": method, "scale": scale}
    partition = partition_of(full_fit(by_sample, **settings), by_sample.mean(axis=0), SHAPE)
    table, figures = head_confidence(by_sample, partition, settings, seed=3, clusterings=5)
    assert (table[["keeps_type_samples", "keeps_type_seeds"]] == 100).all(axis=None)
    sure = {"clusterings": 5, "failed": 0, "adjusted_rand": 1.0, "lowest_adjusted_rand": 1.0}
    assert figures == {"samples": sure, "seeds": sure}


def test_a_method_without_seed_keeps_every_type_whatever_the_heads():
    # Ward's clusters are not those of the nearest centroid.
    features = np.random.default_rng(1).dirichlet(np.ones(21), size=44)
    settings = CLUSTERING | {"method": "agglomerative"}
    labels = cluster_heads(features, seed=0, **settings).labels
    assert (recluster_seeds(features, labels, clusterings=3, seed=1, **settings).keeps == 100).all()


def test_the_head_between_two_types_is_the_unsure_one():
    # Head 0 is diagonal in one half of the samples and vertical in the other.
    features, names = heads(COUNTS, noise=0.02, seed=1)
    by_sample = samples_of(features, 40, noise=0.02, seed=2)
    by_sample[::2, 0] = pattern("diagonal")
    by_sample[1::2, 0] = pattern("vertical")
    clear = {name: features[names == name].mean(axis=0) for name in ("diagonal", "vertical")}
    middle = by_sample[:, 0].mean(axis=0)
    apart = {name: np.linalg.norm(middle - centre) for name, centre in clear.items()}
    assert max(apart.values()) / min(apart.values()) < 1.2
    labels = full_fit(by_sample).labels
    found = recluster_samples(by_sample, labels, clusterings=60, seed=3, **CLUSTERING)
    assert 20 < found.keeps[0] < 95
    assert (found.keeps[1:] == 100).all()
    assert 0.8 < found.adjusted_rand.min() < 1
    seeds = recluster_seeds(by_sample.mean(axis=0, dtype=float), labels, clusterings=10, seed=3, **CLUSTERING)
    assert (seeds.keeps == 100).all()


def test_few_restarts_are_less_sure_over_seeds():
    features = np.random.default_rng(2).dirichlet(np.ones(21), size=60)
    labels = cluster_heads(features, seed=0, **CLUSTERING | {"restarts": 30}).labels
    few, many = (
        recluster_seeds(features, labels, clusterings=10, seed=1, **CLUSTERING | {"restarts": restarts})
        for restarts in (1, 30)
    )
    assert few.keeps.mean() < many.keeps.mean()
    assert few.adjusted_rand.mean() < many.adjusted_rand.mean()


def test_names_of_clusters_do_not_matter():
    by_sample = samples_of(heads(COUNTS, noise=0.2, seed=5)[0], 15, noise=0.3, seed=6)
    labels = full_fit(by_sample).labels
    one, other = (
        recluster_samples(by_sample, renamed, clusterings=5, seed=9, **CLUSTERING)
        for renamed in (labels, np.array([2, 0, 3, 1])[labels])
    )
    np.testing.assert_array_equal(one.keeps, other.keeps)
    np.testing.assert_allclose(one.adjusted_rand, other.adjusted_rand)


def test_one_row_per_head_and_figures_for_json():
    by_sample = samples_of(heads(COUNTS, noise=0.2, seed=5)[0], 12, noise=0.3, seed=6)
    partition = partition_of(full_fit(by_sample), by_sample.mean(axis=0, dtype=float), SHAPE)
    one, same, other = (
        head_confidence(by_sample, partition, CLUSTERING, seed=seed, resamples=100, clusterings=4) for seed in (1, 1, 2)
    )
    assert one[0].equals(same[0])
    assert one[1] == same[1]
    assert not one[0]["near_low"].equals(other[0]["near_low"])
    assert not one[0]["keeps_type_samples"].equals(other[0]["keeps_type_samples"])
    table, figures = one
    for column in ("layer", "head", "type"):
        assert table[column].tolist() == partition.table[column].tolist()
    np.testing.assert_allclose(table["near"], partition.table["near"], atol=1e-7)
    assert list(table.columns[-2:]) == ["keeps_type_samples", "keeps_type_seeds"]
    assert table["keeps_type_samples"].between(0, 100).all()
    json.dumps(figures, allow_nan=False)


def test_one_sample_has_no_interval():
    by_sample = samples_of(heads(COUNTS, noise=0.1, seed=5)[0], 1, noise=0.1, seed=6)
    partition = partition_of(full_fit(by_sample), by_sample[0], SHAPE)
    table, figures = head_confidence(by_sample, partition, CLUSTERING, seed=1, clusterings=2)
    assert table[["near_low", "far_high", "keeps_type_samples"]].isna().all(axis=None)
    assert (table["keeps_type_seeds"] == 100).all()
    assert figures["samples"] is None


def test_a_partition_that_was_brought_has_intervals_and_nothing_to_make_again():
    by_sample = samples_of(heads(COUNTS, noise=0.1, seed=5)[0], 8, noise=0.1, seed=6)
    columns = {"cluster": np.arange(44) % 2, "types": np.tile(["even", "odd"], 22)}
    partition = build_partition(by_sample.mean(axis=0), SHAPE, **columns, silhouette=np.zeros(44), doubtful=False)
    table, figures = head_confidence(by_sample, partition, None, seed=1)
    groups = group_intervals(by_sample, seed=derive_seed(1, "groups"))
    np.testing.assert_array_equal(table[groups.columns], groups)
    assert table["near_low"].notna().all()
    assert table[["keeps_type_samples", "keeps_type_seeds"]].isna().all(axis=None)
    assert figures == {"samples": None, "seeds": None}


def test_a_clustering_that_fails_keeps_no_type(monkeypatch):
    features, _ = heads(COUNTS, noise=0.01, seed=1)
    labels = cluster_heads(features, seed=0, **CLUSTERING).labels
    seeds = [derive_seed(1, "fit", number) for number in range(4)]

    def failing(features, *, seed, **settings):
        if seed == seeds[2]:
            raise IndivisibleError("left 1 of 4 clusters without a head")
        return fit(features, seed=seed, **settings)

    monkeypatch.setattr(confidence, "fit", failing)
    found = recluster_seeds(features, labels, clusterings=4, seed=1, **CLUSTERING)
    assert (found.keeps == 75).all()
    assert found.adjusted_rand == pytest.approx([1, 1, 0, 1])
    assert found.as_dict() == {"clusterings": 4, "failed": 1, "adjusted_rand": 0.75, "lowest_adjusted_rand": 0}


def test_other_errors_are_said():
    features, _ = heads(COUNTS, noise=0.01, seed=1)
    with pytest.raises(InputError, match="'kmeanz' is not one of kmeans"):
        recluster_seeds(features, np.zeros(44, int), clusterings=2, seed=1, **CLUSTERING | {"method": "kmeanz"})
