"""How many types there are: planted clusters are what every criterion chooses, and each value is its definition."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.special import softmax
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from headtypes.analyses.types import stability
from headtypes.analyses.types.clustering import IndivisibleError, cluster_heads
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.analyses.types.stability import (
    COLUMNS,
    COUNTS,
    GAP_FREEDOM,
    PAIR_COUNTS,
    chosen_numbers,
    compare_numbers,
    draw_references,
    gap_beyond_one,
    gap_choice,
    gap_statistic,
    log_within,
    measure_stability,
)
from headtypes.core.seeds import derive_seed
from headtypes.papers.quantities import Measured
from tests.support.planted import heads, samples_of

SETTINGS = {"method": "kmeans", "k": 4, "scale": False, "restarts": 20, "models": 3, "seed": 5, "references": 6}
FEW = {"restarts": 2, "models": 2, "references": 2}
FOUR = {"dense": 14, "diagonal": 12, "dense_vertical": 16, "vertical": 12}
HALVED = [name for name in COLUMNS if name.endswith(("all_agree", "pairwise"))]


def noise_only(heads_: int = 24) -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(21), size=(5, heads_)).astype(np.float32)


@pytest.mark.parametrize("method", METHODS)
def test_every_criterion_chooses_the_planted_number(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planted = samples_of(heads(FOUR, noise=0.02, seed=3)[0], 6, noise=0.05, seed=1)
        table, mixtures = compare_numbers(planted, **SETTINGS | {"method": method})
    chosen = chosen_numbers(table)
    assert chosen["silhouette"] == chosen["heads"] == chosen["samples"] == 4
    assert table["k"].tolist() == list(COUNTS)
    by_k = table.set_index("k")
    assert by_k["gap"].idxmax() == 4
    assert by_k.loc[4, "silhouette"] > 0.8
    assert by_k.loc[4, "smallest"] == 12
    # With other methods two clusters of the four may be worse than none, where the rule ends.
    assert method != "agglomerative" or chosen["gap"] == 4
    assert mixtures == (dict.fromkeys(MIXTURES.values(), 1) if method in ("kmeans", "gmm") else {})


def test_values_are_their_definitions():
    by_sample = noise_only(30)
    settings = {"method": "agglomerative", "scale": True}  # Without a seed.
    table = compare_numbers(by_sample, **SETTINGS | settings)[0].set_index("k")
    features = by_sample.mean(axis=0, dtype=float)
    points, *references = (
        (each - features.mean(axis=0)) / features.std(axis=0)
        for each in (features, *draw_references(features, 6, seed=5))
    )
    one = np.array([naive_log_within(each, np.zeros(30)) for each in references])
    for k in COUNTS[1:]:
        mine = fcluster(linkage(points, "ward"), k, "maxclust") - 1
        sizes, row = np.bincount(mine), table.loc[k]
        assert row["smallest"] == sizes.min()
        assert row["silhouette"] == pytest.approx(silhouette_score(points, mine), abs=1e-6)
        assert row["chance"] == pytest.approx(100 * sum(sizes * sizes) / 900)
        logs = [naive_log_within(each, fcluster(linkage(each, "ward"), k, "maxclust")) for each in references]
        assert row["gap"] == pytest.approx(np.mean(logs) - naive_log_within(points, mine), rel=1e-5)
        beyond = np.mean(logs - one) - naive_log_within(points, mine) + naive_log_within(points, np.zeros(30))
        assert row["gap_beyond_one"] == pytest.approx(beyond, abs=1e-5)
        assert row["gap_beyond_one_error"] == pytest.approx(np.std(logs - one) * np.sqrt(7 / 6), rel=1e-5)
        labels = cluster_heads(features, k=k, seed=0, restarts=1, **settings).labels
        expected = measure_stability(by_sample, labels, k=k, models=3, seed=5, restarts=1, **settings)
        values = [expected[half][name] for half in ("heads", "samples") for name in ("all_agree", "pairwise")]
        np.testing.assert_allclose(row[HALVED].astype(float), [*values, np.nan, np.nan])
    gaps = [name for name in COLUMNS if name.startswith("gap")]
    assert table.loc[1].drop(gaps).isna().all()
    assert table.loc[1, gaps].notna().all()
    assert table.loc[1, "gap_beyond_one"] == 0


# Gap statistic


def naive_log_within(points, labels):
    """Log of the sum over clusters of all distances within, squared, over twice the size."""
    total = 0.0
    for label in set(labels):
        mine = points[labels == label]
        total += sum(((a - b) ** 2).sum() for a in mine for b in mine) / (2 * len(mine))
    return np.log(total)


def log_ratios(shares):
    return np.log(shares) - np.log(shares).mean(axis=1, keepdims=True)


def test_references_have_the_mean_and_covariance_of_the_logarithms():
    rng = np.random.default_rng(2)
    # Oblong, turned, near a corner, and in fewer dimensions than columns.
    points = softmax(rng.normal(size=(4000, 3)) * (2, 1, 0.2) @ rng.normal(size=(3, 5)) + [3, 0, 0, 1, -4], axis=1)
    references = list(draw_references(0.5 * points, 3, seed=3))
    assert len({each.tobytes() for each in references}) == 3
    for each in references:
        np.testing.assert_allclose(each.sum(axis=1), 0.5)
        drawn, expected = log_ratios(each), log_ratios(points)
        np.testing.assert_allclose(drawn.mean(axis=0), expected.mean(axis=0), atol=0.3)
        np.testing.assert_allclose(np.cov(drawn.T), np.cov(expected.T), rtol=0.1, atol=0.3)


def test_a_share_that_is_0_is_taken_for_half_of_the_smallest():
    points = np.array([[0.2, 0.8, 0.0], [0.5, 0.4, 0.1], [0.1, 0.9, 0.0], [0.3, 0.6, 0.1]])
    drawn = np.concatenate(list(draw_references(points, 500, seed=1)))
    expected = log_ratios(np.maximum(points, 0.05))
    np.testing.assert_allclose(log_ratios(drawn).mean(axis=0), expected.mean(axis=0), atol=0.1)


def cloud(kind: str, seed: int) -> np.ndarray:
    """72 points of shares in 8 columns: one cloud of some kind, or four groups."""
    rng = np.random.default_rng(seed)
    middle = rng.normal(size=8)
    match kind:
        case "round":
            return softmax(middle + rng.normal(size=(72, 8)), axis=1)
        case "oblong":
            flat = rng.normal(size=(72, 2)) @ rng.normal(size=(2, 8))
            return softmax(middle + flat + 0.2 * rng.normal(size=(72, 8)), axis=1)
        case "normal":
            shares = np.maximum(1 / 8 + 0.03 * rng.normal(size=(72, 8)) * np.linspace(1.5, 0.1, 8), 1e-4)
            return shares / shares.sum(axis=1, keepdims=True)
    groups = np.repeat(rng.normal(size=(4, 8)), 18, axis=0)
    return softmax(middle + groups + 0.3 * rng.normal(size=(72, 8)), axis=1)


def told(kind: str, seed: int) -> int:
    """1 where four clusters are tighter than those of one cloud, by the whole interval, -1 where looser, else 0."""
    points = cloud(kind, seed)
    references, settings = list(draw_references(points, 20, seed)), {"method": "kmeans", "restarts": 2, "seed": seed}
    with threadpool_limits(1):
        four, one = (log_within(points, references, k=k, **settings) for k in (4, 1))
    gap = Measured.with_error(*gap_statistic(four[0] - one[0], four[1] - one[1]), GAP_FREEDOM)
    return (gap.low > 0) - (gap.high < 0)


@pytest.mark.parametrize("kind", ["round", "oblong", "normal"])
def test_a_single_cloud_is_hardly_ever_taken_for_clusters(kind):
    """Two of 40 are 5 %; of as many by chance, more than five are seen once in a hundred times."""
    assert sum(told(kind, seed) > 0 for seed in range(40)) <= 5


def test_groups_are_told_from_a_single_cloud_and_hardly_ever_denied():
    found = [told("groups", seed) for seed in range(20)]
    assert sum(each > 0 for each in found) >= 16
    assert sum(each < 0 for each in found) <= 1


def test_points_that_are_their_own_reference_have_no_gap():
    """Though every fit ends elsewhere: of one fit the gap would be as large as the standard error."""
    points = np.random.default_rng(3).dirichlet(np.ones(21), size=40)
    settings = {"method": "kmeans", "k": 5, "restarts": 1}
    found = [gap_statistic(*log_within(points, [points] * 20, seed=seed, **settings)) for seed in range(8)]
    assert np.sqrt(np.mean([(gap / error) ** 2 for gap, error in found])) < 0.7


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


# What is chosen


def rows(**columns):
    blank = dict.fromkeys(COLUMNS, np.nan)
    return pd.DataFrame([blank | {"k": k} for k in (2, 3, 4)]).assign(**columns)


def test_stability_is_freed_of_chance_and_of_equal_ones_the_largest_number_is_best():
    pairwise = {"heads_pairwise": [80.0, 75.0, 70.0], "samples_pairwise": [100.0, 100.0, 99.0]}
    # Of what chance leaves, 20 of 40, 35 of 60, 50 of 80.
    chosen = chosen_numbers(rows(**pairwise, chance=[60.0, 40.0, 20.0]))
    assert (chosen["heads"], chosen["samples"]) == (4, 3)


def test_a_gap_beyond_one_is_that_of_the_number_asked_for():
    gaps = [0.0, 0.4, 0.6, 0.3, 0.7, 0.7, 0.7, np.nan]
    numbers = pd.DataFrame({"k": range(1, 9), "gap_beyond_one": gaps, "gap_beyond_one_error": 0.03})
    assert gap_beyond_one(numbers, 4) == (0.3, 0.03)
    assert gap_beyond_one(numbers, 8) is None
    assert gap_beyond_one(numbers, 9) is None


@pytest.mark.parametrize("method", ["kmeans", "gmm"])
def test_equal_seeds_give_equal_values(method):
    by_sample, settings = noise_only(), SETTINGS | FEW | {"method": method}
    one, same, other = (compare_numbers(by_sample, **settings | {"seed": seed}) for seed in (1, 1, 2))
    with threadpool_limits(2):
        threads = compare_numbers(by_sample, **settings | {"seed": 1})
    for again in (same, threads):
        pd.testing.assert_frame_equal(one[0], again[0], check_exact=True)
        assert one[1] == again[1]
    assert not one[0].equals(other[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [2, 3, 6])
def test_few_heads_are_divided_as_far_as_they_go(count):
    table, _ = compare_numbers(noise_only(count), **SETTINGS | FEW)
    assert table["k"].max() == count - 1
    more = table[table["k"] > 1]
    # Models of half of the heads need as many of them as clusters.
    assert more.loc[more["k"] > count // 2, HALVED].isna().all(axis=None)
    assert more.loc[more["k"] <= count // 2, HALVED[:4]].notna().all(axis=None)
    assert table["gap"].notna().all()


@pytest.mark.filterwarnings("error")
def test_equal_heads_count_once():
    table, _ = compare_numbers(np.repeat(noise_only(4), 6, axis=1), **SETTINGS | FEW)
    assert table["k"].tolist() == [1, 2, 3]


def test_a_method_that_fails_leaves_its_values_out(monkeypatch):
    def failing(points, **settings):
        if (settings["method"], settings["k"]) in (("gmm", 3), ("gmm-full", 4)):
            raise IndivisibleError("left a cluster without a head")
        return cluster_heads(points, **settings)

    monkeypatch.setattr(stability, "cluster_heads", failing)
    table, mixtures = compare_numbers(noise_only(10), **SETTINGS | FEW | {"method": "gmm"})
    by_k = table.set_index("k")
    assert by_k.loc[3].isna().all()
    assert by_k.drop(index=[1, 3])["silhouette"].notna().all()
    assert set(mixtures) == {"diag", "spherical", "tied"}


def test_k_means_is_measured_over_pairs_with_the_numbers_that_the_paper_calls_stable():
    by_sample = noise_only(30)
    table = compare_numbers(by_sample, **SETTINGS | {"restarts": 6})[0].set_index("k")
    features, paired = by_sample.mean(axis=0, dtype=float), ["pairs_all_agree", "pairs_pairwise"]
    for k in PAIR_COUNTS:
        seed = derive_seed(5, "clusters", "kmeans", k, 16)
        labels = cluster_heads(features, method="kmeans", k=k, scale=False, restarts=6, seed=seed).labels
        halves = {"method": "kmeans", "k": k, "scale": False, "restarts": 3, "models": 3, "seed": 5}
        expected = measure_stability(by_sample, labels, **halves)["pairs"]
        assert table.loc[k, paired].tolist() == pytest.approx([expected["all_agree"], expected["pairwise"]])
    assert table.drop(index=[*PAIR_COUNTS])[paired].isna().all(axis=None)
