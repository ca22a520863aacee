"""Stability and the number of types: sure clusters are stable, planted ones chosen, and values those of naive loops.

In the figure, types are told apart by every reader, and are paler where clusterings disagree.
"""

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from headtypes.analyses.types import stability
from headtypes.analyses.types.clustering import IndivisibleError, cluster_heads
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.analyses.types.stability import (
    COLUMNS,
    COUNTS,
    PAIR_COUNTS,
    PAIR_METHODS,
    chosen_numbers,
    compare_numbers,
    match_labels,
    measure_stability,
    own_cluster_share,
    stability_figure,
)
from headtypes.analyses.types.style import type_labels, type_styles
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed
from headtypes.core.style import PAGE, PAGE_HEIGHT, PALETTE
from tests.support.drawing import DEFICIENCIES, check_lettering, colour, lab, planted
from tests.support.planted import TYPES, heads, naive_match, samples_of, typed

pytestmark = pytest.mark.filterwarnings("ignore:Graph is not fully connected")

HEADS_OF = {"dense": 10, "diagonal": 12, "dense_vertical": 10, "vertical": 12}
CLUSTERING = {"method": "kmeans", "k": 4, "scale": False, "restarts": 10}


def full_fit(by_sample, **settings):
    return cluster_heads(by_sample.mean(axis=0, dtype=float), seed=0, **CLUSTERING | settings).labels


@pytest.mark.parametrize("method", METHODS)
def test_well_separated_clusters_are_stable(method):
    by_sample = samples_of(heads(HEADS_OF, noise=0.01, seed=1)[0], 30, noise=0.05, seed=2)
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
    by_sample = samples_of(heads(HEADS_OF, noise=0.3, seed=5)[0], samples, noise=noise, seed=6)
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
    features, names = heads(HEADS_OF, noise=0.01, seed=1)
    by_sample = np.repeat(features[None], 40, axis=0)
    sep = 18
    of = {name: np.flatnonzero(names == name) for name in HEADS_OF}
    by_sample[:, of["vertical"]] = 0
    by_sample[:, of["vertical"], sep], by_sample[:, of["vertical"], 16] = 0.56, 0.44
    by_sample[:, of["dense_vertical"]] = 0
    by_sample[:, of["dense_vertical"], sep], by_sample[:, of["dense_vertical"], 5] = 0.55, 0.45

    def doubts(by_sample):
        mean = by_sample.mean(axis=0, dtype=float)
        clustering = cluster_heads(mean, seed=0, **CLUSTERING)
        stability = measure_stability(by_sample, clustering.labels, models=6, seed=3, pairs=False, **CLUSTERING)
        judged = clustering.named_again(stability["profiles"]).naming
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
    by_sample = samples_of(heads(HEADS_OF, noise=0.1, seed=5)[0], 1, noise=0, seed=6)
    with pytest.raises(InputError, match="at least 2 samples, and there are 1"):
        measure_stability(by_sample, full_fit(by_sample), models=2, seed=0, **CLUSTERING)


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


def drawn(layers: int = 2, heads: int = 3, percent: float = 100.0, **chosen) -> Figure:
    partition = typed([["dense" if head % 2 else "vertical" for head in range(heads)]] * layers)
    numbers = pd.DataFrame({name: np.arange(7.0) + 10 * place for place, name in enumerate(COLUMNS)})
    numbers["k"] = COUNTS
    numbers.loc[0, [name for name in COLUMNS if name != "k"]] = np.nan
    by_head = {half: np.full(layers * heads, 100.0) for half in ("heads", "samples")}
    by_head["heads"][:1] = percent
    stability = {half: {"by_head": values.tolist()} for half, values in by_head.items()}
    criteria = {"silhouette": 5, "heads": 3, "samples": None} | chosen
    return stability_figure(
        {**stability, "gaps": {"position": np.arange(layers * heads)}, "chosen": criteria}, numbers, partition
    )


def test_a_ring_is_at_what_a_criterion_chooses():
    silhouettes, _, halves, *_ = drawn().axes
    rings = [[line.get_xydata().tolist() for line in axes.lines if line.get_markersize() == 7] for axes in
             (silhouettes, halves)]  # fmt: skip
    columns = {name: 10 * place for place, name in enumerate(COLUMNS)}
    assert rings == [
        [[[5, columns["silhouette"] + 3]]],
        [[[3, columns["heads_pairwise"] + 1]]],
    ]


def test_a_head_is_the_paler_the_fewer_clusterings_give_it_its_type():
    *_, heads, samples = drawn(percent=20).axes
    full = [to_rgb(type_styles([name])[name].colour) for name in ["vertical", "dense", "vertical"] * 2]
    np.testing.assert_allclose(np.asarray(samples.images[0].get_array()).reshape(-1, 3), full, atol=0.01)
    shades = np.asarray(heads.images[0].get_array()).reshape(-1, 3)
    np.testing.assert_allclose(shades[1:], full[1:], atol=0.01)
    assert (shades[0] > full[0]).all()
    # Heads and layers from 1.
    assert [(text.get_position(), text.get_text()) for text in heads.texts] == [((1, 1), "20")]
    assert not samples.texts


@pytest.mark.parametrize(("layers", "heads"), [(1, 2), (6, 12), (24, 16), (48, 25)])
def test_lettering_lies_apart_and_inside(layers, heads):
    figure = drawn(layers, heads)
    assert figure.get_figwidth() == PAGE
    assert figure.get_figheight() <= PAGE_HEIGHT
    check_lettering(figure)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_of_types_stay_apart_for_colour_blind_readers(deficiency):
    def closest(colours):
        pairs = itertools.combinations([lab(each, deficiency) for each in colours], 2)
        return min(np.linalg.norm(one - other) for one, other in pairs)

    assert closest([colour(name) for name in TYPES]) > 20
    assert closest(PALETTE) > 14


def test_a_type_has_one_style_whatever_stands_beside_it():
    alone = {name: type_styles([name])[name] for name in (*TYPES, "type-1", "type-2", "type-9")}
    assert type_styles(TYPES) == {name: alone[name] for name in TYPES}
    many = type_styles([f"type-{number}" for number in range(1, 22)])
    assert many["type-9"] == alone["type-9"]
    assert len({(each.colour, each.hatch) for each in many.values()}) == 21
    assert len({(each.colour, each.marker) for each in many.values()}) == 21
    assert len(set(type_styles(["a", "b", "c"]).values())) == 3


def test_the_types_are_told_without_colours():
    """Printed in grey, neighbours differ by 1.3 to 1."""
    styles = type_styles(TYPES).values()
    assert [len({getattr(each, sign) for each in styles}) for sign in ("marker", "hatch", "dashes")] == [4, 4, 4]


def test_labels_mark_doubtful_types():
    assert type_labels(planted(doubtful=("dense", "vertical"))[1]) == {
        "dense": "dense (doubtful)",
        "diagonal": "diagonal",
        "dense_vertical": "dense_vertical",
        "vertical": "vertical (doubtful)",
    }
