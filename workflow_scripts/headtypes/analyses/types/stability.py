"""Stability of the types of heads over halves of heads, samples or pairs, the number of types, and a figure of both."""

import warnings
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin

from headtypes.analyses.distances.features import SELF_AND_SPECIAL, read_distance, read_head_features
from headtypes.analyses.types.clustering import (
    Clustering,
    IndivisibleError,
    cluster_groups,
    cluster_heads,
    fit_and_predict,
    one_thread,
    partition_of,
)
from headtypes.analyses.types.gaps import head_gaps
from headtypes.analyses.types.names import MIXTURES
from headtypes.analyses.types.partitions import Partition, write_partition
from headtypes.analyses.types.style import type_labels, type_patches, type_styles
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed, write_json
from headtypes.core.progress import warn
from headtypes.core.style import (
    PAGE,
    PAGE_HEIGHT,
    PALETTE,
    SMALL,
    layer_ticks,
    legend_height,
    legend_key,
    save_figure,
    styled,
)
from headtypes.core.table_files import write_csv

# What is halved.
HALVES = ("heads", "samples", "pairs")
# The methods that are fitted to pairs. The others compare every two points, of which there may be half a million.
PAIR_METHODS = ("kmeans", "gmm")

# Clusterings of each kind of half, as in the paper.
MODELS = 10
# Samples converted to float64 at once: some 4 MB at BERT-large's 384 heads and 21 columns.
_BLOCK = 64

COUNTS = tuple(range(2, 9))
# Numbers of clusters whose stability is also measured over halves of pairs, by k-means: those that Guan et al. 2020,
# section 4, call stable beside their own. Each takes as long as all the rest of a table.
PAIR_COUNTS = (3, 5)
_SHOWN = ("all_agree", "pairwise")
COLUMNS = ("k", "smallest", "silhouette", *(f"{half}_{name}" for half in HALVES for name in _SHOWN), "chance")

# The configured restarts are divided by these, for k-means and for the other methods: there are hundreds of fits to
# halves. A mixture starts from k-means, and spectral clustering has few columns, so that few restarts do
# not change their stability. The stability of k-means does change: over halves of samples, pairwise, with k = 6, in
# three real models of 72 heads, it was 4 to 10 points too low with five restarts and at most 2 with twenty.
_DIVISORS = {"clusters": (1, 5), "halves": (2, 25)}


def measure_types(
    features_by_sample: np.ndarray, labels: np.ndarray, *, seed: int, numbers_seed: int, **settings: Any
) -> tuple[dict, pd.DataFrame]:
    """Return (stability, numbers): how stable the types of heads are, and criteria of how many types there are.

    features_by_sample: [sample, head, column] distance features. labels: [head] int, 0..k-1, the cluster of each head.
    seed: seed of the draws and fits of `measure_stability`. numbers_seed: seed of the draws and fits of
        `compare_numbers`, the same for all partitions of the same features. settings: method, k, scale and restarts, as
        in `compare_numbers`.
    stability: the dictionary of `measure_stability`, with the further keys own_cluster (`own_cluster_share`), gaps
        (`gaps.head_gaps`), chosen (`chosen_numbers`) and mixtures (the second result of `compare_numbers`).
    numbers: the table of `compare_numbers`.
    """
    stability = measure_stability(features_by_sample, labels, seed=seed, **settings)
    numbers, mixtures = compare_numbers(features_by_sample, seed=numbers_seed, **settings)
    features = features_by_sample.mean(axis=0, dtype=float)
    return {
        **stability,
        "own_cluster": own_cluster_share(features_by_sample, labels),
        "gaps": head_gaps(features, derive_seed(numbers_seed, "gaps")),
        "chosen": chosen_numbers(numbers),
        "mixtures": mixtures,
    }, numbers


def compare_numbers(
    features_by_sample: np.ndarray,
    *,
    method: str,
    k: int,
    scale: bool,
    restarts: int,
    models: int = MODELS,
    seed: int,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return (table, rands): criteria of 2 to 8 clusters of heads, and how far mixtures agree with k-means.

    features_by_sample: [sample, head, column] distance features.
    method: of clustering, such as `kmeans`. k: number of clusters of the mixtures. scale: whether features are scaled
        to zero mean and unit variance; silhouettes are then those of the scaled features.
    restarts: of k-means on all heads; other methods have a fifth, and fits to halves a half (k-means) or a 25th.
    models: clusterings of each kind of half, at least 2. seed: every draw and fit has a seed derived from this one.

    table: a row for each number of clusters up to 8 that is below the number of different heads, with the columns
        `COLUMNS`. k: the number of clusters. smallest: the number of heads in the smallest cluster. silhouette: the
        mean over heads. chance: the percentage of heads to which two models would give the same cluster if each gave
        every head a random cluster, with the clusters' sizes as probabilities. All further columns are values of
        `measure_stability`; all rows are measured on the same halves. Halves of pairs are measured for k-means with 3
        and 5 clusters alone, since fits to that many points take long. Values are NaN if the method cannot divide the
        heads, or halves of them, into k clusters.
    rands: {covariance of the mixture: adjusted Rand index of k clusters by k-means and k clusters by a Gaussian
        mixture}. The index (Hubert and Arabie 1985) is 1 for the same clusters, about 0 for unrelated ones. Empty for
        methods other than k-means and mixtures.
    """
    features = features_by_sample.mean(axis=0, dtype=np.float64)
    bins, most = features.shape[1] - len(SELF_AND_SPECIAL), len(np.unique(features, axis=0)) - 1

    @cache
    def clustering(method: str, k: int) -> Clustering | None:
        part, fit_seed = _restarts("clusters", method, restarts), derive_seed(seed, "clusters", method, k, bins)
        try:
            return cluster_heads(features, method=method, k=k, scale=scale, restarts=part, seed=fit_seed)
        except IndivisibleError:
            return None

    def row(k: int) -> dict[str, float]:
        if (clustered := clustering(method, k)) is None:
            return {}
        settings = {"scale": scale, "restarts": _restarts("halves", method, restarts), "models": models, "seed": seed}
        stability = _stability(features_by_sample, clustered.labels, method=method, k=k, **settings)
        sizes = np.bincount(clustered.labels)
        return {
            "smallest": sizes.min(),
            "silhouette": clustered.silhouette.mean(),
            "chance": 100 * float(((sizes / sizes.sum()) ** 2).sum()),
            **stability,
        }

    with one_thread(), warnings.catch_warnings():
        # Graphs in several parts and fits that did not converge: their effect on the result is what is measured here.
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = [{"k": count} | row(count) for count in COUNTS if count <= most]
        compared = MIXTURES if method in PAIR_METHODS and clustering("kmeans", k) else {}
        mixtures = {kind: mixture.labels for name, kind in compared.items() if (mixture := clustering(name, k))}
    rands = {kind: float(adjusted_rand_score(clustering("kmeans", k).labels, own)) for kind, own in mixtures.items()}
    return pd.DataFrame(rows, columns=list(COLUMNS)), rands


def chosen_numbers(table: pd.DataFrame) -> dict[str, int | None]:
    """Return {criterion: number of clusters that the criterion chooses}; None if all values of a criterion are missing.

    table: criteria by number of clusters, as `compare_numbers` returns it.
    The criterion silhouette chooses the largest silhouette. The criteria heads and samples choose the largest kappa
    over halves of heads and of samples. Kappa is the pairwise agreement corrected for chance (Cohen 1960); uncorrected
    agreement rises as clusters get fewer. Among equal values the largest number of clusters is chosen.
    """
    by_k = table.set_index("k").sort_index(ascending=False)
    beyond_chance = by_k[["heads_pairwise", "samples_pairwise"]].sub(by_k["chance"], axis=0)
    kappa = beyond_chance.div(100 - by_k["chance"], axis=0)
    criteria = {"silhouette": by_k["silhouette"]} | {half: kappa[f"{half}_pairwise"] for half in ("heads", "samples")}
    return {name: int(known.idxmax()) if len(known := values.dropna()) else None for name, values in criteria.items()}


def _stability(features_by_sample: np.ndarray, labels: np.ndarray, *, method: str, k: int, **fits) -> dict[str, float]:
    pairs = method == "kmeans" and k in PAIR_COUNTS
    try:
        stability = measure_stability(features_by_sample, labels, method=method, k=k, pairs=pairs, **fits)
    except IndivisibleError:  # Half of the heads are too few.
        return {}
    return {f"{half}_{name}": stability[half][name] for half in HALVES if stability[half] for name in _SHOWN}


def _restarts(purpose: str, method: str, restarts: int) -> int:
    return max(1, restarts // _DIVISORS[purpose][method != "kmeans"])


def measure_stability(
    features_by_sample: np.ndarray,
    labels: np.ndarray,
    *,
    models: int = MODELS,
    seed: int,
    method: str,
    k: int,
    pairs: bool = True,
    **settings: Any,
) -> dict:
    """Return how far clusterings of halves of heads, samples and pairs agree with the full one (von Luxburg 2010).

    features_by_sample: [sample, head, column] distance features; read in blocks of samples. k: number of clusters.
    labels: [head] int, 0..k-1, the clusters of the full fit. models: clusterings of each kind of half, at least 2.
    seed: every half and every fit has its own seed, derived from this one. method: of clustering, such as `kmeans`.
    pairs: whether halves of the pairs of a head and a sample are clustered too, which takes far longer.
    settings: `scale` (whether features are scaled) and `restarts` (of each fit), as in `clustering.cluster_heads`.

    Returns {"models": models, "heads": {...}, "samples": {...}, "pairs": {...}, "profiles": ...}. Models of `heads` are
    fitted on half of the heads. Models of `samples` are fitted on the head features of half of the samples. Models of
    both kinds predict all heads from the features of all samples. Models of `pairs` are fitted on half of the pairs and
    predict all pairs; `pairs` is None if it is not asked for, and for methods other than k-means and Gaussian mixtures.
    Halves are rounded down. Clusters are matched to those of the full fit, which for pairs is a fit to all pairs. The
    values are percentages:
      all_agree: heads (or pairs) to which all models give the same cluster. Guan et al. 2020, section 4, report this
        "proportion of input samples", but not whether heads, samples or pairs of both are meant; hence all three;
      pairwise: heads (or pairs) to which two models give the same cluster, mean over all pairs of models;
      by_head: [head], models that give the head (or its pairs, on average) the cluster of the full fit.
    profiles: near, special and far (shares of attention) of each cluster, for each half of the samples
        (`cluster_halves`).
    Raises `InputError` for fewer than two samples, and if half of the heads are too few for k clusters.
    """
    settings |= {"method": method, "k": k}
    features, heads = features_by_sample.mean(axis=0, dtype=float), features_by_sample.shape[1]
    by_samples, profiles = cluster_halves(features_by_sample, labels, models=models, seed=seed, **settings)
    by_heads = [
        _cluster(features[half], features, labels, derive_seed(seed, "heads", "fit", model), **settings)
        for model, half in enumerate(_draw_halves(heads, models, seed, "heads"))
    ]
    return {
        "models": models,
        "heads": agreement(np.stack(by_heads), labels),
        "samples": agreement(np.stack(by_samples), labels),
        "pairs": _pair_agreement(features_by_sample, models, seed, **settings) if pairs else None,
        "profiles": profiles,
    }


def cluster_halves(
    features_by_sample: np.ndarray, labels: np.ndarray, *, models: int = MODELS, seed: int, k: int, **settings: Any
) -> tuple[list[np.ndarray], list[dict[str, list[float]]]]:
    """Return (clusters, profiles) of heads clustered on random halves of the samples, an entry for each half.

    features_by_sample: [sample, head, column] distance features. labels: [head] int, 0..k-1, clusters of the full fit.
    models: the number of halves. seed: gives the seeds of halves and fits. k: number of clusters. settings: `method`,
        `scale` and `restarts`, as in `clustering.cluster_heads`.
    clusters: for each half the cluster of each head, [head] int, matched to `labels`. profiles: for each half {"near",
        "special", "far": the share of attention of each cluster in this half}.
    Raises `InputError` for fewer than two samples.
    """
    samples = len(features_by_sample)
    if samples < 2:
        raise InputError(f"Stability by samples needs at least 2 samples, and there are {samples}.")
    halves = _draw_halves(samples, models, seed, "samples")
    features, *half_features = _weighted_means(features_by_sample, np.vstack([np.ones(samples), halves]))
    clusters = [
        _cluster(half, features, labels, derive_seed(seed, "samples", "fit", model), k=k, **settings)
        for model, half in enumerate(half_features)
    ]
    groups = [cluster_groups(half, labels, k) for half, labels in zip(half_features, clusters, strict=True)]
    return clusters, [{name: shares.tolist() for name, shares in vars(group).items()} for group in groups]


def _cluster(train: np.ndarray, features: np.ndarray, labels: np.ndarray, seed: int, *, k: int, **settings: Any):
    return match_labels(fit_and_predict(train, features, k=k, seed=seed, **settings), labels, k)


def own_cluster_share(features_by_sample: np.ndarray, labels: np.ndarray) -> float:
    """Return the percentage of pairs of a head and a sample that are nearest to the mean of the head's own cluster.

    features_by_sample: [sample, head, column] distance features. labels: [head] int, 0..k-1, each head's cluster.
    """
    features = features_by_sample.mean(axis=0, dtype=float)
    centroids = np.stack([features[labels == cluster].mean(axis=0) for cluster in range(labels.max() + 1)])
    with one_thread():
        nearest = pairwise_distances_argmin(_pairs(features_by_sample), centroids)
    return 100 * float((nearest.reshape(-1, len(labels)) == labels).mean())


def match_labels(labels: np.ndarray, reference: np.ndarray, k: int) -> np.ndarray:
    """Return `labels`, [head] int, with clusters renamed one-to-one so that most heads have their `reference` cluster.

    labels, reference: [head] int, 0..k-1, the clusters of two clusterings. The matching is Kuhn's (1955).
    """
    together = np.zeros((k, k), dtype=int)
    np.add.at(together, (labels, reference), 1)
    _, renamed = linear_sum_assignment(together, maximize=True)
    return renamed[labels]


def agreement(predicted: np.ndarray, labels: np.ndarray) -> dict:
    """Return how far several clusterings of heads agree, in percent, with the keys all_agree, pairwise and by_head.

    predicted: [model, head] the cluster that each model gives each head. labels: [head] the clusters of the full fit.
    all_agree: the share of heads to which all models give the same cluster. pairwise: the share of heads to which two
        models give the same cluster, mean over pairs of models. by_head: for each head, the share of models that give
        it the cluster of the full fit.
    """
    pairs = [(one == other).mean() for one, other in combinations(predicted, 2)]
    return {
        "all_agree": 100 * float((predicted == predicted[0]).all(axis=0).mean()),
        "pairwise": 100 * float(np.mean(pairs)),
        "by_head": (100 * (predicted == labels).mean(axis=0)).tolist(),
    }


def _pair_agreement(
    features_by_sample: np.ndarray, models: int, seed: int, *, method: str, k: int, **settings: Any
) -> dict | None:
    if method not in PAIR_METHODS:
        return None
    heads = features_by_sample.shape[1]
    pairs = _pairs(features_by_sample)

    def predict(train: np.ndarray, *parts: str | int) -> np.ndarray:
        return fit_and_predict(train, pairs, method=method, k=k, seed=derive_seed(seed, "pairs", *parts), **settings)

    labels = predict(pairs, "full")
    halves = _draw_halves(len(pairs), models, seed, "pairs")
    fitted = (predict(pairs[half], "fit", model) for model, half in enumerate(halves))
    agreed = agreement(np.stack([match_labels(predicted, labels, k) for predicted in fitted]), labels)
    by_head = np.reshape(agreed["by_head"], (-1, heads)).mean(axis=0)
    return {**agreed, "by_head": by_head.tolist()}


def _pairs(features_by_sample: np.ndarray) -> np.ndarray:
    return features_by_sample.reshape(-1, features_by_sample.shape[-1]).astype(float)


def _draw_halves(items: int, models: int, seed: int, kind: str) -> np.ndarray:
    halves = np.zeros((models, items), dtype=bool)
    for model in range(models):
        rng = np.random.default_rng(derive_seed(seed, kind, "half", model))
        halves[model, rng.choice(items, size=items // 2, replace=False)] = True
    return halves


def _weighted_means(features_by_sample: np.ndarray, weights: np.ndarray) -> np.ndarray:
    samples, heads, columns = features_by_sample.shape
    sums = np.zeros((len(weights), heads * columns))
    with one_thread():
        for start in range(0, samples, _BLOCK):
            block = np.asarray(features_by_sample[start : start + _BLOCK], dtype=float)
            sums += weights[:, start : start + _BLOCK] @ block.reshape(len(block), -1)
    means = sums / weights.sum(axis=1, keepdims=True)
    return means.reshape(len(weights), heads, columns)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    read, stability_seeds = spec.pop("features"), spec.pop("stability")
    features, shape = read_head_features(inputs.features, **read)
    clustering, distance = cluster_heads(features, **spec), read_distance(inputs.features, **read)
    stability, numbers = measure_types(distance, clustering.labels, **{**spec, **stability_seeds})
    clustering = clustering.named_again(stability["profiles"])
    warn(provenance, filter(None, clustering.naming.doubts))
    write_json(outputs.naming, {**clustering.naming.as_dict(), "provenance": provenance})
    partition = partition_of(clustering, features, shape)
    write_partition(outputs.partition, partition)
    write_json(outputs.stability, {**stability, "provenance": provenance})
    write_csv(outputs.numbers, numbers)
    save_figure(stability_figure(stability, numbers, partition), outputs.pdf, outputs.png, provenance)


# Inches: of the panels above, of a layer at most, and around the tiles of a model.
_ABOVE, _LAYER, _AROUND = 2.3, 0.21, 0.55
# Heads of a layer that have room in half the width of a page.
_BESIDE = 16
_COLUMNS = 4
_COLOURS, _BY_CHANCE = {"heads": PALETTE[0], "samples": PALETTE[1]}, "0.87"
_RING = {"marker": "o", "ms": 7, "mfc": "none", "mec": "0.25", "mew": 0.8, "ls": "none"}


@styled
def stability_figure(stability: dict, numbers: pd.DataFrame, partition: Partition) -> Figure:
    """Draw criteria by number of clusters, all heads along a line, and a tile for each head; return the figure.

    stability, numbers: as `measure_types` returns them. partition: the types of the heads.
    The criteria are silhouette and stability. A ring marks the number of clusters that a criterion chooses, a dotted
    line the number of types of the partition. The line of heads is the one of `gaps.head_gaps`. A tile has the colour
    of the head's type; the fewer clusterings of halves give the head this type, the paler is the tile.
    """
    layers, heads = partition.shape
    labels = type_labels(partition)
    columns = 2 if heads <= _BESIDE else 1
    rows, legend = 2 // columns, legend_height(labels, _COLUMNS) + 0.1
    tall = min(layers * _LAYER, (PAGE_HEIGHT - _ABOVE - legend) / rows - _AROUND)
    below = legend + rows * (tall + _AROUND)
    figure = Figure(figsize=(PAGE, _ABOVE + below), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.05, h_pad=0.04)
    # In figures of their own, since the labels of the one would push the panels of the other.
    upper, lower = figure.subfigures(2, 1, height_ratios=(_ABOVE, below))
    silhouettes, line, halves = upper.subplots(1, 3)
    _draw_numbers(silhouettes, halves, stability["chosen"], numbers.set_index("k"), len(partition.types))
    upper.legend(handles=_keys(), loc="outside upper center", ncols=6, handlelength=1.6, columnspacing=1.5)
    colours = [to_rgb(type_styles(partition.types)[name].colour) for name in partition.type_of.reshape(-1)]
    _draw_line(line, stability["gaps"], colours)
    tiles = lower.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes, half in zip(tiles, _COLOURS, strict=True):
        percent = np.reshape(stability[half]["by_head"], partition.shape)
        _draw_tiles(axes, percent, np.reshape(colours, (layers, heads, 3)), min(PAGE / columns / heads, tall / layers))
        axes.set(title=f"clusterings of half of the {half} that give a head its type, %", xlabel="head", ylabel="layer")
        axes.title.set_fontsize(SMALL)
    # Tiles and points have colours alone.
    keys = type_patches(type_styles(partition.types), labels, hatched=False)
    lower.legend(handles=keys, loc="outside lower center", ncols=_COLUMNS)
    return figure


def _draw_line(axes: Axes, gaps: dict | None, colours: list) -> None:
    axes.set(title="heads along a line", xlabel="between two clusters", ylabel="percent of the heads")
    if gaps is not None:
        order = np.argsort(gaps["position"])
        percent = 100 * (1 + np.arange(len(order))) / len(order)
        axes.scatter(np.array(gaps["position"])[order], percent, s=5, c=np.array(colours)[order], lw=0)


def _draw_numbers(silhouettes: Axes, halves: Axes, chosen: dict[str, int | None], by_k: pd.DataFrame, k: int) -> None:
    silhouettes.plot(by_k["silhouette"].dropna(), "o-", color="0.25", ms=3, lw=1)
    silhouettes.set(title="silhouette", ylabel="mean over heads")
    chance = by_k["chance"].dropna()
    halves.fill_between(chance.index, chance, color=_BY_CHANCE, lw=0, zorder=0)
    for half, colour in _COLOURS.items():
        halves.plot(by_k[f"{half}_pairwise"].dropna(), "o-", color=colour, ms=3, lw=1)
        halves.plot(by_k[f"{half}_all_agree"].dropna(), "--", color=colour, lw=0.8)
    halves.set(title="stability", ylabel="heads of the same type, %", ylim=(0, 105))
    rings = {"silhouette": silhouettes, "heads": halves, "samples": halves}
    for name, axes in rings.items():
        if (best := chosen[name]) is not None:
            axes.plot(best, by_k.loc[best, name if axes is not halves else f"{name}_pairwise"], **_RING)
    for axes in (silhouettes, halves):
        axes.axvline(k, color="0.6", lw=0.7, ls=":", zorder=0)
        axes.set(xlabel="number of clusters", xticks=by_k.index)


def _draw_tiles(axes: Axes, percent: np.ndarray, colours: np.ndarray, inches: float) -> None:
    layers, heads = percent.shape
    strength = (0.12 + 0.88 * percent / 100)[..., None]
    axes.imshow(1 - strength * (1 - colours), aspect="auto", extent=(0.5, heads + 0.5, layers + 0.5, 0.5))
    for (layer, head), value in np.ndenumerate(percent):
        if value < 100:
            # Black on white, since a colour may have any strength.
            box = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
            about = {"ha": "center", "va": "center_baseline", "fontsize": min(SMALL, 40 * inches), "bbox": box}
            axes.text(head + 1, layer + 1, f"{value:.0f}", **about).set_in_layout(False)
    axes.hlines(np.arange(1, layers) + 0.5, 0.5, heads + 0.5, color="white", lw=0.8)
    axes.vlines(np.arange(1, heads) + 0.5, 0.5, layers + 0.5, color="white", lw=0.8)
    axes.set(xticks=range(1, heads + 1, 1 + heads // 33), yticks=layer_ticks(layers))
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)


def _keys() -> list:
    halves = [legend_key(color=colour, lw=1, label=f"half of the {half}") for half, colour in _COLOURS.items()]
    return [
        *halves,
        legend_key(color="0.25", lw=1, label="two agree"),
        legend_key(color="0.25", lw=0.8, ls="--", label="all agree"),
        Patch(color=_BY_CHANCE, lw=0, label="two agree by chance"),
        legend_key(label="chosen", **_RING),
    ]
