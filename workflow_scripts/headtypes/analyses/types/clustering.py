"""Clusters of heads with similar attention: names, stability, how many there are, and which match another model's."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin, silhouette_samples
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from headtypes.analyses.distances.features import SELF_AND_SPECIAL, Groups, attention_groups, read_head_features
from headtypes.analyses.types.names import MIXTURES, TYPES, type_names
from headtypes.analyses.types.partitions import Partition, build_partition, order_types, read_types
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, derive_seed
from headtypes.core.statistics import one_thread
from headtypes.core.table_files import head_table, write_csv

_LARGEST_OF = {"diagonal": "near", "dense": "far", "vertical": "special"}
# What a cluster's name is ahead of: `_leads` has the difference from each.
_RUNNERS_UP = ("the second-best assignment", "another name for the same centroid", "the {} of another type")


@dataclass(frozen=True)
class Naming:
    """The names of k clusters of heads, and how certain the names are.

    names: for each cluster its name. doubts: for each cluster why its name is doubtful; empty if the name is certain.
    groups: for each cluster, shares of attention (near, special, far) of its centroid (the mean of its heads).
    errors: standard errors of these shares over heads.
    margin: the total score of the names (`name_types`) less the total of the second-best names; None unless k = 4.
    """

    names: tuple[str, ...]
    groups: Groups
    errors: Groups
    doubts: tuple[str, ...]
    margin: float | None

    def as_dict(self) -> dict:
        types = {
            name: {group: float(shares[cluster]) for group, shares in vars(self.groups).items()} | {"doubt": doubt}
            for cluster, (name, doubt) in enumerate(zip(self.names, self.doubts, strict=True))
        }
        return {"margin": self.margin, "types": types}


def name_types(groups: Groups, errors: Groups, halves: Sequence[Groups] = ()) -> Naming:
    """Return a name for each of k clusters, and a reason for each name that is doubtful.

    groups: for each cluster, shares of attention (near, special, far) of its centroid (the mean of its heads).
    errors: standard errors of these shares over heads. halves: the same shares, from each half of the samples.
    For k other than 4 the names are `type-1`, `type-2`, ..., never doubtful. For k = 4 names are assigned one-to-one,
    with the largest total score; a cluster's scores are far - special for dense, near for diagonal, min(far, special)
    for dense_vertical, and special - far for vertical. A name is doubtful if another name for the cluster (by score or
    total score) or a runner-up cluster (by its share near for diagonal, far for dense, special for vertical) is close:
    the lead is no larger than the lead's change on one of `halves` or, over this cluster, than two standard errors.
    """
    k = len(groups.near)
    if k != len(TYPES):
        return Naming(type_names(k), groups, errors, doubts=("",) * k, margin=None)
    # Guan et al. 2020, section 4, give no rule for their names.
    _, chosen = linear_sum_assignment(_name_scores(groups), maximize=True)
    leads, over_heads = _leads(groups, chosen), np.zeros((3, k))
    for cluster, name in enumerate(chosen):
        if group := _LARGEST_OF.get(TYPES[name]):
            rival = np.where(np.arange(k) == cluster, -np.inf, getattr(groups, group)).argmax()
            over_heads[2, cluster] = 2 * np.hypot(*getattr(errors, group)[[cluster, rival]])
    # The largest change of a lead when it is computed from one half; for the third lead, two standard errors over heads
    # if these are larger. A name is doubtful unless each lead is larger than this.
    uncertain = np.max([over_heads, *(abs(_leads(half, chosen) - leads) for half in halves)], axis=0)
    names, doubts = tuple(TYPES[name] for name in chosen), []
    best_alone = _name_scores(groups).argmax(axis=1)
    for cluster, name in enumerate(names):
        near, special, far = (shares[cluster] for shares in vars(groups).values())
        group, ahead, known = _LARGEST_OF.get(name), leads[:, cluster], uncertain[:, cluster]
        close, why = ~(ahead > known), ""
        if ahead[1] < 0:
            why = f"judged alone, its centroid (near {near:.2f}, special {special:.2f}, far {far:.2f}) would be named "
            why += TYPES[best_alone[cluster]]
        elif ahead[2] < 0:
            shares = getattr(groups, group)
            why = f"its {group} is {shares[cluster]:.2f}, and another type has {shares.max():.2f}"
        elif close.any():
            first = int(close.argmax())
            why = f"it is ahead of {_RUNNERS_UP[first].format(group)} by {ahead[first]:.3f}, which is known to "
            why += f"{known[first]:.3f} only"
        doubts.append(f"{name} is doubtful: {why}." if why else "")
    return Naming(names, groups, errors, tuple(doubts), margin=float(leads[0].min()))


def _name_scores(groups: Groups) -> np.ndarray:
    near, special, far = groups.near, groups.special, groups.far
    return np.stack([far - special, near, np.minimum(far, special), special - far], axis=1)


# How far each cluster's name is ahead of each of `_RUNNERS_UP`: [3, cluster], in shares of attention. (1) The total
# less the best total with another name for the centroid; (2) the name's score for the centroid less the best score of
# another name; (3) for diagonal, dense and vertical, the centroid's near, far or special share less the largest other.
def _leads(groups: Groups, chosen: np.ndarray) -> np.ndarray:
    scores, clusters = _name_scores(groups), np.arange(len(chosen))
    others = np.array([names for names in permutations(range(len(TYPES))) if tuple(chosen) != names])
    totals, differs = scores[clusters, others].sum(axis=1), others != chosen
    in_assignment = scores[clusters, chosen].sum() - np.where(differs, totals[:, None], -np.inf).max(axis=0)
    own, best_other = scores[clusters, chosen], np.where(np.eye(len(chosen))[chosen], -np.inf, scores).max(axis=1)
    # A share leads by 1 at most.
    in_share = np.ones(len(chosen))
    for cluster, name in enumerate(chosen):
        if group := _LARGEST_OF.get(TYPES[name]):
            values = getattr(groups, group)
            in_share[cluster] = values[cluster] - np.delete(values, cluster).max()
    return np.stack([in_assignment, own - best_other, in_share])


class IndivisibleError(InputError):
    """The error that heads cannot be divided into as many clusters as were asked for."""


@dataclass(frozen=True)
class Clustering:
    """A division of heads into k clusters, numbered from 0 by rising attention of their centroids to special tokens.

    labels: [head] int, the cluster of each head. silhouette: [head], -1 to 1, NaN for k = 1. naming: clusters' names.
    """

    labels: np.ndarray
    silhouette: np.ndarray
    naming: Naming

    def named_again(self, halves: Sequence[Mapping[str, Sequence[float]]]) -> "Clustering":
        """Return the same clusters and names; a name that may be another on a half of the samples is doubtful, too.

        halves: for each half {"near", "special", "far": [cluster] share of attention, 0 to 1}, as for `name_types`.
        """
        groups = [Groups(**{name: np.array(values) for name, values in half.items()}) for half in halves]
        return replace(self, naming=name_types(self.naming.groups, self.naming.errors, groups))


def cluster_heads(features: np.ndarray, *, method: str, k: int, scale: bool, restarts: int, seed: int) -> Clustering:
    """Return heads divided into k clusters, with the names of the clusters.

    features: [head, column] distance features (bins 0..N-1, self, cls, sep, comma, period).
    method: `kmeans` (as in Guan et al. 2020, section 4), `agglomerative`, `spectral` or a Gaussian mixture (`gmm`).
    scale: whether each column is first brought to zero mean and unit variance; the paper does not scale.
    restarts: number of random starts, of which the best result is kept; `agglomerative` ignores it.
    seed: 0 to 2**32 - 1; equal seeds give equal clusters.
    Raises `IndivisibleError` if there are fewer distinct heads than clusters, or if a cluster is left without a head.
    """
    points = features.astype(float)
    labels, _ = fit_clusters(points, method=method, k=k, scale=scale, restarts=restarts, seed=seed)
    if empty := k - len(np.unique(labels)):
        raise IndivisibleError(
            f"The method {method!r} left {empty} of {k} clusters without a head: "
            "choose fewer clusters or the method 'kmeans'."
        )
    special = _cluster_groups(points, labels, k).special
    labels = np.argsort(np.argsort(special))[labels]
    # A cluster of one head has no error.
    errors = Groups(*pd.DataFrame(vars(attention_groups(points))).groupby(labels).sem().fillna(0).to_numpy().T)
    return Clustering(
        labels=labels,
        silhouette=head_silhouettes(StandardScaler().fit_transform(points) if scale else points, labels),
        naming=name_types(_cluster_groups(points, labels, k), errors),
    )


def partition_of(clustering: Clustering, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    """Return a clustering as a partition, the table of each head's cluster and type.

    features: [layer * head, column] the features that were clustered. shape: (layers, heads of a layer).
    """
    labels, naming = clustering.labels, clustering.naming
    types, doubts = (np.array(texts, dtype=object)[labels] for texts in (naming.names, naming.doubts))
    about = {"cluster": labels, "type": types, "silhouette": clustering.silhouette, "doubtful": doubts != ""}
    return build_partition(features, shape, **about)


def head_silhouettes(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    # Rousseeuw 1987: 0 for a head alone in its cluster.
    clusters = len(np.unique(labels))
    if clusters == 1:
        return np.full(len(labels), np.nan)
    if clusters == len(labels):
        return np.zeros(len(labels))
    with one_thread():
        return silhouette_samples(features, labels)


def fit_clusters(
    points: np.ndarray, *, method: str, k: int, scale: bool, restarts: int, seed: int
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    points = points.astype(float)
    distinct = len(np.unique(points, axis=0))
    if k > distinct:
        raise IndivisibleError(
            f"{k} clusters need at least {k} different heads to fit, and there are {distinct}: lower k."
        )
    scaler = StandardScaler().fit(points) if scale else None
    points = scaler.transform(points) if scale else points
    with one_thread():
        match method:
            case "kmeans":
                # No tolerance: a run ends when no head changes its cluster any more. With ten restarts and k = 4, the
                # 72 heads of a real model ended in one of four optima, depending on the seed; with fifty, in the best.
                model = KMeans(k, n_init=restarts, max_iter=1000, tol=0, random_state=seed).fit(points)
                labels, predict = model.labels_, model.predict
            case _ if method in MIXTURES:
                # The config's is diagonal: features sum to one, so that a full covariance is singular but for the
                # floor, which keeps columns that are nearly constant (far bins) from deciding alone. Of floors from
                # 1e-4 to 1e-1 of the mean variance, this one gave clusters that depended least on the seed.
                floor = 0.1 * points.var(axis=0).mean()
                settings = {"covariance_type": MIXTURES[method], "reg_covar": floor, "max_iter": 1000}
                model = GaussianMixture(k, **settings, n_init=restarts, random_state=seed).fit(points)
                labels, predict = model.predict(points), model.predict
            case "agglomerative":
                labels, predict = AgglomerativeClustering(k, linkage="ward").fit_predict(points), None
            case "spectral":
                # On the graph of nearest neighbours: under a Gaussian kernel single heads became clusters. Its
                # solver needs more heads than clusters; where there are as many, each head is a cluster.
                graph = {"affinity": "nearest_neighbors", "n_neighbors": min(10, len(points))}
                model = SpectralClustering(k, **graph, n_init=restarts, random_state=seed)
                labels, predict = model.fit_predict(points) if k < len(points) else np.arange(k), None

    def predict_labels(features: np.ndarray) -> np.ndarray:
        # Methods without a rule for further points give them to the nearest centroid.
        features = features.astype(float)
        with one_thread():
            features = scaler.transform(features) if scale else features
            return predict(features) if predict else pairwise_distances_argmin(features, _means(points, labels, k))

    return labels, predict_labels


def _means(points: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    return np.stack([points[labels == of].sum(axis=0) / max(1, (labels == of).sum()) for of in range(k)])


def _cluster_groups(features: np.ndarray, labels: np.ndarray, k: int) -> Groups:
    return attention_groups(_means(features.astype(float), labels, k))


HALVES = ("heads", "samples", "pairs")
# The methods that are fitted to pairs. The others compare every two points, of which there may be half a million.
PAIR_METHODS = ("kmeans", "gmm")

# Clusterings of each kind of half, as in the paper.
MODELS = 10
COUNTS = tuple(range(2, 9))
# Numbers of clusters whose stability is also measured over halves of pairs, by k-means: those that Guan et al. 2020,
# section 4, call stable beside their own. Each takes as long as all the rest of a table.
PAIR_COUNTS = (3, 5)
_SHOWN = ("all_agree", "pairwise")
COLUMNS = ("k", "smallest", "silhouette", *(f"{half}_{name}" for half in HALVES for name in _SHOWN), "chance")

# The configured restarts are divided by these, for k-means and for the other methods: there are hundreds of fits to
# halves. A mixture starts from k-means, and spectral clustering has few columns, so few restarts do not change their
# stability. That of k-means does change: over halves of samples, pairwise, with k = 6, in three real models of 72
# heads, it was 4 to 10 points too low with five restarts and at most 2 with twenty.
_DIVISORS = {"clusters": (1, 5), "halves": (2, 25)}


def compare_numbers(
    features_by_sample: np.ndarray, *, method: str, k: int, scale: bool, restarts: int, models: int = MODELS, seed: int
) -> tuple[pd.DataFrame, dict[str, float]]:
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
        sizes = np.bincount(clustered.labels)
        criteria = {
            "smallest": sizes.min(),
            "silhouette": clustered.silhouette.mean(),
            "chance": 100 * float(((sizes / sizes.sum()) ** 2).sum()),
        }
        settings = {"scale": scale, "restarts": _restarts("halves", method, restarts), "models": models, "seed": seed}
        settings |= {"method": method, "k": k, "pairs": method == "kmeans" and k in PAIR_COUNTS}
        try:
            stability = measure_stability(features_by_sample, clustered.labels, **settings)
        except IndivisibleError:  # Half of the heads are too few.
            return criteria
        halves = {f"{half}_{name}": stability[half][name] for half in HALVES if stability[half] for name in _SHOWN}
        return criteria | halves

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
    # Among equals the largest number. Agreement rises as clusters get fewer, unless corrected by kappa (Cohen 1960).
    by_k = table.set_index("k").sort_index(ascending=False)
    beyond_chance = by_k[["heads_pairwise", "samples_pairwise"]].sub(by_k["chance"], axis=0)
    kappa = beyond_chance.div(100 - by_k["chance"], axis=0)
    criteria = {"silhouette": by_k["silhouette"]} | {half: kappa[f"{half}_pairwise"] for half in ("heads", "samples")}
    return {name: int(known.idxmax()) if len(known := values.dropna()) else None for name, values in criteria.items()}


def _restarts(purpose: str, method: str, restarts: int) -> int:
    return max(1, restarts // _DIVISORS[purpose][method != "kmeans"])


def measure_stability(
    features_by_sample: np.ndarray, labels: np.ndarray, *, models: int = MODELS, seed: int, pairs=True, **settings
) -> dict:
    """Return how far clusterings of random halves of the data agree, in percent (von Luxburg 2010).

    features_by_sample: [sample, head, column] distance features. labels: [head] int, 0..k-1, clusters of all heads.
    models: number of random halves of each kind, at least 2; one clustering is fitted to each half.
    seed: of all halves and fits. settings: method, k, scale and restarts of each fit, as in `cluster_heads`.
    pairs: whether pairs (one head on one sample) are halved, too, which takes far longer; only for `kmeans` and `gmm`.
    The result is a dictionary. Its keys heads, samples and pairs are the kinds of halves; pairs is None if pairs are
    not halved. Each kind has a dictionary:
    - all_agree: percent of heads (for pairs, of pairs) to which all clusterings give the same cluster.
    - pairwise: percent to which two clusterings give the same cluster, mean over all choices of two.
    - by_head: [head] percent of clusterings that give the head its cluster in `labels`. For pairs: percent that
      give a pair its cluster in one fit to all pairs (which stands in for `labels`), mean over the head's pairs.
    The key models has `models`. The key profiles has for each half of the samples {"near", "special", "far": [cluster]
    share of attention}.
    Raises `InputError` for fewer than two samples, and if half of the heads are too few for k clusters.
    """

    # A model is fitted to half of the heads, to the means of all heads over half of the samples, or to half of the
    # pairs. It then predicts the cluster of every head, from all samples, or pair. Clusters are matched to the full
    # fit's. Guan et al. 2020, section 4, report `all_agree` as a "proportion of input samples", of unstated halves.
    def of_halves(points: np.ndarray, labels: np.ndarray, kind: str) -> dict:
        halves = (points[half] for half in _draw_halves(len(points), models, seed, kind))
        return _agreement(_refitted(halves, points, labels, kind, seed, **settings), labels)

    by_samples, profiles = cluster_halves(features_by_sample, labels, models=models, seed=seed, **settings)
    by_heads, of_pairs = of_halves(features_by_sample.mean(axis=0, dtype=float), labels, "heads"), None
    if pairs and settings["method"] in PAIR_METHODS:
        points = _pairs(features_by_sample)
        full = fit_clusters(points, seed=derive_seed(seed, "pairs", "full"), **settings)[1](points)
        of_pairs = of_halves(points, full, "pairs")
        of_pairs["by_head"] = np.reshape(of_pairs["by_head"], (-1, len(labels))).mean(axis=0).tolist()
    by_samples = _agreement(by_samples, labels)
    return {"models": models, "heads": by_heads, "samples": by_samples, "pairs": of_pairs, "profiles": profiles}


def cluster_halves(
    features_by_sample: np.ndarray, labels: np.ndarray, *, models: int = MODELS, seed: int, k: int, **settings: Any
) -> tuple[np.ndarray, list[dict[str, list[float]]]]:
    """Return (clusters, profiles) of heads clustered on random halves of the samples.

    features_by_sample: [sample, head, column] distance features. labels: [head] int, 0..k-1, clusters of the full fit.
    models: the number of halves. seed: of halves and fits. settings: method, scale and restarts, as in `cluster_heads`.
    clusters: [half, head] int, numbered so that as many heads as possible agree with `labels`. profiles: for each half
        {"near", "special", "far": [cluster] share of attention}. Raises `InputError` for fewer than two samples.
    """
    samples = len(features_by_sample)
    if samples < 2:
        raise InputError(f"Stability by samples needs at least 2 samples, and there are {samples}.")
    weights = np.vstack([np.ones(samples), _draw_halves(samples, models, seed, "samples")])
    with one_thread():
        sums = np.tensordot(weights, features_by_sample, 1)
    features, *halves = sums / weights.sum(axis=1)[:, None, None]
    clusters = _refitted(halves, features, labels, "samples", seed, k=k, **settings)
    groups = [_cluster_groups(half, of_heads, k) for half, of_heads in zip(halves, clusters, strict=True)]
    return clusters, [{name: shares.tolist() for name, shares in vars(group).items()} for group in groups]


def _refitted(
    trains: Iterable[np.ndarray], points: np.ndarray, labels: np.ndarray, kind: str, seed: int, *, k: int, **settings
) -> np.ndarray:
    clusters = []
    for model, train in enumerate(trains):
        _, predict = fit_clusters(train, k=k, seed=derive_seed(seed, kind, "fit", model), **settings)
        clusters.append(match_labels(predict(points), labels, k))
    return np.stack(clusters)


def own_cluster_share(features_by_sample: np.ndarray, labels: np.ndarray) -> float:
    features = features_by_sample.mean(axis=0, dtype=float)
    with one_thread():
        nearest = pairwise_distances_argmin(_pairs(features_by_sample), _means(features, labels, labels.max() + 1))
    return 100 * float((nearest.reshape(-1, len(labels)) == labels).mean())


def match_labels(labels: np.ndarray, reference: np.ndarray, k: int) -> np.ndarray:
    # Clusters are renamed one-to-one, so that as many heads as possible agree.
    together = np.zeros((k, k), dtype=int)
    np.add.at(together, (labels, reference), 1)
    _, renamed = linear_sum_assignment(together, maximize=True)
    return renamed[labels]


def _agreement(predicted: np.ndarray, labels: np.ndarray) -> dict:
    pairs = [(one == other).mean() for one, other in combinations(predicted, 2)]
    return {
        "all_agree": 100 * float((predicted == predicted[0]).all(axis=0).mean()),
        "pairwise": 100 * float(np.mean(pairs)),
        "by_head": (100 * (predicted == labels).mean(axis=0)).tolist(),
    }


def _pairs(features_by_sample: np.ndarray) -> np.ndarray:
    return features_by_sample.reshape(-1, features_by_sample.shape[-1]).astype(float)


def _draw_halves(items: int, models: int, seed: int, kind: str) -> np.ndarray:
    halves = np.zeros((models, items), dtype=bool)
    for model in range(models):
        rng = np.random.default_rng(derive_seed(seed, kind, "half", model))
        halves[model, rng.choice(items, size=items // 2, replace=False)] = True
    return halves


def import_partition(csv_path: StrPath, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    types = read_types(csv_path, shape).reshape(-1)
    order = order_types(types)
    cluster = np.array([order.index(name) for name in types])
    silhouette = head_silhouettes(features.astype(float), cluster)
    return build_partition(features, shape, cluster=cluster, type=types, silhouette=silhouette, doubtful=False)


def embed_heads(features: np.ndarray, shape: tuple[int, int], seed: int) -> pd.DataFrame:
    """Return each head's layer and head, from 0, and its x and y in two dimensions, without unit, as a table (t-SNE).

    features: [layer * head, column] distance features. shape: (layers, heads of a layer). Neighbours stay neighbours;
    distances between groups mean nothing (van der Maaten and Hinton 2008).
    """
    perplexity = min(30.0, (len(features) - 1) / 3)
    with one_thread():
        tsne = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=seed)
        places = tsne.fit_transform(features.astype(float))
    return head_table(shape, {"x": places[:, 0], "y": places[:, 1]}).astype({"x": np.float32, "y": np.float32})


def match_clusters(partition: Partition, parent_partition: Partition) -> dict[str, str]:
    """Return {name of a cluster in `partition`: name of the matched cluster in `parent_partition`}.

    parent_partition: types of the model's parent, from which the model was fine-tuned. Clusters are matched one to one
    so that as many heads as possible are in a cluster and in its match in the parent (Kuhn 1955, the Hungarian method).
    Matched clusters without a common head are left out. Raises `InputError` if numbers of layers or heads differ.
    """
    check_shapes(partition, parent_partition)
    names = order_types([*partition.types, *parent_partition.types])
    together = pd.crosstab(partition.type_of.reshape(-1), parent_partition.type_of.reshape(-1))
    together = together.reindex(index=names, columns=names, fill_value=0).to_numpy()
    ours, theirs = most_together(together)
    return {names[one]: names[other] for one, other in zip(ours, theirs, strict=True) if together[one, other]}


def most_together(together: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows, columns): `rows[i]` is matched with `columns[i]`, so that matched pairs have the most heads.

    together: [name, name] the number of heads with the row's name in one partition and the column's name in another.
        Rows and columns have the same names in the same order. The matching is one-to-one.
    """
    # Equal names break ties alone: together they count less than one head.
    return linear_sum_assignment((len(together) + 1) * together + np.eye(len(together)), maximize=True)


def matched_clusters(partition: Partition, parent_partition: Partition) -> np.ndarray:
    """Return whether `match_clusters` pairs each head's cluster with its cluster in the parent, [layer, head] bool."""
    match = match_clusters(partition, parent_partition)
    partner = [match.get(name) for name in partition.type_of.reshape(-1)]
    return np.array(partner, dtype=object).reshape(partition.shape) == parent_partition.type_of


def compare_partitions(partition: Partition, parent_partition: Partition) -> dict[str, float]:
    """Return how alike a model and its parent (the model from which it was fine-tuned) divide heads into types.

    same_type: percent of heads whose type has the same name in both.
    same_cluster: percent of heads whose clusters in model and parent are matched (`match_clusters`).
    adjusted_rand: adjusted Rand index (Hubert and Arabie 1985), 1 for equal divisions, 0 on average for chance.
    Raises `InputError` if the models differ in layers or heads.
    """
    kept = matched_clusters(partition, parent_partition)
    ours, theirs = partition.type_of.reshape(-1), parent_partition.type_of.reshape(-1)
    return {
        "same_type": 100 * float((ours == theirs).mean()),
        "same_cluster": 100 * float(kept.mean()),
        "adjusted_rand": float(adjusted_rand_score(theirs, ours)),
    }


def check_shapes(partition: Partition, parent_partition: Partition) -> None:
    if partition.shape != parent_partition.shape:
        raise InputError(
            "A model and its parent differ in shape ({} x {} and {} x {} layers x heads), so that their heads cannot "
            "be compared; correct the model's parent.".format(*partition.shape, *parent_partition.shape)
        )


def run_import(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    features, shape = read_head_features(inputs.features, **spec)
    write_csv(outputs.partition, import_partition(inputs.table, features, shape).table)
