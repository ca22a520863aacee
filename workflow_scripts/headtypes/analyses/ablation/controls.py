"""Controls of a condition: its operations on as many heads of the same layers at random."""

from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.evaluation import Evaluator, Settings, read_answered
from headtypes.analyses.ablation.results import read_head_outputs, write_scores
from headtypes.analyses.types.partitions import Partition
from headtypes.attention.operations import operations_by_head
from headtypes.data.windows import Windows, draw_part
from headtypes.models.records import ModelRecord


def overlap(drawn: np.ndarray, operations: np.ndarray) -> float:
    """Return the share of a condition's heads that a draw changes in the same way; both [layer, head]."""
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
    """Score a model under random draws of a condition's heads; otherwise as `evaluation.evaluate_condition`.

    draws: more do not change the first ones; questions: of the rows, drawn at random, or "all".
    returns draw (from 0), the columns of a condition's own scores, and overlap (0 to 1), one row per draw and question
        or pair.
    """
    by_head = operations_by_head(partition.type_of, operations, f"conditions.{condition}")
    rows, windows = draw_part(rows, windows, questions, seed)
    drawn = [np.random.default_rng([seed, draw]).permuted(by_head, axis=1) for draw in range(draws)]
    evaluator = Evaluator(rows, windows, record, head_outputs, Settings(**settings))
    evaluated = evaluator.evaluate(drawn, f"{record.name}, controls of {condition}")
    tables = []
    for draw, (heads, (_, scores)) in enumerate(zip(drawn, evaluated, strict=True)):
        table = scores.assign(overlap=overlap(heads, by_head))
        table.insert(0, "draw", draw)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    answered = read_answered(inputs.questions, inputs, spec["kind"])
    write_scores(
        outputs.scores, evaluate_controls(*answered, read_head_outputs(inputs.head_outputs), **spec), provenance
    )
