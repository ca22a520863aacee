"""Clusters of heads with similar attention, and the names that follow from what their heads look at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin, silhouette_samples
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import ThreadpoolController, threadpool_limits

from headtypes.analyses.distances.features import Groups, attention_groups, read_head_features
from headtypes.analyses.types.names import MIXTURES, TYPES, type_names
from headtypes.analyses.types.partitions import Partition, build_partition, order_types, read_types, write_partition
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.heads import per_head

_LARGEST_OF = {"diagonal": "near", "dense": "far", "vertical": "special"}
# The second-best assignment names the cluster otherwise; its centroid has a score for each name; others have a share.
_RUNNERS_UP = ("the second-best assignment", "another name for the same centroid", "the {} of another type")


@dataclass(frozen=True)
class Naming:
    """Names of k clusters, and how certain they are.

    names: by cluster; groups: near, special and far of the centroids; errors: standard errors of these over heads;
    doubts: by cluster, the sentence that says why its name is doubtful, empty where it is not; margin: how far the
    assignment is ahead of the second best, None unless k = 4.
    """

    names: tuple[str, ...]
    groups: Groups
    errors: Groups
    doubts: tuple[str, ...]
    margin: float | None

    def as_dict(self) -> dict:
        """Return plain Python for JSON: margin, and by type near, special, far and doubt."""
        groups = self.groups
        rows = zip(self.names, groups.near, groups.special, groups.far, self.doubts, strict=True)
        return {
            "margin": self.margin,
            "types": {
                name: {"near": float(near), "special": float(special), "far": float(far), "doubt": doubt}
                for name, near, special, far, doubt in rows
            },
        }


def name_types(groups: Groups, errors: Groups, halves: Sequence[Groups] = ()) -> Naming:
    """Name clusters by what their centroids (unscaled) look at, by rising special.

    For k = 4 the names of Guan et al. 2020, section 4, which gives no rule for them. They go to the clusters by the
    one-to-one assignment with the largest total of scores: dense far - special, diagonal near, dense_vertical min(far,
    special), vertical special - far. A name is doubtful if another one scores higher for its centroid, if the centroid
    of diagonal, dense or vertical does not have the largest near, far or special, or if it is ahead, in this or of the
    second-best assignment, by no more than that is known: than halves of the samples change it, and, for the largest
    near, far or special, than two standard errors over heads. For any other k: `type-1`, and so on.

    groups, errors: as in `Naming`; halves: the same clusters as halves of the samples give them.
    """
    k = len(groups.near)
    if k != len(TYPES):
        return Naming(type_names(k), groups, errors, doubts=("",) * k, margin=None)
    _, chosen = linear_sum_assignment(_name_scores(groups), maximize=True)
    ahead, of_heads = _ahead(groups, chosen), np.zeros((3, k))
    of_heads[2] = [_two_errors(groups, errors, cluster, name) for cluster, name in enumerate(chosen)]
    known = np.max([of_heads, *(abs(_ahead(half, chosen) - ahead) for half in halves)], axis=0)
    return Naming(
        names=tuple(TYPES[name] for name in chosen),
        groups=groups,
        errors=errors,
        doubts=tuple(
            _doubt(*of_cluster, groups, *leads)
            for of_cluster, *leads in zip(enumerate(chosen), ahead.T, known.T, strict=True)
        ),
        margin=float(ahead[0].min()),
    )


def _name_scores(groups: Groups) -> np.ndarray:
    near, special, far = groups.near, groups.special, groups.far
    return np.stack([far - special, near, np.minimum(far, special), special - far], axis=1)


def _ahead(groups: Groups, chosen: np.ndarray) -> np.ndarray:
    """Return how far each cluster's name is ahead, [3, cluster], of each of `_RUNNERS_UP`; chosen: indices of
    `TYPES`.
    """
    scores, clusters = _name_scores(groups), np.arange(len(chosen))
    others = np.array([names for names in permutations(range(len(TYPES))) if tuple(chosen) != names])
    totals, differs = scores[clusters, others].sum(axis=1), others != chosen
    of_assignment = scores[clusters, chosen].sum() - np.where(differs, totals[:, None], -np.inf).max(axis=0)
    own, best_other = scores[clusters, chosen], np.where(np.eye(len(chosen))[chosen], -np.inf, scores).max(axis=1)
    # No share is ahead by more.
    of_group = np.ones(len(chosen))
    for cluster, name in enumerate(chosen):
        if group := _LARGEST_OF.get(TYPES[name]):
            values = getattr(groups, group)
            of_group[cluster] = values[cluster] - np.delete(values, cluster).max()
    return np.stack([of_assignment, own - best_other, of_group])


def _two_errors(groups: Groups, errors: Groups, cluster: int, name: int) -> float:
    """Return two standard errors of the lead of a centroid's near, far or special, by its name, over the next one's."""
    if (group := _LARGEST_OF.get(TYPES[name])) is None:
        return 0.0
    values = getattr(groups, group).copy()
    values[cluster] = -np.inf
    return 2 * float(np.hypot(*getattr(errors, group)[[cluster, values.argmax()]]))


def _doubt(cluster: int, name: int, groups: Groups, ahead: np.ndarray, known: np.ndarray) -> str:
    """Say why a cluster's name is doubtful, if it is; ahead: of each of `_RUNNERS_UP`; known: how well, as
    `name_types`.
    """
    near, special, far = groups.near[cluster], groups.special[cluster], groups.far[cluster]
    group = _LARGEST_OF.get(TYPES[name])
    _, of_centroid, of_group = ahead
    if of_centroid < 0:
        best = TYPES[int(_name_scores(groups)[cluster].argmax())]
        why = (
            f"judged alone, its centroid (near {near:.2f}, special {special:.2f}, far {far:.2f}) would be named {best}"
        )
    elif of_group < 0:
        values = getattr(groups, group)
        why = f"its {group} is {values[cluster]:.2f}, and another type has {values.max():.2f}"
    elif (close := ~(ahead > known)).any():
        first = int(close.argmax())
        why = (
            f"it is ahead of {_RUNNERS_UP[first].format(group)} by {ahead[first]:.3f}, "
            f"which is known to {known[first]:.3f} only"
        )
    else:
        return ""
    return f"{TYPES[name]} is doubtful: {why}."


class IndivisibleError(InputError):
    """A method does not divide the heads into as many clusters as were asked for."""


@dataclass(frozen=True)
class Clustering:
    """Heads in k clusters, numbered from 0 in ascending order of the special attention of their centroids.

    labels: [head] int; silhouette: [head], -1 to 1, NaN for k = 1; naming: the clusters' type names.
    """

    labels: np.ndarray
    silhouette: np.ndarray
    naming: Naming

    def beside(self, halves: Sequence[Mapping[str, Sequence[float]]]) -> "Clustering":
        """Return the clusters with names that halves of the samples may make doubtful (`profiles` of `stability`)."""
        groups = [Groups(**{name: np.array(values) for name, values in half.items()}) for half in halves]
        return replace(self, naming=name_types(self.naming.groups, self.naming.errors, groups))


def cluster_heads(features: np.ndarray, *, method: str, k: int, scale: bool, restarts: int, seed: int) -> Clustering:
    """Divide heads into k clusters and name them; raises `InputError` as `fit` does.

    features: [head, column] distance features (bins 0..N-1, self, cls, sep, comma, period).
    method: one of `names.METHODS`. Guan et al. 2020, section 4, use k-means.
    scale: whether each column is brought to zero mean and unit variance first; distances and silhouettes are then those
        of the scaled features. The paper does not scale.
    restarts: initialisations of which the best is kept (agglomerative has none). With ten, k-means with k = 4 on the 72
        heads of a real model ended in one of four optima, depending on the seed; with fifty, always in the best.
    seed: 0 to 2**32 - 1; equal seeds give equal clusters, whatever the number of threads.
    """
    points = features.astype(float)
    labels = fit(points, method=method, k=k, scale=scale, restarts=restarts, seed=seed)
    special = cluster_groups(points, labels, k).special
    labels = np.argsort(np.argsort(special))[labels]
    return Clustering(
        labels=labels,
        silhouette=head_silhouettes(StandardScaler().fit_transform(points) if scale else points, labels),
        naming=name_types(cluster_groups(points, labels, k), _errors(points, labels, k)),
    )


def partition_of(clustering: Clustering, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    """Make a partition of clustered heads; features: [layer * head, column], as clustered; shape: layers, heads."""
    labels, naming = clustering.labels, clustering.naming
    types, doubts = (np.array(of_clusters, dtype=object)[labels] for of_clusters in (naming.names, naming.doubts))
    about = {"cluster": labels, "types": types, "silhouette": clustering.silhouette, "doubtful": doubts != ""}
    return build_partition(features, shape, **about)


def fit(points: np.ndarray, *, method: str, k: int, scale: bool, restarts: int, seed: int) -> np.ndarray:
    """Divide points [point, column] into k clusters: [point] int, 0..k-1, in no particular order; as `cluster_heads`.

    method: any of `names.MIXTURES`, too. Raises `IndivisibleError` where there are fewer distinct points than clusters,
        or where the method leaves a cluster without a point.
    """
    labels, _ = _fit(points, method=method, k=k, scale=scale, restarts=restarts, seed=seed)
    sizes = np.bincount(labels, minlength=k)
    if (sizes == 0).any():
        raise IndivisibleError(
            f"The method {method!r} left {(sizes == 0).sum()} of {k} clusters without a head: "
            "choose fewer clusters or the method 'kmeans'."
        )
    return labels


def fit_and_predict(
    train: np.ndarray, features: np.ndarray, *, method: str, k: int, scale: bool, restarts: int, seed: int
) -> np.ndarray:
    """Fit clusters on some heads, [train head, column], and return the cluster of every head, [head] int, in no order.

    Agglomerative and spectral clustering have no rule for heads that they were not fitted on: all heads, those they
    were fitted on too, go to the cluster with the nearest centroid.
    """
    _, predict = _fit(train, method=method, k=k, scale=scale, restarts=restarts, seed=seed)
    return predict(features.astype(float))


def head_silhouettes(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the silhouette of each head, [head], -1 to 1 (Rousseeuw 1987); 0 for one alone, NaN for one cluster."""
    clusters = len(np.unique(labels))
    if clusters == 1:
        return np.full(len(labels), np.nan)
    if clusters == len(labels):
        return np.zeros(len(labels))
    with one_thread():
        return silhouette_samples(features, labels)


def one_thread():
    """Return a context with one thread in numeric libraries: several would add up sums in an order that changes."""
    return _libraries().limit(limits=1)


@cache
def _libraries() -> ThreadpoolController:
    # Once, since finding the libraries that a process has loaded takes as long as clustering heads does.
    return ThreadpoolController()


def _fit(
    points: np.ndarray, *, method: str, k: int, scale: bool, restarts: int, seed: int
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return the clusters of `points`, and a function from features to clusters; errors as of `fit`."""
    points = points.astype(float)
    distinct = len(np.unique(points, axis=0))
    if k > distinct:
        raise IndivisibleError(
            f"{k} clusters need at least {k} different heads to fit, and there are {distinct}: lower k."
        )
    rescale = StandardScaler().fit(points).transform if scale else lambda features: features
    points = rescale(points)
    with one_thread():
        match method:
            case "kmeans":
                # No tolerance: a run ends when no head changes its cluster any more.
                model = KMeans(k, n_init=restarts, max_iter=1000, tol=0, random_state=seed).fit(points)
                labels, predict = model.labels_, model.predict
            case _ if method in MIXTURES:
                # The method of the config is diagonal: the features sum to one, so that a full covariance is
                # singular but for the floor, and a cluster may have fewer heads than the features have columns.
                # The floor on the variances keeps columns that are nearly constant (far bins) from deciding
                # alone; of the floors from 1e-4 to 1e-1 of the mean variance this one gave clusters that
                # depended least on the seed.
                floor = 0.1 * points.var(axis=0).mean()
                model = GaussianMixture(
                    k,
                    covariance_type=MIXTURES[method],
                    reg_covar=floor,
                    n_init=restarts,
                    max_iter=1000,
                    random_state=seed,
                ).fit(points)
                labels, predict = model.predict(points), model.predict
            case "agglomerative":
                labels = AgglomerativeClustering(k, linkage="ward").fit_predict(points)
                predict = _nearest_centroid(_means(points, labels, k))
            case "spectral":
                # On the graph of nearest neighbours: under a Gaussian kernel single heads became clusters. Its
                # solver needs more heads than clusters; where there are as many, each head is a cluster.
                model = SpectralClustering(
                    k,
                    affinity="nearest_neighbors",
                    n_neighbors=min(10, len(points)),
                    n_init=restarts,
                    random_state=seed,
                )
                labels = model.fit_predict(points) if k < len(points) else np.arange(k)
                predict = _nearest_centroid(_means(points, labels, k))

    def predict_labels(features: np.ndarray) -> np.ndarray:
        with one_thread():
            return predict(rescale(features))

    return labels, predict_labels


def _nearest_centroid(centroids: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda points: pairwise_distances_argmin(points, centroids)


def _means(points: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    return np.stack([points[labels == of].sum(axis=0) / max(1, (labels == of).sum()) for of in range(k)])


def cluster_groups(features: np.ndarray, labels: np.ndarray, k: int) -> Groups:
    """Return near, special and far of the centroids of k clusters.

    features: [head, column], unscaled; labels: [head] int, 0..k-1.
    """
    return attention_groups(_means(features.astype(float), labels, k))


def _errors(points: np.ndarray, labels: np.ndarray, k: int) -> Groups:
    """Return standard errors of `cluster_groups` over the heads of each cluster."""
    centroids = cluster_groups(points, labels, k)
    apart = {
        name: (shares - getattr(centroids, name)[labels]) ** 2
        for name, shares in vars(attention_groups(points)).items()
    }
    sizes = np.bincount(labels, minlength=k)
    return Groups(
        **{
            name: np.sqrt(np.bincount(labels, squares, k) / np.maximum(1, sizes - 1) / sizes)
            for name, squares in apart.items()
        }
    )


def import_partition(csv_path: StrPath, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    """Import the user's CSV; errors as in `read_types`.

    features: [layer * head, column] distance features; shape: number of layers, heads in a layer.
    Clusters are counted in the order of `order_types`; silhouettes are those of unscaled features; no name is doubtful.
    """
    types = read_types(csv_path, shape).reshape(-1)
    order = order_types(types)
    cluster = np.array([order.index(name) for name in types])
    silhouette = head_silhouettes(features.astype(float), cluster)
    return build_partition(features, shape, cluster=cluster, types=types, silhouette=silhouette, doubtful=False)


_KINDS = {"layer": int, "head": int, "x": np.float32, "y": np.float32}


def embed_heads(features: np.ndarray, shape: tuple[int, int], seed: int) -> pd.DataFrame:
    """Lay the heads out in two dimensions so that neighbours stay neighbours (t-SNE, van der Maaten and Hinton 2008).

    features: [layer * head, column] head features; shape: layers, heads in a layer; seed: 0 to 2**32 - 1.
    returns one row per head: layer, head (both from 0), x and y, without unit; distances between groups mean nothing.
    """
    perplexity = min(30.0, (len(features) - 1) / 3)
    # One thread: more would add up forces in an order that changes from run to run.
    with threadpool_limits(1):
        tsne = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=seed)
        places = tsne.fit_transform(features.astype(float))
    return per_head(shape, {"x": places[:, 0], "y": places[:, 1]}).astype(_KINDS)


def run_import(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    features, shape = read_head_features(inputs.features, **spec)
    write_partition(outputs.partition, import_partition(inputs.table, features, shape))


def match_clusters(partition: Partition, parent_partition: Partition) -> dict[str, str]:
    """Return the parent's cluster that each cluster of the model is matched with, by the names of their types.

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
    """Return the rows and columns that `match_clusters` matches; together: number of heads in both, [name, name]."""
    # Equal names break ties alone: together they count less than one head.
    return linear_sum_assignment((len(together) + 1) * together + np.eye(len(together)), maximize=True)


def matched_clusters(partition: Partition, parent_partition: Partition) -> np.ndarray:
    """Tell which heads are in the same cluster as in the model's parent, by `match_clusters`: [layer, head] bool.

    Unrelated partitions agree on some heads by chance; the adjusted Rand index is corrected for that.
    """
    match = match_clusters(partition, parent_partition)
    partner = [match.get(name) for name in partition.type_of.reshape(-1)]
    return np.array(partner, dtype=object).reshape(partition.shape) == parent_partition.type_of


def compare_partitions(partition: Partition, parent_partition: Partition) -> dict[str, float]:
    """Measure how alike a model and its parent divide the same heads; raises `InputError` where these differ in shape.

    Returns same_type, percent of the heads whose type has the same name in both; same_cluster, percent of those that
    keep their cluster (`matched_clusters`); adjusted_rand, the adjusted Rand index (Hubert and Arabie 1985): 1 for
    equal
    divisions whatever the types' names, 0 on average for chance.
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
