"""What speaks for a number of types and for a method: silhouettes, the gap statistic, stability, agreement."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from headtypes.base.seeds import derive_seed
from headtypes.features.columns import head_features
from headtypes.types.choice_files import AGREEMENT, BEST, STABILITY, TABLE, Choice
from headtypes.types.clustering import Clustering, IndivisibleError, cluster_heads, fit, one_thread
from headtypes.types.methods import METHODS
from headtypes.types.stability import measure_stability

COUNTS = tuple(range(2, 9))
BINS = (4, 8, 16, 32)
REFERENCES = 20

# By what the restarts are divided, of k-means and of the other methods, for the dozens of fits to all heads and for
# the hundreds to halves and to references. A mixture starts from k-means, and spectral clusters have few columns: few
# restarts leave their stability as it is. That of k-means over halves of samples, pairwise, k = 6, in three real
# models of 72 heads: 4 to 10 points too low with five restarts, at most 2 with twenty. The gap compares like with like.
_DIVISORS = {"clusters": (1, 5), "halves": (2, 25), "gap": (10, 50)}
# Such fits to the points themselves: of a mixture, log W of one varied by more than the standard error.
_REFITS = 5


class Way(NamedTuple):
    """A way of dividing heads: method, number of clusters, distance bins of the features."""

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

    distance: [sample, head, 69] distance features as they are stored, heads by layer.
    distance_bins: a divisor of 64, compared beside those four; gap, stability and `best` are about it alone.
    scale: as in `clustering.cluster_heads`; silhouettes and gaps are then those of the scaled features.
    restarts: of k-means; `_DIVISORS` says how many other methods have, and fits to halves and references.
    models: models for each kind of half, at least 2.
    seed: every draw and every fit has its own seed, derived from this one.
    references: reference sets of the gap statistic.

    As many clusters as there are different heads, or more, are left out. Raises `InputError` where features
    are not finite, and where there are fewer than two samples.
    """
    by_sample = {count: head_features(distance, count) for count in sorted({*BINS, distance_bins})}
    features = {count: each.mean(axis=0, dtype=np.float64) for count, each in by_sample.items()}
    points = StandardScaler().fit_transform(features[distance_bins]) if scale else features[distance_bins]
    rows = {way: {} for way in _ways(features)}
    with one_thread(), warnings.catch_warnings():
        # Of graphs in several parts, and of fits cut short; what comes of it is what is measured here.
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = dict(_clusterings(features, rows, scale=scale, restarts=restarts, seed=seed))
        for way, clustering in found.items():
            rows[way] |= _described(clustering)
        labels = {way: clustering.labels for way, clustering in found.items() if way.distance_bins == distance_bins}
        for way, figures in _gaps(points, labels, restarts=restarts, references=references, seed=seed):
            rows[way] = rows.get(way, {}) | figures
        for way, mine in labels.items():
            settings = {"scale": scale, "restarts": restarts, "models": models, "seed": seed}
            rows[way] |= _stability(by_sample[distance_bins], mine, way, **settings)
    table = pd.DataFrame([way._asdict() | rows[way] for way in sorted(rows, key=_place)], columns=list(TABLE))
    return Choice(table, _agreements(found), best_choices(table[table["distance_bins"] == distance_bins]))


def gap_statistic(
    points: np.ndarray, references: Sequence[np.ndarray], *, method: str, k: int, restarts: int, seed: int
) -> tuple[float, float]:
    """How much closer a method's clusters are than in points without any, and the standard error of that.

    points: [point, column]; references: sets like it, as `draw_references` makes them.

    Tibshirani, Walther and Hastie 2001: the mean over the references of log W, less the log W of the points. W is
    the sum of squared distances to the clusters' means, also for methods that do not minimise it. Other than
    there, the log W of the points is the mean of several fits, with as many restarts as those of the references,
    because W changes with the number of restarts where fits depend on their seed.
    Raises `IndivisibleError` where a set does not divide into k clusters.
    """

    def log_within(each: np.ndarray, *place: str | int) -> float:
        fit_seed = derive_seed(seed, "gap", method, k, *place)
        settings = {"method": method, "k": k, "scale": False, "restarts": restarts, "seed": fit_seed}
        labels = fit(each, **settings) if k > 1 else np.zeros(len(each), dtype=int)
        groups = (each[labels == label] for label in range(k))
        return np.log(sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups))

    ours = [log_within(points, "points", number) for number in range(_REFITS)]
    theirs = [log_within(reference, "reference", number) for number, reference in enumerate(references)]
    return float(np.mean(theirs) - np.mean(ours)), float(np.std(theirs) * np.sqrt(1 + 1 / len(theirs)))


def draw_references(points: np.ndarray, references: int, seed: int) -> Iterator[np.ndarray]:
    """Draw sets of as many points, uniform in the box along the points' principal axes that just holds them.

    points: [point, column]. Of the two reference distributions of Tibshirani, Walther and Hastie 2001 that along the
    principal components: shares of attention sum to one, and these sets sum to one too.
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
    it ends where two clusters are worse than one, however good three are.
    """
    lowest = gaps - errors
    return next((k for k in sorted(gaps.index) if k + 1 in lowest.index and gaps[k] >= lowest[k + 1]), None)


def best_choices(table: pd.DataFrame) -> pd.DataFrame:
    """What each criterion chooses for each method, with the columns `BEST`; `Choice` explains them.

    table: the rows of `Choice.table` for one number of distance bins.
    """
    rows = []
    for method, mine in table.set_index("k").groupby("method", sort=False):
        row = {"method": method, "gap_k": gap_choice(mine["gap"], mine["gap_error"])}
        for name, values in {
            "silhouette": mine["silhouette"],
            "heads_kappa": _kappa(mine["heads_pairwise"], mine["chance"]),
            "samples_kappa": _kappa(mine["samples_pairwise"], mine["chance"]),
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
    """The clusterings of those ways that divide the heads."""
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
    """The gaps of ways, and of one cluster for each of their methods."""
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
    """The figures of one way; the halves are the same for all."""
    part = _restarts("halves", way, restarts)
    try:
        found = measure_stability(by_sample, labels, method=way.method, k=way.k, restarts=part, **settings)
    except IndivisibleError:  # Half of the heads are too few.
        return dict.fromkeys(STABILITY, np.nan)
    return {f"{half}_{name}": found[half][name] for half in ("heads", "samples") for name in ("all_agree", "pairwise")}


def _agreements(clusterings: Mapping[Way, Clustering]) -> pd.DataFrame:
    rows = [
        (
            one.method,
            one.distance_bins,
            other.method,
            other.distance_bins,
            one.k,
            adjusted_rand_score(clusterings[one].labels, clusterings[other].labels),
        )
        for one, other in combinations(sorted(clusterings, key=_place), 2)
        if one.k == other.k and (one.method == other.method) != (one.distance_bins == other.distance_bins)
    ]
    return pd.DataFrame(rows, columns=list(AGREEMENT))


def _place(way: Way) -> tuple[int, int, int]:
    return METHODS.index(way.method), way.distance_bins, way.k


def _restarts(purpose: str, way: Way, restarts: int) -> int:
    return max(1, restarts // _DIVISORS[purpose][way.method != "kmeans"])
