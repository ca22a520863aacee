"""How many types there are, by one method: silhouettes, the gap statistic and stability, by number of clusters."""

import math
import warnings
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from headtypes.analyses.distances.columns import SELF_AND_SPECIAL
from headtypes.analyses.types.clustering import Clustering, IndivisibleError, cluster_heads, fit, one_thread
from headtypes.analyses.types.names import MIXTURES
from headtypes.analyses.types.stability import HALVES, MODELS, PAIR_METHODS, measure_stability, own_cluster_share
from headtypes.core.seeds import derive_seed

COUNTS = tuple(range(1, 9))
# Numbers of clusters whose stability is also measured over halves of pairs, by k-means: those that Guan et al. 2020,
# section 4, call stable beside their own. Each takes as long as all the rest of a table.
PAIR_COUNTS = (3, 5)
REFERENCES = 20
_STABILITY = {f"{half}_{name}": (half, name) for half in HALVES for name in ("all_agree", "pairwise")}
COLUMNS = ("k", "smallest", "silhouette", "gap", "gap_error", *_STABILITY, "chance")

# The configured restarts are divided by these, for k-means and for the other methods: there are hundreds of fits to
# halves and references. A mixture starts from k-means, and spectral clustering has few columns, so that few restarts do
# not change their stability. The stability of k-means does change: over halves of samples, pairwise, with k = 6, in
# three real models of 72 heads, it was 4 to 10 points too low with five restarts and at most 2 with twenty. The gap
# compares fits with equally many restarts.
_DIVISORS = {"clusters": (1, 5), "halves": (2, 25), "gap": (10, 50)}
# Fits to the points themselves, averaged: log W of a single mixture varied by more than the standard error.
_REFITS = 5


def measure_types(
    features_by_sample: np.ndarray, labels: np.ndarray, *, seed: int, numbers_seed: int, **settings: Any
) -> tuple[dict, pd.DataFrame]:
    """How stable the types are, and how many there are.

    features_by_sample, labels, seed, settings: as in `stability.measure_stability`; numbers_seed: that of
        `compare_numbers`, the same for all partitions of the same features.
    returns what `measure_stability` returns, and beside it own_cluster, as `own_cluster_share` says; gap and gap_error,
        as `gap_beyond_one` (None where there are none); chosen, as `chosen_numbers`; and mixtures, the second of what
        `compare_numbers` returns, whose table is returned as well.
    """
    stability = measure_stability(features_by_sample, labels, seed=seed, **settings)
    numbers, mixtures = compare_numbers(features_by_sample, seed=numbers_seed, **settings)
    gap, error = gap_beyond_one(numbers, settings["k"]) or (None, None)
    return {
        **stability,
        "own_cluster": own_cluster_share(features_by_sample, labels),
        "gap": gap,
        "gap_error": error,
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
    references: int = REFERENCES,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Cluster heads into 1 to 8 clusters, all measured on the same halves, and k clusters by mixtures as well.

    features_by_sample: [sample, head, column] distance features.
    method, k, scale: as in `clustering.cluster_heads`; silhouettes and gaps are then those of the scaled features.
    restarts: of k-means on all heads; other methods, and fits to halves and references, have fewer (`_DIVISORS`).
    models: models for each kind of half, at least 2.
    seed: every draw and every fit has its own seed, derived from this one.
    references: reference sets of the gap statistic.

    returns one row per number of clusters, with the columns `COLUMNS`: heads in the smallest cluster; mean silhouette;
        the gap statistic and its standard error; the values of `stability.measure_stability`, over halves of pairs for
        k-means with `PAIR_COUNTS` alone, since fits to so many points take long; and chance, the percent of heads to
        which two models would give the same cluster if each drew clusters at random with the shares of this
        clustering. For k = 1 there is only the gap. NaN if the method fails to divide the heads, halves of them, or
        the references into k clusters. Only numbers below the number of different heads are tried.
        And, for k-means and mixtures, the adjusted Rand index (Hubert and Arabie 1985) of k clusters by k-means and by
        a Gaussian mixture, by its covariance: 1 for the same clusters, about 0 for unrelated ones.
    Raises `InputError` if there are fewer than two samples.
    """
    features = features_by_sample.mean(axis=0, dtype=np.float64)
    points = StandardScaler().fit_transform(features) if scale else features
    sets = list(draw_references(points, references, seed))
    gap = partial(_gap, points, sets, method=method, restarts=_restarts("gap", method, restarts), seed=seed)
    bins, most = features.shape[1] - len(SELF_AND_SPECIAL), len(np.unique(features, axis=0)) - 1

    @cache
    def clustering(method: str, k: int) -> Clustering | None:
        part, fit_seed = _restarts("clusters", method, restarts), derive_seed(seed, "clusters", method, k, bins)
        try:
            return cluster_heads(features, method=method, k=k, scale=scale, restarts=part, seed=fit_seed)
        except IndivisibleError:
            return None

    def row(k: int) -> dict[str, float]:
        if k == 1:
            return gap(k=1)
        if (found := clustering(method, k)) is None:
            return {}
        settings = {"scale": scale, "restarts": _restarts("halves", method, restarts), "models": models, "seed": seed}
        stability = _stability(features_by_sample, found.labels, method=method, k=k, **settings)
        return _described(found) | gap(k=k) | stability

    with one_thread(), warnings.catch_warnings():
        # Graphs in several parts and fits that did not converge: their effect on the result is what is measured here.
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = [{"k": count} | row(count) for count in COUNTS if count <= max(most, 1)]
        compared = MIXTURES if method in PAIR_METHODS and clustering("kmeans", k) else {}
        mixtures = {kind: found.labels for name, kind in compared.items() if (found := clustering(name, k))}
    rands = {kind: float(adjusted_rand_score(clustering("kmeans", k).labels, it)) for kind, it in mixtures.items()}
    return pd.DataFrame(rows, columns=list(COLUMNS)), rands


def gap_statistic(
    points: np.ndarray, references: Sequence[np.ndarray], *, method: str, k: int, restarts: int, seed: int
) -> tuple[float, float]:
    """How much tighter a method's clusters are than in points that have no clusters, and the gap's standard error.

    points: [point, column]; references: sets like it, as `draw_references` makes them.

    Tibshirani, Walther and Hastie 2001: the mean over the references of log W, less the log W of the points. W is
    the sum of squared distances to the clusters' means, also for methods that do not minimise it. Unlike
    there, the log W of the points is the mean of several fits, with as many restarts as the fits to the references,
    because W depends on the number of restarts where fits depend on their seed.
    Raises `IndivisibleError` where a set does not divide into k clusters.
    """

    def log_within(points: np.ndarray, *parts: str | int) -> float:
        fit_seed = derive_seed(seed, "gap", method, k, *parts)
        settings = {"method": method, "k": k, "scale": False, "restarts": restarts, "seed": fit_seed}
        labels = fit(points, **settings) if k > 1 else np.zeros(len(points), dtype=int)
        groups = (points[labels == label] for label in range(k))
        return np.log(sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups))

    ours = [log_within(points, "points", number) for number in range(_REFITS)]
    theirs = [log_within(reference, "reference", number) for number, reference in enumerate(references)]
    return float(np.mean(theirs) - np.mean(ours)), float(np.std(theirs) * np.sqrt(1 + 1 / len(theirs)))


def draw_references(points: np.ndarray, references: int, seed: int) -> Iterator[np.ndarray]:
    """Draw sets of equally many points, uniform in the smallest box along the points' principal axes that holds them.

    points: [point, column]. Tibshirani, Walther and Hastie 2001 give two reference distributions; this is the one
    along the principal components, since its points sum to one, as shares of attention do.
    """
    mean = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - mean, full_matrices=False)
    along = (points - mean) @ axes.T
    for number in range(references):
        rng = np.random.default_rng(derive_seed(seed, "reference", number))
        yield rng.uniform(along.min(axis=0), along.max(axis=0), size=along.shape) @ axes + mean


def gap_choice(gaps: pd.Series, errors: pd.Series) -> int | None:
    """The smallest k whose gap is at least that of k + 1 less its standard error; None where there is none.

    gaps, errors: as `gap_statistic` finds them, with k as index. The rule of Tibshirani, Walther and Hastie 2001;
    it stops at one cluster where two are worse, however good three are.
    """
    lowest = gaps - errors
    return next((int(k) for k in sorted(gaps.index) if k + 1 in lowest.index and gaps[k] >= lowest[k + 1]), None)


def chosen_numbers(table: pd.DataFrame) -> dict[str, int | None]:
    """The number of clusters that each criterion chooses, of `compare_numbers`; None where it chooses none.

    silhouette: the largest; gap: as `gap_choice` says; heads, samples: the largest kappa over halves of these, the
    pairwise agreement corrected for chance, 1 for perfect, 0 for random (Cohen 1960), since uncorrected agreement rises
    as clusters get fewer. Among equal values the largest number.
    """
    by_k = table.set_index("k").sort_index(ascending=False)
    beyond_chance = by_k[["heads_pairwise", "samples_pairwise"]].sub(by_k["chance"], axis=0)
    kappa = beyond_chance.div(100 - by_k["chance"], axis=0)
    criteria = {
        "silhouette": by_k["silhouette"],
        "heads": kappa["heads_pairwise"],
        "samples": kappa["samples_pairwise"],
    }
    chosen = {name: int(known.idxmax()) if len(known := it.dropna()) else None for name, it in criteria.items()}
    return chosen | {"gap": gap_choice(by_k["gap"], by_k["gap_error"])}


def gap_beyond_one(table: pd.DataFrame, k: int) -> tuple[float, float] | None:
    """The gap statistic of k clusters less that of a single one, and its standard error; None where there is none.

    table: as `compare_numbers` makes it.
    """
    by_k = table.set_index("k")
    if not {1, k} <= set(by_k.index):
        return None
    gap, error = by_k.loc[k, "gap"] - by_k.loc[1, "gap"], math.hypot(*by_k.loc[[1, k], "gap_error"])
    return None if math.isnan(gap) else (float(gap), error)


def _described(clustering: Clustering) -> dict[str, float]:
    sizes = np.bincount(clustering.labels)
    return {
        "smallest": sizes.min(),
        "silhouette": clustering.silhouette.mean(),
        "chance": 100 * float(((sizes / sizes.sum()) ** 2).sum()),
    }


def _gap(points: np.ndarray, references: Sequence[np.ndarray], **settings) -> dict[str, float]:
    try:
        return dict(zip(("gap", "gap_error"), gap_statistic(points, references, **settings), strict=True))
    except IndivisibleError:
        return {}


def _stability(features_by_sample: np.ndarray, labels: np.ndarray, *, method: str, k: int, **fits) -> dict[str, float]:
    pairs = method == "kmeans" and k in PAIR_COUNTS
    try:
        found = measure_stability(features_by_sample, labels, method=method, k=k, pairs=pairs, **fits)
    except IndivisibleError:  # Half of the heads are too few.
        return {}
    return {name: found[half][it] for name, (half, it) in _STABILITY.items() if found[half]}


def _restarts(purpose: str, method: str, restarts: int) -> int:
    return max(1, restarts // _DIVISORS[purpose][method != "kmeans"])
