"""Clusters of heads: planted ones are found, named, stable and chosen; errors are said, and seeds do not matter."""

import json
import warnings
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_samples, silhouette_score
from threadpoolctl import threadpool_limits

from headtypes.analyses.distances.features import Groups, attention_groups
from headtypes.analyses.types import clustering
from headtypes.analyses.types.clustering import TYPES, cluster_heads, compare_numbers, match_labels, measure_stability
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed
from tests.support.drawing import planted
from tests.support.planted import BINS, WIDTH, heads


def samples_of(features: np.ndarray, samples: int, noise: float, seed: int) -> np.ndarray:
    """Per-sample features [sample, head, column] float32 that vary about the heads' own."""
    varied = features + noise * np.random.default_rng(seed).random((samples, *features.shape))
    return (varied / varied.sum(axis=-1, keepdims=True)).astype(np.float32)


def naive_match(labels: np.ndarray, reference: np.ndarray) -> np.ndarray:
    renamed = [np.array(each)[labels] for each in permutations(range(4))]
    return max(renamed, key=lambda each: (each == reference).sum())


# Planted types are far apart, and the graph of their neighbours has no edge from one to another.
pytestmark = pytest.mark.filterwarnings("ignore:Graph is not fully connected")

PLANTED = {"dense": 20, "diagonal": 16, "dense_vertical": 24, "vertical": 12}
SETTINGS = {"method": "kmeans", "k": 4, "scale": False, "restarts": 10, "seed": 7}


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_planted_types_are_found_and_named(method, scale):
    features, names = heads(PLANTED, noise=0.01, seed=3)
    found = cluster_heads(features, **SETTINGS | {"method": method, "scale": scale})
    assert [found.naming.names[label] for label in found.labels] == list(names)
    assert found.naming.doubts == ("",) * 4
    for name, near in zip(found.naming.names, found.naming.groups.near, strict=True):
        assert near == pytest.approx(features[names == name][:, [0, BINS]].sum(axis=1).mean())
    points = (features - features.mean(axis=0)) / features.std(axis=0) if scale else features
    np.testing.assert_allclose(found.silhouette, silhouette_samples(points, found.labels), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_are_counted_by_rising_special_attention(method):
    features, _ = heads(PLANTED, noise=0.3, seed=4)
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
    features, group = np.zeros((60, 21)), np.arange(60) % 2
    features[:, 0], features[:, 20] = np.random.default_rng(6).random(60), 1e-3 * group
    found = {scale: cluster_heads(features, **SETTINGS | {"k": 2, "scale": scale}).labels for scale in (True, False)}
    agreement = {scale: max((found[scale] == group).mean(), (found[scale] != group).mean()) for scale in found}
    assert agreement[True] == 1
    assert agreement[False] < 0.8


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_new_heads_go_to_the_cluster_of_their_like(method, scale):
    train, _ = heads(PLANTED, noise=0.01, seed=8)
    features, names = heads(PLANTED, noise=0.01, seed=9)
    _, predict = clustering.fit_clusters(train, **SETTINGS | {"method": method, "scale": scale})
    labels = predict(features)
    assert {len(set(labels[names == name])) for name in PLANTED} == {1}
    assert len(set(labels)) == 4
    assert not clustering.head_silhouettes(features[:4], np.arange(4)).any(), "each head is a cluster"


def test_more_clusters_than_different_heads_is_an_error():
    features = np.repeat(heads(PLANTED, noise=0.1, seed=0)[0][:3], 10, axis=0)
    with pytest.raises(InputError, match="4 clusters need at least 4 different heads to fit, and there are 3"):
        cluster_heads(features, **SETTINGS)


def test_seeds_are_stable_and_apart():
    # The first four bytes of the SHA-256 of the JSON text, written out here.
    assert derive_seed(2020, "cluster_heads", "bert") == 0x44AF797A
    seeds = {derive_seed(*parts) for parts in [(1, 2), (2, 1), ("1", 2), (12,), ("1", "2"), (1, 2, 0)]}
    assert len(seeds) == 6
    assert 0 <= min(seeds) < max(seeds) < 2**32


def named(shares, halves=(), errors=0.0):
    """Names of clusters by near, special and far, known to `errors` over heads, and to what halves of samples give."""
    groups = [Groups(*np.array(of_clusters, dtype=float).T) for of_clusters in (shares, *halves)]
    return clustering.name_types(groups[0], Groups(*np.full((3, len(shares)), errors)), groups[1:])


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
            scores.append(dict(zip(TYPES, (far - special, near, min(far, special), special - far), strict=True)))
        orders = [*permutations(TYPES)]
        ranked = sorted((sum(of[name] for of, name in zip(scores, names, strict=True)), names) for names in orders)
        naming = clustering.name_types(attention_groups(centroids), Groups(*np.zeros((3, 4))))
        assert naming.names == ranked[-1][1]
        assert naming.margin == pytest.approx(ranked[-1][0] - ranked[-2][0])


@pytest.mark.parametrize(
    ("shares", "doubtful", "why"),
    [
        # A real model's: the last is a diagonal with a stripe, vertical by what is left.
        ([(0.14, 0.20, 0.66), (0.53, 0.19, 0.28), (0.10, 0.47, 0.43), (0.39, 0.40, 0.21)], "vertical",
         "would be named diagonal"),
        # dense has the best score for dense (far - special = 0.50), but dense_vertical has more far.
        ([(0.40, 0.05, 0.55), (0.95, 0.03, 0.02), (0.02, 0.40, 0.58), (0.02, 0.96, 0.02)], "dense",
         "its far is 0.55, and another type has 0.58"),
    ],
    ids=["left over", "not the largest share"],
)  # fmt: skip
def test_a_name_that_another_score_or_share_contradicts_is_doubtful(shares, doubtful, why):
    naming = named(shares)
    assert naming.names == TYPES
    types = naming.as_dict()["types"]
    assert [name for name, about in types.items() if about["doubt"]] == [doubtful]
    assert why in types[doubtful]["doubt"]


def test_names_that_tie_are_doubtful():
    naming = named([(0.1, 0.1, 0.8), (0.1, 0.1, 0.8), (0.1, 0.45, 0.45), (0.05, 0.9, 0.05)])
    assert naming.margin == pytest.approx(0)
    assert "second-best assignment by 0.000" in naming.doubts[naming.names.index("dense")]


# Vertical has the most special attention, by 0.015.
CLOSE = [(0.10, 0.15, 0.75), (0.80, 0.10, 0.10), (0.05, 0.549, 0.401), (0.30, 0.564, 0.136)]


def test_a_name_is_doubtful_whose_lead_is_no_larger_than_what_halves_of_the_samples_change():
    less, little, much = ([*CLOSE[:3], (0.30, 0.564 + it, 0.136 - it)] for it in (0.010, -0.012, -0.020))
    for certain in (named(CLOSE), named(CLOSE, [less, little])):
        assert certain.doubts == ("",) * 4
    naming = named(CLOSE, [less, much])
    assert (naming.names, naming.doubts[:3]) == (TYPES, ("",) * 3)
    assert "ahead of the special of another type by 0.015, which is known to 0.020 only" in naming.doubts[3]
    # A half that has no such cluster.
    assert named(CLOSE, [[*CLOSE[:3], (0, 0, 0)]]).doubts[3]


def test_a_name_is_doubtful_whose_share_is_the_largest_by_less_than_heads_differ():
    # Two standard errors of the difference of two means.
    assert named(CLOSE, errors=0.0074 / np.sqrt(2)).doubts == ("",) * 4
    assert [doubt != "" for doubt in named(CLOSE, errors=0.0076 / np.sqrt(2)).doubts] == [False, False, False, True]
    features, _ = heads(PLANTED, noise=0.3, seed=2)
    found = cluster_heads(features, **SETTINGS)
    special = features[:, BINS + 1 :].sum(axis=1)
    for label, error in enumerate(found.naming.errors.special):
        own = special[found.labels == label]
        assert error == pytest.approx(own.std(ddof=1) / np.sqrt(len(own)))


def test_an_embedding_keeps_planted_types_apart_and_comes_out_the_same_again():
    features, partition = planted()
    places = clustering.embed_heads(features, partition.shape, seed=3)
    pd.testing.assert_frame_equal(places, clustering.embed_heads(features, partition.shape, seed=3))
    assert places[["layer", "head"]].to_numpy().tolist() == [list(head) for head in np.ndindex(partition.shape)]
    assert silhouette_score(places[["x", "y"]], partition.type_of.reshape(-1)) > 0.3


HEADS_OF = {"dense": 10, "diagonal": 12, "dense_vertical": 10, "vertical": 12}
CLUSTERING = {"method": "kmeans", "k": 4, "scale": False, "restarts": 10}


def full_fit(by_sample, **settings):
    return cluster_heads(by_sample.mean(axis=0, dtype=float), seed=0, **CLUSTERING | settings).labels


@pytest.mark.parametrize("method", METHODS)
def test_well_separated_clusters_are_stable(method):
    by_sample = samples_of(heads(HEADS_OF, noise=0.01, seed=1)[0], 30, noise=0.05, seed=2)
    labels = full_fit(by_sample, method=method)
    found = measure_stability(by_sample, labels, models=4, seed=3, **CLUSTERING | {"method": method})
    for kind in ("heads", "samples", *(["pairs"] if method in clustering.PAIR_METHODS else [])):
        assert found[kind] == {"all_agree": 100.0, "pairwise": 100.0, "by_head": [100.0] * 44}
    if method not in clustering.PAIR_METHODS:
        assert found["pairs"] is None
    without = measure_stability(by_sample, labels, models=4, seed=3, pairs=False, **CLUSTERING | {"method": method})
    assert without == found | {"pairs": None}
    assert clustering.own_cluster_share(by_sample, labels) == 100
    json.dumps(found, allow_nan=False)


def naive_figures(predicted, labels):
    by_head = list(zip(*predicted, strict=True))
    return {
        "all_agree": 100 * np.mean([len(set(of_head)) == 1 for of_head in by_head]),
        "pairwise": 100 * np.mean([one == other for of_head in by_head for one, other in combinations(of_head, 2)]),
        "by_head": [100 * np.mean([one == own for one in each]) for each, own in zip(by_head, labels, strict=True)],
    }


def nearest(train: np.ndarray, points: np.ndarray, *place) -> np.ndarray:
    """The cluster of each point, by k-means fitted to others; place: of the fit's seed."""
    with threadpool_limits(1):
        fitted = KMeans(4, n_init=10, random_state=derive_seed(9, *place)).fit(train)
    return ((points[:, None] - fitted.cluster_centers_) ** 2).sum(axis=-1).argmin(axis=1)


@pytest.mark.parametrize("kind", ["heads", "samples", "pairs"])
def test_agreement_equals_naive_loops(kind):
    """Every pair of a head and a sample is a point of its own, in the halves and in what is predicted."""
    # An odd number of samples; of pairs, few, since each is a point.
    samples, noise = (9, 2) if kind == "pairs" else (67, 0.5)
    by_sample = samples_of(heads(HEADS_OF, noise=0.3, seed=5)[0], samples, noise=noise, seed=6)
    labels = full_fit(by_sample)
    found = measure_stability(by_sample, labels, models=5, seed=9, **CLUSTERING)[kind]
    points = by_sample.astype(float).reshape(-1, by_sample.shape[-1]) if kind == "pairs" else by_sample.mean(0, float)
    items = len(by_sample) if kind == "samples" else len(points)
    labels, predicted = nearest(points, points, "pairs", "full") if kind == "pairs" else labels, []
    for model in range(5):
        rng = np.random.default_rng(derive_seed(9, kind, "half", model))
        half = sorted(rng.choice(items, items // 2, replace=False))
        train = by_sample[half].mean(0, float) if kind == "samples" else points[half]
        predicted.append(naive_match(nearest(train, points, kind, "fit", model), labels))
    expected = naive_figures(predicted, labels)
    assert 0 < expected["all_agree"] < 100
    assert (found["all_agree"], found["pairwise"]) == pytest.approx((expected["all_agree"], expected["pairwise"]))
    np.testing.assert_allclose(found["by_head"], np.reshape(expected["by_head"], (-1, 44)).mean(0))


def test_samples_that_differ_make_a_narrow_name_doubtful_and_equal_ones_do_not():
    """Vertical heads look at special tokens a little more than dense_vertical ones: on average, or in every sample."""
    features, names = heads(HEADS_OF, noise=0.01, seed=1)
    by_sample = np.repeat(features[None], 40, axis=0)
    sep = 18
    of = {name: np.flatnonzero(names == name) for name in HEADS_OF}
    for name, special, other in (("vertical", 0.56, 16), ("dense_vertical", 0.55, 5)):
        by_sample[:, of[name]] = 0
        by_sample[:, of[name], sep], by_sample[:, of[name], other] = special, 1 - special

    def doubts(by_sample):
        mean = by_sample.mean(axis=0, dtype=float)
        found = cluster_heads(mean, seed=0, **CLUSTERING)
        stability = measure_stability(by_sample, found.labels, models=6, seed=3, pairs=False, **CLUSTERING)
        judged = found.named_again(stability["profiles"]).naming
        return {name for name, doubt in zip(judged.names, judged.doubts, strict=True) if doubt}

    assert doubts(by_sample) == set()
    varied = by_sample.copy()
    for sample, more in enumerate(np.resize([0.1, -0.1], 40)):
        varied[sample][np.ix_(of["vertical"], [sep])] += more
        varied[sample][np.ix_(of["vertical"], [16])] -= more
    np.testing.assert_allclose(varied.mean(axis=0), by_sample.mean(axis=0))
    assert doubts(varied) == {"vertical"}


def test_pairs_are_nearest_to_their_heads_cluster_or_not():
    by_sample = samples_of(heads(HEADS_OF, noise=0.3, seed=5)[0], 7, noise=2, seed=6)
    labels = full_fit(by_sample)
    mean = by_sample.mean(axis=0, dtype=float)
    centroids = [mean[[head for head in range(44) if labels[head] == cluster]].mean(axis=0) for cluster in range(4)]
    own = [
        min(range(4), key=lambda cluster: ((sample[head] - centroids[cluster]) ** 2).sum()) == labels[head]
        for sample in by_sample.astype(float)
        for head in range(44)
    ]
    assert 30 < 100 * sum(own) / len(own) < 100
    assert clustering.own_cluster_share(by_sample, labels) == pytest.approx(100 * sum(own) / len(own))


def test_matching_does_not_depend_on_the_names_of_clusters():
    rng = np.random.default_rng(10)
    reference = rng.integers(0, 4, 50)
    labels = np.where(rng.random(50) < 0.7, reference, rng.integers(0, 4, 50))
    matched = match_labels(labels, reference, 4)
    np.testing.assert_array_equal(matched, naive_match(labels, reference))
    for renamed in permutations(range(4)):
        np.testing.assert_array_equal(match_labels(np.array(renamed)[labels], reference, 4), matched)
    # Of clusters 1 and 2, or 2 and 3, no head was given.
    np.testing.assert_array_equal(match_labels(np.array([3, 3, 0]), np.array([1, 1, 0]), 4), [1, 1, 0])


def test_one_sample_is_an_error():
    by_sample = samples_of(heads(HEADS_OF, noise=0.1, seed=5)[0], 1, noise=0, seed=6)
    with pytest.raises(InputError, match="at least 2 samples, and there are 1"):
        measure_stability(by_sample, full_fit(by_sample), models=2, seed=0, **CLUSTERING)


NUMBERS = {"method": "kmeans", "k": 4, "scale": False, "restarts": 20, "models": 3, "seed": 5}
FEW = {"restarts": 2, "models": 2}
FOUR = {"dense": 14, "diagonal": 12, "dense_vertical": 16, "vertical": 12}
HALVED = [name for name in clustering.COLUMNS if name.endswith(("all_agree", "pairwise"))]


def noise_only(heads_: int = 24) -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(21), size=(5, heads_)).astype(np.float32)


@pytest.mark.parametrize("method", METHODS)
def test_every_criterion_chooses_the_planted_number(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planted = samples_of(heads(FOUR, noise=0.02, seed=3)[0], 6, noise=0.05, seed=1)
        table, mixtures = compare_numbers(planted, **NUMBERS | {"method": method})
    chosen = clustering.chosen_numbers(table)
    assert chosen["silhouette"] == chosen["heads"] == chosen["samples"] == 4
    assert table["k"].tolist() == list(clustering.COUNTS)
    by_k = table.set_index("k")
    assert by_k.loc[4, "silhouette"] > 0.8
    assert by_k.loc[4, "smallest"] == 12
    assert mixtures == (dict.fromkeys(MIXTURES.values(), 1) if method in ("kmeans", "gmm") else {})


def test_values_are_their_definitions():
    by_sample = noise_only(30)
    settings = {"method": "agglomerative", "scale": True}  # Without a seed.
    table = compare_numbers(by_sample, **NUMBERS | settings)[0].set_index("k")
    features = by_sample.mean(axis=0, dtype=float)
    points = (features - features.mean(axis=0)) / features.std(axis=0)
    for k in clustering.COUNTS:
        mine = fcluster(linkage(points, "ward"), k, "maxclust") - 1
        sizes, row = np.bincount(mine), table.loc[k]
        assert row["smallest"] == sizes.min()
        assert row["silhouette"] == pytest.approx(silhouette_score(points, mine), abs=1e-6)
        assert row["chance"] == pytest.approx(100 * sum(sizes * sizes) / 900)
        labels = cluster_heads(features, k=k, seed=0, restarts=1, **settings).labels
        expected = measure_stability(by_sample, labels, k=k, models=3, seed=5, restarts=1, **settings)
        values = [expected[half][name] for half in ("heads", "samples") for name in ("all_agree", "pairwise")]
        np.testing.assert_allclose(row[HALVED].astype(float), [*values, np.nan, np.nan])


def test_stability_is_freed_of_chance_and_of_equal_ones_the_largest_number_is_best():
    pairwise = {"heads_pairwise": [80.0, 75.0, 70.0], "samples_pairwise": [100.0, 100.0, 99.0]}
    # Of what chance leaves, 20 of 40, 35 of 60, 50 of 80.
    table = pd.DataFrame({"k": [2, 3, 4], "silhouette": np.nan, "chance": [60.0, 40.0, 20.0], **pairwise})
    chosen = clustering.chosen_numbers(table)
    assert chosen["silhouette"] is None
    assert (chosen["heads"], chosen["samples"]) == (4, 3)


@pytest.mark.parametrize("method", ["kmeans", "gmm"])
def test_equal_seeds_give_equal_values(method):
    by_sample, settings = noise_only(), NUMBERS | FEW | {"method": method}
    one, same, other = (compare_numbers(by_sample, **settings | {"seed": seed}) for seed in (1, 1, 2))
    with threadpool_limits(2):
        threads = compare_numbers(by_sample, **settings | {"seed": 1})
    for again in (same, threads):
        pd.testing.assert_frame_equal(one[0], again[0], check_exact=True)
        assert one[1] == again[1]
    assert not one[0].equals(other[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [2, 3, 6])
def test_few_heads_are_divided_as_far_as_they_go_and_equal_ones_count_once(count):
    table, _ = compare_numbers(noise_only(count), **NUMBERS | FEW)
    again, _ = compare_numbers(np.repeat(noise_only(count), 6, axis=1), **NUMBERS | FEW)
    assert table["k"].tolist() == again["k"].tolist() == list(range(2, count))
    # Models of half of the heads need as many of them as clusters.
    assert table.loc[table["k"] > count // 2, HALVED].isna().all(axis=None)
    assert table.loc[table["k"] <= count // 2, HALVED[:4]].notna().all(axis=None)


def test_a_method_that_fails_leaves_its_values_out(monkeypatch):
    def failing(points, **settings):
        if (settings["method"], settings["k"]) in (("gmm", 3), ("gmm-full", 4)):
            raise clustering.IndivisibleError("left a cluster without a head")
        return cluster_heads(points, **settings)

    monkeypatch.setattr(clustering, "cluster_heads", failing)
    table, mixtures = compare_numbers(noise_only(10), **NUMBERS | FEW | {"method": "gmm"})
    by_k = table.set_index("k")
    assert by_k.loc[3].isna().all()
    assert by_k.drop(index=3)["silhouette"].notna().all()
    assert set(mixtures) == {"diag", "spherical", "tied"}


def test_k_means_is_measured_over_pairs_with_the_numbers_that_the_paper_calls_stable():
    by_sample = noise_only(30)
    table = compare_numbers(by_sample, **NUMBERS | {"restarts": 6})[0].set_index("k")
    features, paired = by_sample.mean(axis=0, dtype=float), ["pairs_all_agree", "pairs_pairwise"]
    for k in clustering.PAIR_COUNTS:
        seed = derive_seed(5, "clusters", "kmeans", k, 16)
        labels = cluster_heads(features, method="kmeans", k=k, scale=False, restarts=6, seed=seed).labels
        halves = {"method": "kmeans", "k": k, "scale": False, "restarts": 3, "models": 3, "seed": 5}
        expected = measure_stability(by_sample, labels, **halves)["pairs"]
        assert table.loc[k, paired].tolist() == pytest.approx([expected["all_agree"], expected["pairwise"]])
    assert table.drop(index=[*clustering.PAIR_COUNTS])[paired].isna().all(axis=None)
