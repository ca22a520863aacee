"""How much the types of heads depend on which heads, samples, or pairs were drawn, and how alike two divisions are."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin

from headtypes.analyses.types.clustering import fit_and_predict, one_thread
from headtypes.analyses.types.partitions import Partition, order_types
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed

# What is halved.
HALVES = ("heads", "samples", "pairs")
# The methods that are fitted to pairs. The others compare every two points, of which there may be half a million.
PAIR_METHODS = ("kmeans", "gmm")

# Clusterings of each kind of half, as in the paper.
MODELS = 10
# Samples converted to float64 at once: some 4 MB at BERT-large's 384 heads and 21 columns.
_BLOCK = 64


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
    """Cluster random halves and compare the clusters with those of the full fit (von Luxburg 2010).

    features_by_sample: [sample, head, column] distance features; read in blocks of samples.
    labels: [head] int, 0..k-1, clusters of the full fit. models: for each kind of half, at least 2.
    seed: every half and every fit has its own seed, derived from this one.
    pairs: whether halves of the pairs of a head and a sample are clustered as well, which takes far longer.
    method, k, settings: as in `clustering.cluster_heads`.

    returns `{"models": models, "heads": {...}, "samples": {...}, "pairs": {...}}`, for models fitted on half of the
    heads, or on the head features of half of the samples, each predicting all heads from the features of all samples;
    or on half of the pairs, each predicting all pairs (None without `pairs`, and for methods not in `PAIR_METHODS`).
    Halves are rounded down. Clusters are matched to those of the full fit, which for pairs is one to all pairs. In %:
      all_agree: heads (or pairs) to which all models give the same cluster. Guan et al. 2020, section 4, report this
        "proportion of input samples", but not whether heads, samples or pairs of both are meant; hence all three;
      pairwise: heads (or pairs) to which two models give the same cluster, mean over all pairs of models;
      by_head: [head], models that give the head (or its pairs, on average) the cluster of the full fit.
    Raises `InputError` for fewer than two samples, and where half of the heads are too few for k clusters.
    """
    settings |= {"method": method, "k": k}
    samples, heads = features_by_sample.shape[:2]
    if samples < 2:
        raise InputError(f"Stability by samples needs at least 2 samples, and there are {samples}.")
    halves = _draw_halves(samples, models, seed, "samples")
    features, *half_features = _weighted_means(features_by_sample, np.vstack([np.ones(samples), halves]))

    def predict(train: np.ndarray, kind: str, model: int) -> np.ndarray:
        fit_seed = derive_seed(seed, kind, "fit", model)
        predicted = fit_and_predict(train, features, seed=fit_seed, **settings)
        return match_labels(predicted, labels, k)

    head_halves = _draw_halves(heads, models, seed, "heads")
    by_heads = [predict(features[half], "heads", model) for model, half in enumerate(head_halves)]
    by_samples = [predict(train, "samples", model) for model, train in enumerate(half_features)]
    return {
        "models": models,
        "heads": agreement(np.stack(by_heads), labels),
        "samples": agreement(np.stack(by_samples), labels),
        "pairs": _pair_agreement(features_by_sample, models, seed, **settings) if pairs else None,
    }


def own_cluster_share(features_by_sample: np.ndarray, labels: np.ndarray) -> float:
    """Percent of the pairs of a head and a sample that are nearest to the mean of the head's own cluster.

    features_by_sample: [sample, head, column]; labels: [head] int, 0..k-1.
    """
    features = features_by_sample.mean(axis=0, dtype=float)
    centroids = np.stack([features[labels == cluster].mean(axis=0) for cluster in range(labels.max() + 1)])
    with one_thread():
        nearest = pairwise_distances_argmin(_pairs(features_by_sample), centroids)
    return 100 * float((nearest.reshape(-1, len(labels)) == labels).mean())


def match_labels(labels: np.ndarray, reference: np.ndarray, k: int) -> np.ndarray:
    """Rename clusters [head] int, 0..k-1, one-to-one, so that most heads have that of the reference (Kuhn 1955)."""
    together = np.zeros((k, k), dtype=int)
    np.add.at(together, (labels, reference), 1)
    _, renamed = linear_sum_assignment(together, maximize=True)
    return renamed[labels]


def agreement(predicted: np.ndarray, labels: np.ndarray) -> dict:
    """The values of `measure_stability` for predicted [model, head] and the full fit's labels [head]."""
    pairs = [(one == other).mean() for one, other in combinations(predicted, 2)]
    return {
        "all_agree": 100 * float((predicted == predicted[0]).all(axis=0).mean()),
        "pairwise": 100 * float(np.mean(pairs)),
        "by_head": (100 * (predicted == labels).mean(axis=0)).tolist(),
    }


def _pair_agreement(
    features_by_sample: np.ndarray, models: int, seed: int, *, method: str, k: int, **settings: Any
) -> dict | None:
    """The agreement of models that are fitted on half of the pairs of a head and a sample each."""
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
    """[pair, column], sample by sample."""
    return features_by_sample.reshape(-1, features_by_sample.shape[-1]).astype(float)


def _draw_halves(items: int, models: int, seed: int, kind: str) -> np.ndarray:
    """Draw half of the items for each model: [model, item] bool."""
    halves = np.zeros((models, items), dtype=bool)
    for model in range(models):
        rng = np.random.default_rng(derive_seed(seed, kind, "half", model))
        halves[model, rng.choice(items, size=items // 2, replace=False)] = True
    return halves


def _weighted_means(features_by_sample: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Means over samples, [row, head, column], with weights [row, sample]."""
    samples, heads, columns = features_by_sample.shape
    sums = np.zeros((len(weights), heads * columns))
    with one_thread():
        for start in range(0, samples, _BLOCK):
            block = np.asarray(features_by_sample[start : start + _BLOCK], dtype=float)
            sums += weights[:, start : start + _BLOCK] @ block.reshape(len(block), -1)
    means = sums / weights.sum(axis=1, keepdims=True)
    return means.reshape(len(weights), heads, columns)


def match_clusters(partition: Partition, parent_partition: Partition) -> dict[str, str]:
    """The parent's cluster that each cluster of the model is matched with, by the names of their types.

    One-to-one so that as many heads as possible keep their cluster (Kuhn 1955, the Hungarian method), whatever clusters
    are called; of equal matchings, the one that pairs the most clusters of equal name. A cluster that shares no head
    with the one that is left for it is left out. Raises `InputError` where the models differ in layers or heads.
    """
    check_shapes(partition, parent_partition)
    names = order_types([*partition.types, *parent_partition.types])
    together = pd.crosstab(partition.type_of.reshape(-1), parent_partition.type_of.reshape(-1))
    together = together.reindex(index=names, columns=names, fill_value=0).to_numpy()
    ours, theirs = most_together(together)
    return {names[one]: names[other] for one, other in zip(ours, theirs, strict=True) if together[one, other]}


def most_together(together: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns that `match_clusters` matches; together: how many heads are in both, [name, name]."""
    # Equal names break ties alone: together they count less than one head.
    return linear_sum_assignment((len(together) + 1) * together + np.eye(len(together)), maximize=True)


def matched_clusters(partition: Partition, parent_partition: Partition) -> np.ndarray:
    """Which heads are in the same cluster as in the model's parent, by `match_clusters`: [layer, head] bool.

    Unrelated partitions agree on some heads by chance; the adjusted Rand index is corrected for that.
    """
    match = match_clusters(partition, parent_partition)
    partner = [match.get(name) for name in partition.type_of.reshape(-1)]
    return np.array(partner, dtype=object).reshape(partition.shape) == parent_partition.type_of


def compare_partitions(partition: Partition, parent_partition: Partition) -> dict[str, float]:
    """How similarly a model and its parent divide the same heads; raises `InputError` where these differ in shape.

    returns same_type, percent of the heads whose type has the same name in both; same_cluster, percent of those that
        keep their cluster (`matched_clusters`); adjusted_rand, the adjusted Rand index (Hubert and Arabie 1985): 1 for
        equal divisions whatever the types' names, 0 on average for chance.
    """
    kept = matched_clusters(partition, parent_partition)
    ours, theirs = partition.type_of.reshape(-1), parent_partition.type_of.reshape(-1)
    return {
        "same_type": 100 * float((ours == theirs).mean()),
        "same_cluster": 100 * float(kept.mean()),
        "adjusted_rand": float(adjusted_rand_score(theirs, ours)),
    }


def check_shapes(partition: Partition, parent_partition: Partition) -> None:
    """Raise `InputError` where a model and its parent differ in layers or heads."""
    if partition.shape != parent_partition.shape:
        raise InputError(
            "A model and its parent differ in shape ({} x {} and {} x {} layers x heads), so that their heads cannot "
            "be compared; correct the model's parent.".format(*partition.shape, *parent_partition.shape)
        )
