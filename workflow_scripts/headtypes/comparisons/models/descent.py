"""The types of one model beside those of the model that it was fine-tuned from."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from headtypes.analyses.types.partitions import Partition, order_types
from headtypes.analyses.types.stability import check_shapes, compare_partitions, matched_clusters, most_together

COLUMNS = ["model", "parent", "same_type", "same_cluster", "adjusted_rand"]


def kept_by_chance(partition: Partition, parent_partition: Partition, *, permutations: int, seed: int) -> np.ndarray:
    """Percent of the heads that would keep their cluster if each layer had its types in any other order, [permutation].

    Clusters are matched anew for each, as `stability.match_clusters` does. Raises `InputError` where the models differ
    in layers or heads.
    """
    check_shapes(partition, parent_partition)
    names = order_types([*partition.types, *parent_partition.types])
    ours, theirs = (
        np.array([[names.index(name) for name in layer] for layer in it.type_of])
        for it in (partition, parent_partition)
    )
    rng, kept = np.random.default_rng(seed), np.zeros(permutations, dtype=int)
    for index in range(permutations):
        pairs = len(names) * rng.permuted(ours, axis=1) + theirs
        together = np.bincount(pairs.reshape(-1), minlength=len(names) ** 2)
        together = together.reshape(len(names), -1)
        kept[index] = together[most_together(together)].sum()
    return 100 * kept / partition.type_of.size


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


def layers_table(partitions: Mapping[str, Partition], parents: Mapping[str, str | None]) -> pd.DataFrame:
    """One row for each layer of each model.

    partitions, parents: as in `comparison_table`.
    returns model; layer, from 0; heads_{type}, how many of its heads are of each type; same_cluster, the percent of
        its heads that keep the parent's cluster, NaN where no parent has a partition.
    """
    names = order_types(name for partition in partitions.values() for name in partition.types)
    tables = []
    for model, partition in partitions.items():
        table = pd.DataFrame({"model": model, "layer": range(partition.shape[0])})
        for name in names:
            table[f"heads_{name}"] = (partition.type_of == name).sum(axis=1)
        parent = partitions.get(parents.get(model))
        table["same_cluster"] = 100 * matched_clusters(partition, parent).mean(axis=1) if parent else np.nan
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
