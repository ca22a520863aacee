"""Heads by weights and by norms, and the types that either divides them into."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.distances.columns import Groups, attention_groups
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.types.clustering import compare_partitions, matched_clusters
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.attention.reducers import Of
from headtypes.core.heads import head_name, per_head
from headtypes.core.table_files import table_reader, write_csv

SHARES = ("near", "special", "far")
BY_NORMS = {name: f"{name}_by_norms" for name in SHARES}
# Of the table of `shares_table`.
read_shares = table_reader(
    "holds no shares of weights and norms", dict.fromkeys(("layer", "head", *SHARES, *BY_NORMS.values()))
)


def shares_table(weights: Groups, norms: Groups, shape: tuple[int, int]) -> pd.DataFrame:
    """Return one row per head, layer by layer: layer, head (both from 0), and near, special and far by either, 0 to 1.

    shape: layers, heads of a layer.
    """
    by_norms = {BY_NORMS[name]: getattr(norms, name) for name in SHARES}
    return per_head(shape, {**vars(weights), **by_norms})


def compare_divisions(divisions: Mapping[str, Mapping[Of, Partition]]) -> pd.DataFrame:
    """Compare divisions of the same heads by weights and by norms, by way of clustering.

    There is one row per way: clustering; heads; adjusted_rand, same_type, same_cluster: as
    `clustering.compare_partitions`
      has them; changed: the heads that are in another cluster by norms, `layer-head` from 1, with spaces between.
    """
    rows = []
    for name, of in divisions.items():
        pair = of["norms"], of["weights"]
        changed = " ".join(head_name(*head) for head in np.argwhere(~matched_clusters(*pair)))
        row = {"clustering": name, "heads": pair[0].type_of.size, **compare_partitions(*pair)}
        rows.append(row | {"changed": changed})
    return pd.DataFrame(rows, columns=["clustering", "heads", "adjusted_rand", "same_type", "same_cluster", "changed"])


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    read = {of: read_head_features(inputs.features, **reading) for of, reading in spec["features"].items()}
    groups, (_, shape) = {of: attention_groups(features) for of, (features, _) in read.items()}, read["weights"]
    write_csv(outputs.heads, shares_table(**groups, shape=shape))
    divisions = {
        name: {of: read_partition(inputs.partitions[partition]) for of, partition in pair.items()}
        for name, pair in spec["divisions"].items()
    }
    write_csv(outputs.types, compare_divisions(divisions))
