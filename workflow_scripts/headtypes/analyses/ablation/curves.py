"""Heads removed in growing sets, to separate the effect of their number from that of their kind."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.curve_sets import POINTS
from headtypes.analyses.ablation.evaluation import Settings, evaluate_all, read_answered
from headtypes.analyses.ablation.results import read_importance
from headtypes.analyses.types.names import ALL
from headtypes.analyses.types.partitions import Partition
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.registry import KINDS
from headtypes.data.windows import Windows, draw_part
from headtypes.models.records import ModelRecord


def growing_sets(order: np.ndarray, also: Iterable[int] = ()) -> list[np.ndarray]:
    """The first heads of an order [head, 2], in `POINTS` sets or fewer that grow evenly to all; also: more sizes."""
    sizes = np.unique([*np.linspace(0, len(order), POINTS).round().astype(int), *also])
    return [order[:size] for size in sizes]


def evaluate_curves(
    rows: list,
    windows: Windows,
    partition: Partition,
    record: ModelRecord,
    importance: np.ndarray,
    *,
    orders: int,
    questions: int | str,
    seed: int,
    **settings,
) -> pd.DataFrame:
    """Score a model while the heads of one type, or of all, are removed (`zero`) in growing sets.

    rows, windows, partition, record, settings: as in `evaluation.evaluate_condition`.
    importance: [layer, head]; the least important heads go first (Michel et al. 2019, section 4).
    orders: number of random orders, besides the one by importance; more orders do not change the first ones.
    questions: of the rows, drawn at random, or "all".
    returns type (or all), order (importance or random), draw (from 0), heads (how many are removed) and the task's
        metrics in percent, as `Kind.mean_scores` names them; one row per type, order and set.
    """
    rows, windows = draw_part(rows, windows, questions, seed)
    heads = {type_: np.argwhere(partition.type_of == type_) for type_ in partition.types}
    # The curve of all heads also has a set as large as each type.
    sizes = {ALL: list(map(len, heads.values()))}
    heads[ALL] = np.argwhere(np.ones(partition.shape, bool))
    steps = [
        (type_, *name, removed)
        for type_, of_type in heads.items()
        for name, order in _orders(of_type, importance, orders, seed).items()
        for removed in growing_sets(order, also=sizes.get(type_, ()))
    ]
    wanted = [_removal(removed, partition.shape) for *_, removed in steps]
    chosen = Settings(**settings)
    evaluated = evaluate_all(rows, windows, record, wanted, None, chosen, f"{record.name}, heads removed")
    table = []
    for (type_, order, draw, removed), (_, scores) in zip(steps, evaluated, strict=True):
        means = KINDS[chosen.kind].mean_scores(scores)
        metrics = {name: value for name, value in means.items() if not name.startswith("n_")}
        table.append({"type": type_, "order": order, "draw": draw, "heads": len(removed), **metrics})
    return pd.DataFrame(table)


def _orders(heads: np.ndarray, importance: np.ndarray, orders: int, seed: int) -> dict[tuple[str, int], np.ndarray]:
    least_first = heads[np.argsort(importance[tuple(heads.T)], kind="stable")]
    random = {("random", draw): np.random.default_rng([seed, draw]).permutation(heads) for draw in range(orders)}
    return {("importance", 0): least_first, **random}


def _removal(heads: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    operations = np.full(shape, "keep", dtype=object)
    operations[tuple(heads.T)] = "zero"
    return operations


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `evaluate_curves`."""
    answered = read_answered(inputs.questions, inputs, spec["kind"])
    write_csv(outputs.curves, evaluate_curves(*answered, read_importance(inputs.importance), **spec))
