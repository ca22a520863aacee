"""Controls of a condition: the same operations on equally many heads, drawn at random in each layer."""

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.evaluation import Settings, evaluate_all
from headtypes.analyses.types.partitions import Partition
from headtypes.attention.operations import operations_by_head
from headtypes.core.errors import InputError
from headtypes.data.windows import Windows, draw_part
from headtypes.models.records import ModelRecord


def sample_heads(operations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Apply the operations of each layer to heads drawn at random from all heads of that layer.

    operations: [layer, head] text.
    returns     [layer, head] text; each operation occurs in each layer as often as before.
    """
    return np.stack([rng.permutation(layer) for layer in operations])


def overlap(drawn: np.ndarray, operations: np.ndarray) -> float:
    """Of the heads that a condition changes, the share (0 to 1) that a draw changes in the same way.

    drawn, operations: [layer, head] text, of the draw and of the condition. If the condition treats all heads of each
    layer alike, every draw equals the condition, and the share is 1.
    """
    return float((drawn == operations)[operations != "keep"].mean())


def evaluate_controls(
    rows: list,
    windows: Windows,
    partition: Partition,
    record: ModelRecord,
    head_outputs: np.ndarray | None = None,
    *,
    condition: str,
    operations: dict[str, str],
    draws: int,
    questions: int | str,
    seed: int,
    **settings,
) -> pd.DataFrame:
    """Score a model under several random draws of a condition's heads; otherwise as `evaluation.evaluate_condition`.

    draws:     number of draws; more draws do not change the first ones.
    questions: of the rows, drawn at random, or "all".
    returns draw (from 0), the columns of the condition's own scores, and overlap (0 to 1), one row per draw and
        question or pair.
    """
    by_head = operations_by_head(partition.type_of, operations, condition)
    if (by_head == "keep").all():
        raise InputError(f"conditions.{condition} changes no head, so none can be drawn; leave its controls out.")
    drawn = [sample_heads(by_head, np.random.default_rng([seed, draw])) for draw in range(draws)]
    rows, windows = draw_part(rows, windows, questions, seed)
    what = f"{record.name}, controls of {condition}"
    evaluated = evaluate_all(rows, windows, record, drawn, head_outputs, Settings(**settings), what)
    tables = []
    for draw, (_, scores) in enumerate(evaluated):
        scores = scores.assign(overlap=overlap(drawn[draw], by_head))
        scores.insert(0, "draw", draw)
        tables.append(scores)
    return pd.concat(tables, ignore_index=True)
