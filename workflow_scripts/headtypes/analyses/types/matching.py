"""Two divisions of the same heads compared: clusters of two partitions matched by their heads."""

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from headtypes.analyses.types.partitions import Partition, order_types
from headtypes.core.errors import InputError


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
