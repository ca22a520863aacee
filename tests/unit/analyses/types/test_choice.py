"""Choosing k and method: planted clusters are what every criterion chooses, and each figure is its definition."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.stats import kstest
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from headtypes.analyses.distances.columns import head_features
from headtypes.analyses.types import choice
from headtypes.analyses.types.choice import (
    BINS,
    COUNTS,
    PAIR_COUNTS,
    best_choices,
    compare_clusterings,
    draw_references,
    gap_choice,
    gap_statistic,
)
from headtypes.analyses.types.choice_files import STABILITY
from headtypes.analyses.types.clustering import IndivisibleError, cluster_heads
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.analyses.types.stability import measure_stability
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from tests.support.planted import BINS as PLANTED_BINS
from tests.support.planted import heads

SETTINGS = {"distance_bins": 16, "scale": False, "restarts": 50, "models": 3, "seed": 5, "references": 6}
FEW = {"restarts": 1, "models": 2, "references": 2}
FOUR = {"dense": 14, "diagonal": 12, "dense_vertical": 16, "vertical": 12}


def stored(features: np.ndarray, samples: int = 6, noise: float = 0.02, seed: int = 1) -> np.ndarray:
    """Features of 16 distance bins as 69 stored columns [sample, head, 69] float32 that vary from sample to sample."""
    fine = np.repeat(features[:, :PLANTED_BINS] / 4, 4, axis=1)
    mean = np.concatenate([fine, features[:, PLANTED_BINS:]], axis=1)
    varied = mean + noise * np.random.default_rng(seed).random((samples, *mean.shape))
    return (varied / varied.sum(axis=-1, keepdims=True)).astype(np.float32)


def noise_only(heads_: int = 24, samples: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(69), size=(samples, heads_)).astype(np.float32)


@pytest.fixture(scope="module")
def planted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compare_clusterings(stored(heads(FOUR, noise=0.02, seed=3)[0]), **SETTINGS)


@pytest.fixture
def two_methods(monkeypatch):
    monkeypatch.setattr(choice, "METHODS", ("gmm", "agglomerative"))
    monkeypatch.setattr(choice, "COUNTS", (2, 3, 4))


def test_every_criterion_chooses_the_planted_number(planted):
    best = planted.best.set_index("method")
    assert list(best.index) == list(METHODS)
    assert (best[["silhouette_k", "heads_k", "samples_k"]] == 4).all(axis=None)
    np.testing.assert_array_equal(best[["heads_kappa", "samples_kappa"]], 1)
    here = planted.table[planted.table["distance_bins"] == 16].set_index(["method", "k"])
    # With other methods two clusters of the four may be worse than none, where the rule ends.
    assert best.loc["agglomerative", "gap_k"] == 4
    for method in METHODS:
        assert here.loc[method, "gap"].idxmax() == 4
        assert best.loc[method, "silhouette"] == here.loc[(method, 4), "silhouette"] > 0.8
        assert here.loc[(method, 4), "smallest"] == 12


def test_another_planted_number_is_chosen_too(monkeypatch):
    monkeypatch.setattr(choice, "METHODS", ("kmeans", "agglomerative"))
    three = {name: FOUR[name] for name in ("dense", "diagonal", "vertical")}
    best = compare_clusterings(stored(heads(three, noise=0.02, seed=4)[0], noise=0.05), **SETTINGS).best
    assert (best[["silhouette_k", "gap_k", "heads_k", "samples_k"]] == 3).all(axis=None)


def test_one_row_for_each_way_and_the_dear_criteria_for_one_number_of_bins(planted):
    table = planted.table
    ways = [(method, k, distance_bins) for method in METHODS for distance_bins in BINS
            for k in ((1, *COUNTS) if distance_bins == 16 else COUNTS)]  # fmt: skip
    assert list(table[["method", "k", "distance_bins"]].itertuples(index=False, name=None)) == ways
    more, dear = table["k"] > 1, table["distance_bins"] == 16
    # A mixture does not divide these into more than four clusters, or leaves one of them empty now and then.
    sure = (table["method"] != "gmm") | (table["k"] <= 4)
    for column in ("silhouette", "smallest", "chance"):
        assert table.loc[more & sure, column].notna().all()
        assert table.loc[~more, column].isna().all()
    for column in ("gap", "gap_error"):
        assert table.loc[dear & sure, column].notna().all()
        assert table.loc[~dear, column].isna().all()
    paired = (table["method"] == "kmeans") & table["k"].isin(PAIR_COUNTS)
    for column in STABILITY:
        measured = dear & more & sure & (paired | (not column.startswith("pairs")))
        assert table.loc[measured, column].notna().all()
        assert table.loc[~dear | ~more | ~(paired | (not column.startswith("pairs"))), column].isna().all()


def test_equal_clusters_agree_wholly(planted):
    agreement = planted.agreement
    made = planted.table[planted.table["silhouette"].notna()]
    ways = list(made[["method", "distance_bins", "k"]].itertuples(index=False, name=None))
    pairs = [(*one[:2], *other) for one, other in itertools.combinations(ways, 2)
             if one[2] == other[2] and (one[0] == other[0]) != (one[1] == other[1])]  # fmt: skip
    # Then k-means beside mixtures with other covariances, for the one number of bins.
    beside = [("kmeans", 16, method, 16, k) for method in list(MIXTURES)[1:] for k in (2, 3, 4)]
    rows = list(agreement[list(choice.AGREEMENT[:5])].itertuples(index=False, name=None))
    assert rows[: len(pairs)] == pairs
    assert [row for row in rows[len(pairs) :] if row[-1] <= 4] == beside
    assert (agreement.loc[agreement["k"] == 4, "adjusted_rand"] == 1).all()
    assert (agreement.loc[agreement["k"] == 8, "adjusted_rand"] < 1).any()


def test_figures_of_a_way_are_their_definitions(monkeypatch):
    monkeypatch.setattr(choice, "METHODS", ("agglomerative",))  # Without a seed.
    distance = noise_only(30)
    found = compare_clusterings(distance, **SETTINGS | {"distance_bins": 8, "scale": True})
    table = found.table.set_index(["distance_bins", "k"])
    labels = {}
    for distance_bins in BINS:
        features = head_features(distance.astype(float), distance_bins).mean(axis=0)
        points = (features - features.mean(axis=0)) / features.std(axis=0)
        tree = linkage(points, "ward")
        for k in COUNTS:
            labels[distance_bins, k] = mine = fcluster(tree, k, "maxclust") - 1
            sizes = np.array([sum(mine == label) for label in range(k)])
            row = table.loc[distance_bins, k]
            assert row["smallest"] == sizes.min()
            assert row["silhouette"] == pytest.approx(silhouette_score(points, mine), abs=1e-6)
            assert row["chance"] == pytest.approx(100 * sum(sizes * sizes) / 900)
    by_sample = head_features(distance, 8)
    features_8 = by_sample.mean(axis=0, dtype=float)
    points = (features_8 - features_8.mean(axis=0)) / features_8.std(axis=0)
    references = list(draw_references(points, 6, seed=5))
    for k in (2, 5):
        logs = [naive_log_within(each, fcluster(linkage(each, "ward"), k, "maxclust")) for each in references]
        gap = np.mean(logs) - naive_log_within(points, labels[8, k])
        assert table.loc[(8, k), "gap"] == pytest.approx(gap, rel=1e-5)
        settings = {"method": "agglomerative", "scale": True, "restarts": 1}
        mine = cluster_heads(features_8, k=k, seed=0, **settings).labels
        assert naive_rand(mine, labels[8, k]) == pytest.approx(1)
        expected = measure_stability(by_sample, mine, k=k, models=3, seed=5, **settings)
        figures = [expected[half][figure] for half in ("heads", "samples") for figure in ("all_agree", "pairwise")]
        np.testing.assert_allclose(table.loc[(8, k), list(STABILITY)].astype(float), [*figures, np.nan, np.nan])
    pair = found.agreement[(found.agreement["k"] == 3) & (found.agreement["distance_bins"] == 4)].set_index(
        "other_distance_bins"
    )
    for other in BINS[1:]:
        assert pair.loc[other, "adjusted_rand"] == pytest.approx(naive_rand(labels[4, 3], labels[other, 3]))


def naive_rand(ours, theirs):
    """From all pairs of heads: Hubert and Arabie 1985, equation 5."""
    pairs = [(a, b) for a in range(len(ours)) for b in range(a)]
    one = np.array([ours[a] == ours[b] for a, b in pairs])
    other = np.array([theirs[a] == theirs[b] for a, b in pairs])
    chance = one.sum() * other.sum() / len(pairs)
    return (sum(one & other) - chance) / ((one.sum() + other.sum()) / 2 - chance)


# Gap statistic


def naive_log_within(points, labels):
    """Log of the sum over clusters of all distances within, squared, over twice the size."""
    total = 0.0
    for label in set(labels):
        mine = points[labels == label]
        total += sum(((a - b) ** 2).sum() for a in mine for b in mine) / (2 * len(mine))
    return np.log(total)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_gap_equals_a_naive_one(k):
    rng = np.random.default_rng(k)
    points, *references = rng.random((5, 25, 4))

    def wards(each):
        return fcluster(linkage(each, "ward"), k, "maxclust") - 1

    gap, error = gap_statistic(points, references, method="agglomerative", k=k, restarts=1, seed=0)
    logs = [naive_log_within(each, wards(each)) for each in references]
    mean = sum(logs) / 4
    assert gap == pytest.approx(mean - naive_log_within(points, wards(points)))
    assert error == pytest.approx(np.sqrt(sum((log - mean) ** 2 for log in logs) / 4) * np.sqrt(1 + 1 / 4))


def test_references_are_uniform_along_the_principal_axes():
    rng = np.random.default_rng(2)
    # Oblong, turned, and in a plane as shares that sum to one are.
    points = rng.normal(size=(300, 3)) * (5, 1, 0.2) @ np.linalg.qr(rng.normal(size=(4, 4)))[0][:3] + 7
    references = list(draw_references(points, 8, seed=3))
    pca = PCA(3).fit(points)
    along = pca.transform(points)
    drawn = [pca.transform(each) for each in references]
    for each, mapped in zip(references, drawn, strict=True):
        assert each.shape == points.shape
        np.testing.assert_allclose(pca.inverse_transform(mapped), each)
    for axis in range(3):
        low, high = along[:, axis].min(), along[:, axis].max()
        values = np.concatenate([mapped[:, axis] for mapped in drawn])
        assert low <= values.min() < values.max() <= high
        assert kstest((values - low) / (high - low), "uniform").pvalue > 0.001
    assert len({each.tobytes() for each in references}) == 8


def test_the_gap_of_k_means_finds_the_planted_number():
    points, _ = heads(FOUR, noise=0.02, seed=3)
    references = list(draw_references(points, 8, seed=1))
    found = {k: gap_statistic(points, references, method="kmeans", k=k, restarts=5, seed=0) for k in range(1, 7)}
    table = pd.DataFrame.from_dict(found, orient="index", columns=["gap", "error"])
    assert gap_choice(table["gap"], table["error"]) == table["gap"].idxmax() == 4


def test_gap_finds_one_cluster_where_there_is_one():
    # Uniform in a box: the references are more of the same.
    points = np.random.default_rng(0).random((60, 3)) * (3, 2, 1)
    references = list(draw_references(points, 10, seed=1))
    found = {k: gap_statistic(points, references, method="kmeans", k=k, restarts=5, seed=0) for k in range(1, 5)}
    table = pd.DataFrame.from_dict(found, orient="index", columns=["gap", "error"])
    assert gap_choice(table["gap"], table["error"]) == 1
    assert table["gap"].abs().max() < 0.2


def test_points_that_are_their_own_reference_have_no_gap():
    """Though every fit ends elsewhere: of one fit the gap would be as large as the standard error."""
    points = np.random.default_rng(3).dirichlet(np.ones(21), size=40)
    found = [gap_statistic(points, [points] * 20, method="kmeans", k=5, restarts=1, seed=seed) for seed in range(8)]
    assert np.sqrt(np.mean([(gap / error) ** 2 for gap, error in found])) < 0.7


def test_the_gap_of_fewer_points_than_clusters_is_an_error():
    points = np.random.default_rng(0).random((6, 3))
    with pytest.raises(IndivisibleError, match="4 clusters need at least 4 different heads"):
        gap_statistic(points, [points[:3]], method="kmeans", k=4, restarts=1, seed=0)


@pytest.mark.parametrize(
    ("gaps", "errors", "expected"),
    [
        ([1.0, 2.0, 3.0, 3.1, 3.0], [0.1] * 5, 3),  # 3.0 is no less than 3.1 - 0.1.
        ([1.0, 0.9, 3.0], [0.1] * 3, 1),
        ([1.0, 2.0, 3.0], [0.1] * 3, None),
        ([1.0, 2.0, 3.0], [0.1, 1.5, 0.1], 1),  # The error is that of the larger k.
        ([1.0, 2.0, np.nan, 2.0, 1.0], [0.1] * 5, 4),
        ([], [], None),
    ],
)
def test_the_rule_of_the_gap_by_hand(gaps, errors, expected):
    index = range(1, len(gaps) + 1)
    assert gap_choice(pd.Series(gaps, index, dtype=float), pd.Series(errors, index, dtype=float)) == expected


# The best


def rows(**columns):
    blank = dict.fromkeys(choice.TABLE, np.nan)
    return pd.DataFrame([blank | {"method": "kmeans", "k": k} for k in (2, 3, 4)]).assign(**columns)


def test_stability_is_freed_of_chance_and_of_equal_ones_the_largest_number_is_best():
    best = best_choices(
        rows(heads_pairwise=[80.0, 75.0, 70.0], samples_pairwise=[100.0, 100.0, 99.0], chance=[60.0, 40.0, 20.0])
    ).iloc[0]
    # 20 of 40, 35 of 60, 50 of 80.
    assert (best["heads_k"], best["heads_kappa"]) == (4, pytest.approx(50 / 80))
    assert (best["samples_k"], best["samples_kappa"]) == (3, 1)


def test_what_was_not_computed_is_not_best():
    best = best_choices(rows(silhouette=[np.nan, 0.1, 0.3])).iloc[0]
    assert best["silhouette_k"] == 4
    assert best[["gap_k", "heads_k", "heads_kappa", "samples_k", "samples_kappa"]].isna().all()


# Seeds, and what is too little


def test_equal_seeds_give_equal_figures(two_methods):
    distance = noise_only()
    one, same, other = (compare_clusterings(distance, **SETTINGS | FEW | {"seed": seed}) for seed in (1, 1, 2))
    with threadpool_limits(2):
        threads = compare_clusterings(distance, **SETTINGS | FEW | {"seed": 1})
    for name in ("table", "agreement", "best"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(same, name), check_exact=True)
        pd.testing.assert_frame_equal(getattr(one, name), getattr(threads, name), check_exact=True)
        assert not getattr(one, name).equals(getattr(other, name))


def test_the_chosen_bins_are_compared_also_when_they_are_no_others(monkeypatch):
    monkeypatch.setattr(choice, "METHODS", ("agglomerative",))
    found = compare_clusterings(noise_only(), **SETTINGS | {"distance_bins": 64})
    assert sorted(found.table["distance_bins"].unique()) == [4, 8, 16, 32, 64]
    assert set(found.table.loc[found.table["gap"].notna(), "distance_bins"]) == {64}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_few_heads_are_divided_as_far_as_they_go(count):
    found = compare_clusterings(noise_only(count), **SETTINGS | FEW)
    assert found.table["k"].max() == count - 1 if count > 2 else found.table.empty
    here = found.table[(found.table["distance_bins"] == 16) & (found.table["k"] > 1)]
    # Models of half of the heads need as many of them as clusters.
    assert here.loc[here["k"] > count // 2, list(STABILITY)].isna().all(axis=None)
    by_heads = [column for column in STABILITY if not column.startswith("pairs")]
    assert here.loc[here["k"] <= count // 2, by_heads].notna().all(axis=None)
    assert here["gap"].notna().all()
    assert len(found.best) == (4 if count > 2 else 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [1, 4])
def test_equal_heads_count_once(count):
    distance = np.repeat(noise_only(count), 6, axis=1)
    found = compare_clusterings(distance, **SETTINGS | FEW)
    assert set(found.table["k"]) == (set() if count == 1 else {1, 2, 3})


@pytest.mark.parametrize("method", METHODS)
def test_as_many_clusters_as_heads_are_the_heads(method):
    features = heads(FOUR, noise=0.1, seed=0)[0][:6]
    found = cluster_heads(features, method=method, k=6, scale=False, restarts=2, seed=0)
    assert sorted(found.labels) == list(range(6))


def test_a_method_that_fails_leaves_its_figures_out(monkeypatch):
    def failing(points, **settings):
        if settings["method"] == "gmm" and settings["k"] == 3:
            raise IndivisibleError("left a cluster without a head")
        return cluster_heads(points, **settings)

    monkeypatch.setattr(choice, "METHODS", ("gmm", "agglomerative"))
    monkeypatch.setattr(choice, "cluster_heads", failing)
    found = compare_clusterings(noise_only(10), **SETTINGS | FEW)
    failed = (found.table["method"] == "gmm") & (found.table["k"] == 3)
    assert failed.sum() == 4
    assert found.table.loc[failed, list(choice.TABLE[3:])].isna().all(axis=None)
    assert found.table.loc[~failed & (found.table["k"] > 1), "silhouette"].notna().all()
    assert "gmm" not in set(found.agreement.loc[found.agreement["k"] == 3, "method"])


def test_broken_features_are_an_error():
    distance = noise_only()
    distance[2, 3, 4] = np.nan
    with pytest.raises(InputError, match="of 1 of 24 heads hold NaN"):
        compare_clusterings(distance, **SETTINGS)


def test_one_sample_is_an_error(two_methods):
    with pytest.raises(InputError, match="at least 2 samples"):
        compare_clusterings(noise_only(samples=1), **SETTINGS | FEW)


def test_k_means_is_measured_over_pairs_with_the_numbers_that_the_paper_calls_stable(monkeypatch):
    monkeypatch.setattr(choice, "METHODS", ("kmeans",))
    distance = noise_only(30)
    found = compare_clusterings(distance, **SETTINGS | {"restarts": 6})
    by_sample = head_features(distance, 16)
    features = by_sample.mean(axis=0, dtype=float)
    table = found.table[found.table["distance_bins"] == 16].set_index("k")
    for k in PAIR_COUNTS:
        seed = derive_seed(5, "clusters", "kmeans", k, 16)
        labels = cluster_heads(features, method="kmeans", k=k, scale=False, restarts=6, seed=seed).labels
        halves = {"method": "kmeans", "k": k, "scale": False, "restarts": 3, "models": 3, "seed": 5}
        expected = measure_stability(by_sample, labels, **halves)["pairs"]
        assert table.loc[k, ["pairs_all_agree", "pairs_pairwise"]].tolist() == pytest.approx(
            [expected["all_agree"], expected["pairwise"]]
        )
