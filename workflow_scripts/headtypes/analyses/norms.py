"""Weights and norms side by side: what heads look at, and how they are divided into types, by either."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from headtypes.analyses.declaration import Analysis, Column, by_head, summaries
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, stage

if TYPE_CHECKING:
    import pandas as pd

    from headtypes.analyses.distances.features import Groups
    from headtypes.analyses.types.partitions import Partition
    from headtypes.attention.reducers import Of

SHARES = ("near", "special", "far")
BY_NORMS = {name: f"{name}_by_norms" for name in SHARES}


@stage(calls="analyses.norms:run")
def compare_norms(plan: Plan, model: str, task: str) -> dict:
    # A partition by norms is compared with the one by weights of the same clustering method and number of types.
    ways: dict[str, dict[str, str]] = defaultdict(dict)
    for partition in plan.clustered_on(model, task):
        ways[f"{partition.method}-k{partition.k}"][partition.of] = partition.name
    return {
        "features": {of: plan.config.clustering.features(of) for of in ("weights", "norms")},
        "divisions": {name: of for name, of in ways.items() if len(of) == 2},
    }


def shares_table(weights: Groups, norms: Groups, shape: tuple[int, int]) -> pd.DataFrame:
    from headtypes.core.table_files import head_table

    by_norms = {BY_NORMS[name]: getattr(norms, name) for name in SHARES}
    return head_table(shape, {**vars(weights), **by_norms})


def compare_divisions(divisions: Mapping[str, Mapping[Of, Partition]]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from headtypes.analyses.types.clustering import compare_partitions, matched_clusters
    from headtypes.core.table_files import head_name

    rows = []
    for name, of in divisions.items():
        pair = of["norms"], of["weights"]
        changed = " ".join(head_name(*head) for head in np.argwhere(~matched_clusters(*pair)))
        row = {"clustering": name, "heads": pair[0].type_of.size, **compare_partitions(*pair)}
        rows.append(row | {"changed": changed})
    return pd.DataFrame(rows, columns=["clustering", "heads", "adjusted_rand", "same_type", "same_cluster", "changed"])


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    from headtypes.analyses.distances.features import attention_groups, read_head_features
    from headtypes.analyses.types.partitions import read_partition
    from headtypes.core.table_files import write_csv

    read = {of: read_head_features(inputs.features, **reading) for of, reading in spec["features"].items()}
    groups, (_, shape) = {of: attention_groups(features) for of, (features, _) in read.items()}, read["weights"]
    write_csv(outputs.heads, shares_table(**groups, shape=shape))
    divisions = {
        name: {of: read_partition(inputs.partitions[partition]) for of, partition in pair.items()}
        for name, pair in spec["divisions"].items()
    }
    write_csv(outputs.types, compare_divisions(divisions))


def read_shares(path: StrPath) -> pd.DataFrame:
    from headtypes.core.table_files import table_reader

    columns = dict.fromkeys(("layer", "head", *SHARES, *BY_NORMS.values()))
    return by_head(table_reader("holds no shares of weights and norms", columns)(path))


def per_head(task: str, path: StrPath) -> list:
    table, group = read_shares(path), f"Weights and norms on {task}"
    note = "Share of attention, by {} (near: the token itself and the nearest bin of distances)."
    return [
        Column(f"norms.{task}.{column}", f"{name}, by {of}", group, 100 * table[column], "%", note=note.format(of))
        for name, by_norms in BY_NORMS.items()
        for of, column in (("weights", name), ("norms", by_norms))
    ]


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    table = read_shares(path)
    for column in BY_NORMS.values():
        yield from summaries("norms", task, column, table[column].to_numpy())


_compared = partial(Result, rule="compare_norms", of=lambda plan: plan.with_norms)
HEADS = _compared(
    "results/norms/{model}/{task}.csv",
    about="what heads look at by weights and by norms",
    name="norms",
    content="where norms are read, for each head: `near`, `special`, `far` by weights and, as `near_by_norms` and so "
    "on, by [norms](../understand/method.md#norms)",
)
DIVISIONS = _compared(
    "results/norms/{model}/{task}.types.csv",
    about="types of heads by weights beside those by norms",
    name="norms_types",
    content="where heads are divided by both, for each method and number of types: how far both divisions agree "
    "(`adjusted_rand`, at most 1; `same_type` and `same_cluster`, in percent), and the heads `changed`",
)
NORMS = Analysis(
    "norms",
    "share of norms (mean of the heads)",
    section="Heads and types",
    files=(HEADS,),
    results=(HEADS, DIVISIONS),
    stages=(compare_norms,),
    per_head=per_head,
    per_set=per_set,
    repeats=("near", "special", "far"),
)
