"""The types of one model beside those of the model that it was fine-tuned from."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from headtypes.base.errors import InputError
from headtypes.base.table_files import read_csv
from headtypes.types.partitions import Partition

COLUMNS = ["model", "parent", "same_type", "same_cluster", "adjusted_rand"]


def compare_partitions(partition: Partition, parent_partition: Partition) -> dict[str, float]:
    """How similarly a model and its parent divide the same heads.

    returns same_type, the percent of the heads whose type has the name that it has in the parent; same_cluster, the
        percent that keep their cluster, as `kept_clusters` matches them; adjusted_rand, the adjusted Rand index (Hubert
        and Arabie 1985): 1 for equal divisions whatever the types' names, 0 on average for chance.
    Raises `InputError` where the models differ in layers or heads.
    """
    kept = kept_clusters(partition, parent_partition)
    ours, theirs = partition.type_of.reshape(-1), parent_partition.type_of.reshape(-1)
    return {
        "same_type": 100 * float((ours == theirs).mean()),
        "same_cluster": 100 * float(kept.mean()),
        "adjusted_rand": float(adjusted_rand_score(theirs, ours)),
    }


def kept_clusters(partition: Partition, parent_partition: Partition) -> np.ndarray:
    """Which heads a model has in the cluster in which its parent has them, whatever the clusters' names: [layer, head].

    Clusters are matched one to one so that as many heads as possible keep theirs (Kuhn 1955, the Hungarian method), as
    in the stability of clusterings: names of clusters that were fitted anew swap, and matching by the heads needs no
    scale in which to compare centroids. It is the largest share that any matching gives, so that it is also above zero
    for unrelated divisions; the adjusted Rand index says how far it is from chance. A cluster without a partner, where
    one model has more clusters, keeps no head. Raises `InputError` where the models differ in layers or heads.
    """
    if partition.shape != parent_partition.shape:
        raise InputError(
            "A model and its parent differ in shape ({} x {} and {} x {} layers x heads), so that their heads cannot "
            "be compared; correct the model's parent.".format(*partition.shape, *parent_partition.shape)
        )
    ours, theirs = (pd.Series(it.type_of.reshape(-1)) for it in (partition, parent_partition))
    together = pd.crosstab(ours, theirs)
    places, parent_places = linear_sum_assignment(together.to_numpy(), maximize=True)
    partner = dict(zip(together.index[places], together.columns[parent_places], strict=True))
    return (ours.map(partner) == theirs).to_numpy().reshape(partition.shape)


def comparison_table(partitions: Mapping[str, Partition], parents: Mapping[str, str | None]) -> pd.DataFrame:
    """One row, with the columns `COLUMNS`, for each model whose parent has a partition too.

    partitions: by model, all made in one way; parents: by model, the checkpoint it was fine-tuned from, or None.
    """
    rows = [
        {"model": model, "parent": parents[model], **compare_partitions(partition, partitions[parents[model]])}
        for model, partition in partitions.items()
        if parents.get(model) in partitions
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def read_comparison(path: str | Path) -> pd.DataFrame:
    """Read a table of `comparison_table` that was written as CSV. Raises `InputError` that names a damaged file."""
    # A name may be a number, or what pandas takes for a missing value.
    kinds = {"model": str, "parent": str, "same_type": float, "same_cluster": float, "adjusted_rand": float}
    otherwise = "is not a comparison of models with their parents"
    return read_csv(path, otherwise, COLUMNS, rows=0, dtype=kinds, keep_default_na=False)
