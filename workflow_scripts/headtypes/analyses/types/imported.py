"""A division of heads into types that the user made, imported from CSV."""

from pathlib import Path

import numpy as np

from headtypes.analyses.types.clustering import head_silhouettes
from headtypes.analyses.types.partition_rows import read_partition_rows
from headtypes.analyses.types.partitions import Partition, build_partition, order_types


def import_partition(csv_path: str | Path, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    """Import the user's CSV, with the columns layer, head (both from 0) and type, in any order of rows.

    features: [layer * head, column] distance features; shape: number of layers, heads in a layer.

    Clusters are counted in the order of `order_types`; silhouettes are those of the unscaled features; other
    columns of the file are ignored and no name is doubtful. Raises `InputError` as `read_partition_rows` does.
    """
    type_of = np.empty(shape, dtype=object)
    for _, head, type_name in read_partition_rows(csv_path, shape):
        type_of[head] = type_name
    types = type_of.reshape(-1)
    order = order_types(types)
    cluster = np.array([order.index(name) for name in types])
    silhouette = head_silhouettes(features.astype(float), cluster)
    return build_partition(features, shape, cluster=cluster, types=types, silhouette=silhouette, doubtful=False)
