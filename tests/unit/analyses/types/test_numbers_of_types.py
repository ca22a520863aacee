"""How many types there are: planted clusters are what every criterion chooses, and each value is its definition."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from headtypes.analyses.types import stability
from headtypes.analyses.types.clustering import IndivisibleError, cluster_heads
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.analyses.types.stability import (
    COLUMNS,
    COUNTS,
    PAIR_COUNTS,
    chosen_numbers,
    compare_numbers,
    measure_stability,
)
from headtypes.core.seeds import derive_seed
from tests.support.planted import heads, samples_of

SETTINGS = {"method": "kmeans", "k": 4, "scale": False, "restarts": 20, "models": 3, "seed": 5}
FEW = {"restarts": 2, "models": 2}
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
    assert by_k.loc[4, "silhouette"] > 0.8
    assert by_k.loc[4, "smallest"] == 12
    assert mixtures == (dict.fromkeys(MIXTURES.values(), 1) if method in ("kmeans", "gmm") else {})


def test_values_are_their_definitions():
    by_sample = noise_only(30)
    settings = {"method": "agglomerative", "scale": True}  # Without a seed.
    table = compare_numbers(by_sample, **SETTINGS | settings)[0].set_index("k")
    features = by_sample.mean(axis=0, dtype=float)
    points = (features - features.mean(axis=0)) / features.std(axis=0)
    for k in COUNTS:
        mine = fcluster(linkage(points, "ward"), k, "maxclust") - 1
        sizes, row = np.bincount(mine), table.loc[k]
        assert row["smallest"] == sizes.min()
        assert row["silhouette"] == pytest.approx(silhouette_score(points, mine), abs=1e-6)
        assert row["chance"] == pytest.approx(100 * sum(sizes * sizes) / 900)
        labels = cluster_heads(features, k=k, seed=0, restarts=1, **settings).labels
        expected = measure_stability(by_sample, labels, k=k, models=3, seed=5, restarts=1, **settings)
        values = [expected[half][name] for half in ("heads", "samples") for name in ("all_agree", "pairwise")]
        np.testing.assert_allclose(row[HALVED].astype(float), [*values, np.nan, np.nan])


# What is chosen


def rows(**columns):
    blank = dict.fromkeys(COLUMNS, np.nan)
    return pd.DataFrame([blank | {"k": k} for k in (2, 3, 4)]).assign(**columns)


def test_stability_is_freed_of_chance_and_of_equal_ones_the_largest_number_is_best():
    pairwise = {"heads_pairwise": [80.0, 75.0, 70.0], "samples_pairwise": [100.0, 100.0, 99.0]}
    # Of what chance leaves, 20 of 40, 35 of 60, 50 of 80.
    chosen = chosen_numbers(rows(**pairwise, chance=[60.0, 40.0, 20.0]))
    assert (chosen["heads"], chosen["samples"]) == (4, 3)


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
    assert table["k"].tolist() == list(range(2, count))
    more = table
    # Models of half of the heads need as many of them as clusters.
    assert more.loc[more["k"] > count // 2, HALVED].isna().all(axis=None)
    assert more.loc[more["k"] <= count // 2, HALVED[:4]].notna().all(axis=None)


@pytest.mark.filterwarnings("error")
def test_equal_heads_count_once():
    table, _ = compare_numbers(np.repeat(noise_only(4), 6, axis=1), **SETTINGS | FEW)
    assert table["k"].tolist() == [2, 3]


def test_a_method_that_fails_leaves_its_values_out(monkeypatch):
    def failing(points, **settings):
        if (settings["method"], settings["k"]) in (("gmm", 3), ("gmm-full", 4)):
            raise IndivisibleError("left a cluster without a head")
        return cluster_heads(points, **settings)

    monkeypatch.setattr(stability, "cluster_heads", failing)
    table, mixtures = compare_numbers(noise_only(10), **SETTINGS | FEW | {"method": "gmm"})
    by_k = table.set_index("k")
    assert by_k.loc[3].isna().all()
    assert by_k.drop(index=3)["silhouette"].notna().all()
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
