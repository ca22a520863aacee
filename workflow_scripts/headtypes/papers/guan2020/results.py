"""Results on disk, read in the shapes that the comparison with the paper takes."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from headtypes.ablation.intervals import read_scores, weighted_sums
from headtypes.base.table_files import read_csv
from headtypes.types.choice_files import read_ways
from headtypes.types.partitions import Partition

Key = tuple[str, str]


def by_key(names: Iterable[Iterable[str]], values: Iterable) -> dict:
    """Map each name to its value; names become tuples again, which JSON had turned into lists."""
    return {tuple(name): value for name, value in zip(names, values, strict=True)}


def read_tables(paths: Iterable[str | Path]) -> pd.DataFrame | None:
    """Tables of ours with the same columns, one below the other; None where there is none."""
    # A name may be a number, or what pandas takes for a missing value.
    names = dict.fromkeys(("model", "partition", "condition"), str)
    options = {"rows": 0, "dtype": names, "keep_default_na": False, "na_values": [""]}
    read = [read_csv(path, "is not a table of this workflow", ["model"], **options) for path in paths]
    return pd.concat(read, ignore_index=True) if read else None


def read_intervals_of(rows: Sequence[dict], paths: Sequence[str | Path], seed: int) -> dict[Key, object]:
    """The intervals of weighted sums of every partition that is evaluated: `intervals.weighted_sums`.

    rows, paths: model, partition and condition of each evaluation, and the file of its scores of each question.
    """
    by_partition: dict[Key, dict[str, str | Path]] = {}
    for row, path in zip(rows, paths, strict=True):
        by_partition.setdefault((row["model"], row["partition"]), {})[row["condition"]] = path
    return {
        key: weighted_sums(dict(zip(files, read_scores(list(files.values())), strict=True)), seed=seed)
        for key, files in by_partition.items()
    }


def read_silhouettes(partitions: Iterable[dict], choices: dict[Key, str | Path]) -> dict[Key, dict[int, float]]:
    """The silhouettes of clusterings that differ from each partition in k alone, by k.

    partitions: model, partition, task, method and distance_bins of each; choices: the table of ways by model and task.
    """
    silhouettes = {}
    for partition in partitions:
        ways = read_ways(choices[partition["model"], partition["task"]])
        ways = ways[(ways["method"] == partition["method"]) & (ways["distance_bins"] == partition["distance_bins"])]
        silhouettes[partition["model"], partition["partition"]] = ways.set_index("k")["silhouette"].dropna().to_dict()
    return silhouettes


def parents_of(partitions: Iterable[dict], read: dict[Key, Partition]) -> dict[Key, Partition]:
    """The partition of each model's parent, made in the same way on the same task, where there is one."""
    parents = {(it["model"], it["partition"]): (it["parent"], it["partition"]) for it in partitions}
    return {key: read[parent] for key, parent in parents.items() if parent in read}
