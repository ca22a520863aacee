"""What was measured of a model's heads at each checkpoint of its training, in one table."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.declaration import Analysis, Files
from headtypes.analyses.detectors.results import read_detector_scores, read_detector_table
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.stability import match_clusters
from headtypes.core.errors import InputError
from headtypes.core.heads import per_head
from headtypes.core.statistics import mean_intervals

COLUMNS = ("analysis", "of", "quantity", "layer", "head", "step", "value", "low", "high", "detected")
# Quantities of types: the heads of each, and of all or those of one at the last step, how many are of it already.
HEADS, FINAL = "heads", "already of the last type"


def trace(
    steps: Mapping[str, int],
    shape: tuple[int, int],
    measured: Mapping[str, Files],
    scores: Files,
    partitions: Files,
    seed: int,
) -> pd.DataFrame:
    """Every quantity of heads that was measured at all checkpoints of a training.

    steps: of each checkpoint, by its name; shape: layers, and heads of each.
    measured: the files of each analysis with values of heads, by the name of the file. scores: of detectors, which the
        intervals of their scores are drawn from. partitions: by clustering, which all checkpoints have.

    returns one row for each quantity, step and head (layer and head from 0), or for each quantity and step of types,
    where these are empty: analysis; of, the task or partition; value, and its interval (low, high) if it has one.
      Those of heads are the columns of the atlas with numbers, by their keys, and of relations the accuracy of each.
      Of detectors, detected says whether the head is of the kind at this step; without correction for their number.
      Of types, `heads: {type}` is their number, and `already of the last type` the percent of all heads that are in
      the cluster that they are in at the last step, with `: {type}` of those that are of the type then. Clusters are
      matched with those of the last step (`stability.match_clusters`), and have the names that these have.
    Raises `InputError` that names a damaged file, or where a checkpoint has other heads than the last one.
    """
    steps = dict(sorted(steps.items(), key=lambda it: it[1]))
    rows = []
    for analysis in ANALYSES:
        read = analysis.traced or analysis.per_head
        for task, found in read_by_step(read, analysis, steps, measured):
            columns = {step: {it.key: it for it in of_step if it.categories is None} for step, of_step in found.items()}
            for key in _shared(columns):
                for step, of_step in columns.items():
                    column = of_step[key]
                    if len(column.values) != shape[0] * shape[1]:
                        raise InputError(f"At step {step} there are other heads than {shape[0]} layers of {shape[1]}.")
                    ends = {"low": column.low, "high": column.high}
                    ends = {name: end for name, end in ends.items() if end is not None}
                    values = {"value": np.asarray(column.values, dtype=float), **ends}
                    about = {"analysis": analysis.name, "of": task, "quantity": key, "step": step}
                    rows.append(per_head(shape, values).assign(**about))
    rows += _types(steps, partitions)
    table = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
    table = table.reindex(columns=list(COLUMNS)).astype({"quantity": str, "layer": "Int64", "head": "Int64"})
    return _with_detected(table, steps, measured.get("detectors", {}), scores, seed)


def read_by_step(
    read: Callable | None, analysis: Analysis, steps: Mapping[str, int], measured: Mapping[str, Files]
) -> Iterator[tuple[str, dict[int, Any]]]:
    """Each task of an analysis, and what one of its hooks reads of it at each step.

    steps, measured: as in `trace`.
    """
    files = [measured.get(file.name, {}) for file in analysis.files]
    for task in dict.fromkeys(task for _, task in files[0]) if read and files else ():
        yield task, {step: read(task, *(of_file[model, task] for of_file in files)) for model, step in steps.items()}


def _shared(columns: Mapping[int, dict]) -> list[str]:
    """The keys of what there is at every step."""
    first, *others = columns.values()
    return [key for key in first if all(key in it for it in others)]


def _types(steps: Mapping[str, int], partitions: Files) -> Iterator[pd.DataFrame]:
    for name in dict.fromkeys(name for _, name in partitions):
        read = {step: read_partition(partitions[model, name]) for model, step in steps.items()}
        last = list(read.values())[-1]
        for step, partition in read.items():
            values = _of_types(partition, last)
            about = {"analysis": "types", "of": name, "step": step}
            yield pd.DataFrame({"quantity": values.keys(), "value": values.values()}).assign(**about)


def _of_types(partition: Partition, last: Partition) -> dict[str, float]:
    """What is said of types, with the clusters of a checkpoint named as those of the last one."""
    match = match_clusters(partition, last)
    types = np.array([match.get(name) for name in partition.type_of.ravel()], dtype=object)
    final = last.type_of.ravel()
    same = types == final
    return {
        **{f"{HEADS}: {name}": float((types == name).sum()) for name in last.types},
        FINAL: 100 * same.mean(),
        **{f"{FINAL}: {name}": 100 * same[final == name].mean() for name in last.types},
    }


def _with_detected(
    table: pd.DataFrame, steps: Mapping[str, int], tables: Files, scores: Files, seed: int
) -> pd.DataFrame:
    """With the intervals of the scores of detectors over sequences, and whether each head is detected."""
    if not tables:
        return table.astype({"detected": "boolean"})
    known = []
    for (model, task), path in tables.items():
        detected = read_detector_table(path)[["detector", "layer", "head", "detected"]]
        of_sequence = read_detector_scores(scores[model, task]).astype({"score": float})
        wide = of_sequence.pivot_table("score", ["detector", "layer", "head"], "sequence")
        low, high = mean_intervals(100 * wide.to_numpy(), seed=seed)
        ends = wide.index.to_frame(index=False).assign(low=low, high=high, step=steps[model])
        known.append(ends.merge(detected, on=["detector", "layer", "head"]))
    found = pd.concat(known).assign(quantity=lambda it: "detector." + it["detector"], analysis="detectors")
    keys = ["analysis", "quantity", "layer", "head", "step"]
    merged = table[[*keys]].merge(found.astype({"layer": "Int64", "head": "Int64"}), "left", keys)
    for column in ("low", "high"):
        table[column] = table[column].astype(float).fillna(merged[column])
    return table.assign(detected=merged["detected"].astype("boolean"))
