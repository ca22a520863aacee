"""How certain a head's features and its type are: over the samples drawn, and over the seeds of the clustering."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from headtypes.analyses.distances.columns import attention_groups
from headtypes.analyses.types.clustering import IndivisibleError, fit, one_thread
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.stability import match_labels
from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import draw_units, mean_intervals

GROUPS = ("near", "special", "far")

# Number of heads whose features are converted to float64 at once: 17 MB at 1,000 samples of 69 columns.
_BLOCK = 32


@dataclass(frozen=True)
class Repeated:
    """Repeated clusterings, compared with the original one.

    keeps: [head] percent of them that give the head its type.
    adjusted_rand: [clustering] agreement with the original, 1 for the same clusters, about 0 for clusters
        at random (Hubert and Arabie 1985).
    failed: how many left a cluster empty; in these no head keeps its type, and their agreement is 0.
    """

    keeps: np.ndarray
    adjusted_rand: np.ndarray
    failed: int

    def as_dict(self) -> dict:
        """Return plain Python for JSON: how many clusterings and failures, mean and lowest agreement."""
        return {
            "clusterings": len(self.adjusted_rand),
            "failed": self.failed,
            "adjusted_rand": float(self.adjusted_rand.mean()),
            "lowest_adjusted_rand": float(self.adjusted_rand.min()),
        }


def head_confidence(
    features_by_sample: np.ndarray,
    partition: Partition,
    clustering: dict | None,
    *,
    seed: int,
    resamples: int = 1000,
    clusterings: int = 100,
) -> tuple[pd.DataFrame, dict]:
    """How certain each head's near, special and far are, and its type.

    features_by_sample: [sample, head, column] distance features of a task, heads by layer.
    partition: the types of the same heads.
    clustering: method, k, scale and restarts, with which `clustering.cluster_heads` made the partition; None
        for an imported partition, which cannot be made again.
    seed: every resample and every clustering has its own seed, derived from this one.
    resamples: for the intervals; clusterings: number of repetitions, over samples and over seeds alike.

    returns one row per head: layer, head, type; near, special and far with their bounds {group}_low and
    {group}_high (`group_intervals`); keeps_type_samples and keeps_type_seeds, the percent of clusterings in
    which it keeps its type (`recluster_samples`, `recluster_seeds`), NaN for an imported partition, the
    first also where there is one sample. And `{"samples": ..., "seeds": ...}`, each as `Repeated.as_dict` gives
    it, or None where the column is NaN.
    """
    over: dict[str, Repeated | None] = {"samples": None, "seeds": None}
    if clustering is not None:
        labels = partition.table["cluster"].to_numpy()
        if len(features_by_sample) > 1:
            over["samples"] = recluster_samples(
                features_by_sample, labels, clusterings=clusterings, seed=derive_seed(seed, "samples"), **clustering
            )
        over["seeds"] = recluster_seeds(
            features_by_sample.mean(axis=0, dtype=float),
            labels,
            clusterings=clusterings,
            seed=derive_seed(seed, "seeds"),
            **clustering,
        )
    table = pd.concat(
        [
            partition.table[["layer", "head", "type"]],
            group_intervals(features_by_sample, seed=derive_seed(seed, "groups"), resamples=resamples),
        ],
        axis=1,
    )
    for kind, repeated in over.items():
        table[f"keeps_type_{kind}"] = np.nan if repeated is None else repeated.keeps
    return table, {kind: repeated and repeated.as_dict() for kind, repeated in over.items()}


def group_intervals(features_by_sample: np.ndarray, *, seed: int, resamples: int = 1000) -> pd.DataFrame:
    """Near, special and far of every head, with intervals over the samples of the task.

    features_by_sample: [sample, head, column] distance features.
    returns one row per head: {group}, {group}_low and {group}_high, shares; the bounds as
    `statistics.mean_intervals` makes them, NaN where there is one sample.
    """
    # The groups of a mean are the means of the samples' groups, so that three numbers per head and sample suffice.
    by_sample = [attention_groups(sample) for sample in features_by_sample]
    values = np.stack([[getattr(groups, group) for groups in by_sample] for group in GROUPS])
    low, high = mean_intervals(np.moveaxis(values, 1, -1), seed=seed, resamples=resamples)
    means = values.mean(axis=1)
    return pd.DataFrame(
        {
            name: values_of_heads[index]
            for index, group in enumerate(GROUPS)
            for name, values_of_heads in ((group, means), (f"{group}_low", low), (f"{group}_high", high))
        }
    )


def recluster_samples(
    features_by_sample: np.ndarray, labels: np.ndarray, *, clusterings: int, seed: int, **settings: Any
) -> Repeated:
    """Cluster the head features of samples drawn anew, as many and with replacement.

    features_by_sample: [sample, head, column]; at least two samples.
    labels: [head] int, 0..k-1, clusters of the full fit.
    settings: method, k, scale and restarts of `clustering.cluster_heads`.

    The percentage estimates how often other samples of the task would give a head the same type. Every clustering
    also has a seed of its own, so that types that depend on the seed count as uncertain. The clusters are those of
    the fit to the drawn features, matched to the full fit's by the Hungarian method; `measure_stability` asks another
    question, whether clusters of half of the data predict those of all. Hennig 2007, Cluster-wise
    assessment of cluster stability, draws samples in the same way.
    """
    features = _resampled_features(features_by_sample, clusterings, seed)
    return _recluster(features, labels, seed=seed, **settings)


def recluster_seeds(
    features: np.ndarray, labels: np.ndarray, *, clusterings: int, seed: int, **settings: Any
) -> Repeated:
    """Cluster the same head features from other seeds.

    features: [head, column]; labels and settings as in `recluster_samples`.

    With the restarts of the full fit, this says whether another seed would have given other types: less than 100 %
    means that the restarts are too few to find the best clusters. With restarts=1 it says how often a single descent
    ends in these clusters, which is a property of the features.
    """
    return _recluster([features] * clusterings, labels, seed=seed, **settings)


def _recluster(
    features_of_fits: Iterable[np.ndarray], labels: np.ndarray, *, k: int, seed: int, **settings: Any
) -> Repeated:
    """Cluster each of several arrays of features, [head, column], and compare with the labels of the full fit."""
    keeps, agreement, failed = [], [], 0
    for number, features in enumerate(features_of_fits):
        try:
            refitted = fit(features, k=k, seed=derive_seed(seed, "fit", number), **settings)
        except IndivisibleError:
            keeps.append(np.zeros(len(labels)))
            agreement.append(0.0)
            failed += 1
        else:
            keeps.append(match_labels(refitted, labels, k) == labels)
            agreement.append(adjusted_rand_score(labels, refitted))
    return Repeated(100 * np.mean(keeps, axis=0), np.array(agreement), failed)


def _resampled_features(features_by_sample: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Head features of samples drawn with replacement, [resample, head, column]."""
    samples, heads, columns = features_by_sample.shape
    shares = np.concatenate(list(draw_units(samples, resamples, seed))) / samples
    features = np.empty((resamples, heads, columns))
    with one_thread():
        for start in range(0, heads, _BLOCK):
            block = features_by_sample[:, start : start + _BLOCK].astype(float)
            features[:, start : start + _BLOCK] = (shares @ block.reshape(samples, -1)).reshape(resamples, -1, columns)
    return features
