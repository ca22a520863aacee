"""Heads removed in growing sets, so that their number is told apart from their kind."""

import numpy as np
import pandas as pd

from headtypes.errors import InputError
from headtypes.evaluation import Settings, evaluate_all, summary
from headtypes.partitions import Partition
from headtypes.windows import Windows

_POINTS = 8


def growing_sets(order: np.ndarray, points: int = _POINTS) -> list[np.ndarray]:
    """The first heads of an order, none to all, in sets that grow by as evenly as whole heads allow.

    order:  [head, 2] int, layer and head, in the order of removal.
    points: the most sets.
    returns [n, 2] each, the first empty, the last `order`; one set per head and the empty one where there are fewer.
    """
    sizes = np.unique(np.linspace(0, len(order), points).round().astype(int))
    return [order[:size] for size in sizes]


def by_importance(heads: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Heads [head, 2] with the least important first; of equal ones the one that comes first.

    importance: [layer, head].
    """
    return heads[np.argsort(importance[tuple(heads.T)], kind="stable")]


def evaluate_curve(
    rows: list[dict],
    windows: Windows,
    partition: Partition,
    record: dict,
    importance: np.ndarray,
    *,
    type_name: str | None,
    draws: int,
    seed: int,
    **settings,
) -> pd.DataFrame:
    """Score a model while the heads of one type are removed (`zero`) in growing sets.

    rows, windows, partition, record: as in `evaluation.evaluate_condition`.
    importance: [layer, head]; the least important heads go first (Michel et al. 2019, section 4).
    type_name:  the type whose heads are removed, or None for all heads.
    draws:      random orders, beside the one by importance; a further one leaves those before it as they were.
    settings:   fields of `evaluation.Settings`.
    returns     order (importance or random), draw (from 0), heads (how many are removed) and the task's metrics in
        percent, as `evaluation.summary` names them; one row per order and set.
    """
    heads = np.argwhere(np.ones(partition.shape, bool)) if type_name is None else partition.heads_of(type_name)
    if not len(heads):
        raise InputError(f'No head of the model has the type "{type_name}", so there is none to remove.')
    if importance.shape != partition.shape:
        raise InputError("The importance of heads was measured on another model than this; measure it on this one.")
    orders = {("importance", 0): by_importance(heads, importance)}
    for draw in range(draws):
        orders["random", draw] = np.random.default_rng([seed, draw]).permutation(heads)
    steps = [(*name, removed) for name, order in orders.items() for removed in growing_sets(order)]
    wanted = [_removal(removed, partition.shape) for _, _, removed in steps]
    what = f"{record['name']}, {type_name or 'all'} heads removed"
    found = evaluate_all(rows, windows, record, wanted, None, Settings(**settings), what)
    table = []
    for (order, draw, removed), (_, scores) in zip(steps, found, strict=True):
        metrics = {name: value for name, value in summary(scores).items() if not name.startswith("n_")}
        table.append({"order": order, "draw": draw, "heads": len(removed), **metrics})
    return pd.DataFrame(table)


def _removal(heads: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    operations = np.full(shape, "keep", dtype=object)
    operations[tuple(heads.T)] = "zero"
    return operations
