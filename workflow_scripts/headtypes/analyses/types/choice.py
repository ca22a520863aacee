"""Criteria for the number of types and the method: silhouettes, the gap statistic, stability, agreement."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from headtypes.analyses.distances.columns import head_features
from headtypes.analyses.types.choice_files import AGREEMENT, BEST, STABILITY, TABLE, Choice
from headtypes.analyses.types.clustering import Clustering, IndivisibleError, cluster_heads, fit, one_thread
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.analyses.types.stability import measure_stability
from headtypes.core.seeds import derive_seed

COUNTS = tuple(range(2, 9))
# Numbers of clusters whose stability is also measured over halves of pairs, by k-means: those that Guan et al. 2020,
# section 4, call stable. Each takes as long as all the rest of a table.
PAIR_COUNTS = (3, 4, 5)
BINS = (4, 8, 16, 32)
REFERENCES = 20

# The configured restarts are divided by these, for k-means and for the other methods: there are dozens of fits to all
# heads, and hundreds to halves and references. A mixture starts from k-means, and spectral clustering has few columns,
# so that few restarts do not change their stability. The stability of k-means does change: over halves of samples,
# pairwise, with k = 6, in three real models of 72 heads, it was 4 to 10 points too low with five restarts and at most 2
# with twenty. The gap compares fits with equally many restarts.
_DIVISORS = {"clusters": (1, 5), "halves": (2, 25), "gap": (10, 50)}
# Fits to the points themselves, averaged: log W of a single mixture varied by more than the standard error.
_REFITS = 5


class Way(NamedTuple):
    """A way of dividing heads: the method, the number of clusters, and the distance bins of the features."""

    method: str
    k: int
    distance_bins: int


def compare_clusterings(
    distance: np.ndarray,
    *,
    distance_bins: int,
    scale: bool,
    restarts: int,
    models: int,
    seed: int,
    references: int = REFERENCES,
) -> Choice:
    """Cluster heads by every method of `methods.METHODS`, into 2 to 8 clusters, from 4, 8, 16 and 32 distance bins.

    distance: [sample, head, column] distance features as they are stored, heads by layer.
    distance_bins: a divisor of 64, compared with those four; gap, stability and `best` are measured for it alone.
    scale: as in `clustering.cluster_heads`; silhouettes and gaps are then those of the scaled features.
    restarts: of k-means on all heads; other methods, and fits to halves and references, have fewer (`_DIVISORS`).
    models: models for each kind of half, at least 2.
    seed: every draw and every fit has its own seed, derived from this one.
    references: reference sets of the gap statistic.

    Only numbers of clusters below the number of different heads are tried. Raises `InputError` if features are not
    finite, or if there are fewer than two samples.
    """
    by_sample = {count: head_features(distance, count) for count in sorted({*BINS, distance_bins})}
    features = {count: sample.mean(axis=0, dtype=np.float64) for count, sample in by_sample.items()}
    points = StandardScaler().fit_transform(features[distance_bins]) if scale else features[distance_bins]
    rows = {way: {} for way in _ways(features)}
    with one_thread(), warnings.catch_warnings():
        # Graphs in several parts and fits that did not converge: their effect on the result is what is measured here.
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = {"scale": scale, "restarts": restarts, "seed": seed}
        clusterings = dict(_clusterings(features, rows, **fits))
        for way, clustering in clusterings.items():
            rows[way] |= _described(clustering)
        labels = {
            way: clustering.labels for way, clustering in clusterings.items() if way.distance_bins == distance_bins
        }
        for way, gaps in _gaps(points, labels, restarts=restarts, references=references, seed=seed):
            rows[way] = rows.get(way, {}) | gaps
        for way, of_heads in labels.items():
            rows[way] |= _stability(by_sample[distance_bins], of_heads, way, models=models, **fits)
        mixtures = [way._replace(method=name) for name in MIXTURES for way in labels if way.method == "kmeans"]
        clusterings |= _clusterings(features, (way for way in mixtures if way not in rows), **fits)
    table = pd.DataFrame([way._asdict() | rows[way] for way in sorted(rows, key=_order)], columns=list(TABLE))
    return Choice(table, _agreements(clusterings), best_choices(table[table["distance_bins"] == distance_bins]))


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
    return next((k for k in sorted(gaps.index) if k + 1 in lowest.index and gaps[k] >= lowest[k + 1]), None)


def best_choices(table: pd.DataFrame) -> pd.DataFrame:
    """The choice of each criterion for each method, with the columns `BEST`, which `Choice` explains.

    table: the rows of `Choice.table` for one number of distance bins.
    """
    rows = []
    for method, by_k in table.set_index("k").groupby("method", sort=False):
        row = {"method": method, "gap_k": gap_choice(by_k["gap"], by_k["gap_error"])}
        for name, values in {
            "silhouette": by_k["silhouette"],
            "heads_kappa": _kappa(by_k["heads_pairwise"], by_k["chance"]),
            "samples_kappa": _kappa(by_k["samples_pairwise"], by_k["chance"]),
        }.items():
            known = values.dropna().sort_index(ascending=False)
            k = known.idxmax() if len(known) else None
            row |= {name: known.get(k), f"{name.removesuffix('_kappa')}_k": k}
        rows.append(row)
    counted = [column for column in BEST if column.endswith("_k")]
    return pd.DataFrame(rows, columns=list(BEST)).astype(dict.fromkeys(counted, "Int64"))


def _kappa(agreement: pd.Series, chance: pd.Series) -> pd.Series:
    return (agreement - chance) / (100 - chance)


def _ways(features: Mapping[int, np.ndarray]) -> Iterator[Way]:
    for distance_bins, points in features.items():
        most = len(np.unique(points, axis=0)) - 1
        yield from (Way(method, k, distance_bins) for method in METHODS for k in COUNTS if k <= most)


def _clusterings(
    features: Mapping[int, np.ndarray], ways: Iterable[Way], *, scale: bool, restarts: int, seed: int
) -> Iterator[tuple[Way, Clustering]]:
    """The clusterings, without the ways that fail to divide the heads."""
    for way in ways:
        part, fit_seed = _restarts("clusters", way, restarts), derive_seed(seed, "clusters", *way)
        settings = {"method": way.method, "k": way.k, "scale": scale, "restarts": part, "seed": fit_seed}
        try:
            yield way, cluster_heads(features[way.distance_bins], **settings)
        except IndivisibleError:
            continue


def _described(clustering: Clustering) -> dict[str, float]:
    sizes = np.bincount(clustering.labels)
    return {
        "smallest": sizes.min(),
        "silhouette": clustering.silhouette.mean(),
        "chance": 100 * float(((sizes / sizes.sum()) ** 2).sum()),
    }


def _gaps(
    points: np.ndarray, ways: Iterable[Way], *, restarts: int, references: int, seed: int
) -> Iterator[tuple[Way, dict[str, float]]]:
    """The gap of each way, and of one cluster by each of their methods."""
    ways = list(ways)
    sets = list(draw_references(points, references, seed))
    for way in [*dict.fromkeys(way._replace(k=1) for way in ways), *ways]:
        part = _restarts("gap", way, restarts)
        try:
            gap, error = gap_statistic(points, sets, method=way.method, k=way.k, restarts=part, seed=seed)
        except IndivisibleError:
            gap = error = np.nan
        yield way, {"gap": gap, "gap_error": error}


def _stability(by_sample: np.ndarray, labels: np.ndarray, way: Way, restarts: int, **settings) -> dict[str, float]:
    """The stability of one way; all ways are measured on the same halves."""
    settings |= {"restarts": _restarts("halves", way, restarts)}
    settings |= {"pairs": way.method == "kmeans" and way.k in PAIR_COUNTS}
    try:
        stability = measure_stability(by_sample, labels, method=way.method, k=way.k, **settings)
    except IndivisibleError:  # Half of the heads are too few.
        return dict.fromkeys(STABILITY, np.nan)
    halves = {half: values for half, values in stability.items() if isinstance(values, dict)}
    return {f"{half}_{name}": halves[half][name] for half in halves for name in ("all_agree", "pairwise")}


def _agreements(clusterings: Mapping[Way, Clustering]) -> pd.DataFrame:
    compared = sorted((way for way in clusterings if way.method in METHODS), key=_order)
    pairs = [
        (one, other)
        for one, other in combinations(compared, 2)
        if one.k == other.k and (one.method == other.method) != (one.distance_bins == other.distance_bins)
    ]
    pairs += [(way._replace(method="kmeans"), way) for way in clusterings if way.method not in METHODS]
    rows = [
        (
            one.method,
            one.distance_bins,
            other.method,
            other.distance_bins,
            one.k,
            adjusted_rand_score(clusterings[one].labels, clusterings[other].labels),
        )
        for one, other in pairs
    ]
    return pd.DataFrame(rows, columns=list(AGREEMENT))


def _order(way: Way) -> tuple[int, int, int]:
    return METHODS.index(way.method), way.distance_bins, way.k


def _restarts(purpose: str, way: Way, restarts: int) -> int:
    return max(1, restarts // _DIVISORS[purpose][way.method != "kmeans"])
