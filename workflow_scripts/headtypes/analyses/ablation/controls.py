"""Controls of a condition: its operations on as many heads, or as much attention of the same heads, at random."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.control_drops import FAMILIES, LAYER, MASS, PROFILE, further_draws
from headtypes.analyses.ablation.evaluation import Settings, evaluator, read_answered
from headtypes.analyses.ablation.results import metrics_in, read_head_outputs, sizes_in, write_scores
from headtypes.analyses.types.partitions import Partition, profile_groups
from headtypes.attention.operations import operations_by_head
from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import EQUAL, mean_over
from headtypes.core.table_files import read_parquet
from headtypes.data.kinds.metrics import Metric, tested_metric
from headtypes.data.windows import Windows, draw_part
from headtypes.models.records import ModelRecord

# Why there are no more draws.
ALL_DRAWN, UNDECIDABLE = "all were drawn", "p is above 5 %"


def sample_heads(operations: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Apply the operations [layer, head] of each group to heads drawn from all of it; groups: [layer, head] int."""
    drawn = operations.copy()
    for group in np.unique(groups):
        drawn[groups == group] = rng.permutation(operations[groups == group])
    return drawn


def same_mass(operations: np.ndarray, seed: int) -> np.ndarray:
    """The operations [layer, head] with as much attention, at the same distances, dropped from pairs at random."""
    taken = {f"drop_{pairs}": f"mass_{pairs} {seed}" for pairs in ("intra", "inter")}
    return np.vectorize(lambda operation: taken.get(operation, operation), otypes=[object])(operations)


def overlap(drawn: np.ndarray, operations: np.ndarray) -> float:
    """Of the heads that a condition changes, the share that a draw changes in the same way; both [layer, head]."""
    return float((drawn == operations)[operations != "keep"].mean())


def evaluate_controls(
    rows: list,
    windows: Windows,
    partition: Partition,
    record: ModelRecord,
    scores: pd.DataFrame,
    head_outputs: np.ndarray | None = None,
    *,
    condition: str,
    operations: dict[str, str],
    draws: int,
    questions: int | str,
    profile: bool,
    mass: bool,
    all_draws: bool,
    seed: int,
    **settings,
) -> pd.DataFrame:
    """Score a model under random draws of a condition's heads; otherwise as `evaluation.evaluate_condition`.

    scores: of each question under the condition itself.
    draws: the largest number of draws of a family; more do not change the first ones. There are fewer where, in the
        score by which they are tested (`tested_metric`), so many cost at least as much as the condition that the p of
        `control_drops.sequential_p` stays above 5 %, unless `all_draws`, for draws that other models have, too.
    questions: of the rows, drawn at random, or "all"; profile: whether heads that look alike are drawn, too; mass:
        whether pairs of the same heads are drawn, too, with as much attention at the same distances, where the
        condition drops any.
    seed: with equal ones, heads of a layer are permuted in the same way in all models of a shape.
    returns family, draw (from 0), the columns of the condition's own scores, overlap (0 to 1; NaN where the heads are
        the same), planned (the largest number of draws) and stopped (why there are no more), one row per family, draw
        and question or pair.
    """
    by_head = operations_by_head(partition.type_of, operations, f"conditions.{condition}")
    rows, windows = draw_part(rows, windows, questions, seed)
    own = scores[scores["id"].isin(windows.question_ids)].reset_index(drop=True)
    groups = {LAYER: np.indices(by_head.shape)[0], **({PROFILE: profile_groups(partition)} if profile else {})}
    families = {
        family: lambda draw, family=family, of_heads=of_heads: sample_heads(
            by_head, of_heads, np.random.default_rng([seed, FAMILIES[family], draw])
        )
        for family, of_heads in groups.items()
    }
    if mass and np.char.startswith(by_head.astype(str), "drop_").any():
        families[MASS] = lambda draw: same_mass(by_head, derive_seed(seed, MASS, draw))
    what, chosen = f"{record.name}, controls of {condition}", Settings(**settings)
    tables = []
    with evaluator(rows, windows, record, head_outputs, chosen, what, draws * len(families)) as evaluate:
        for family, draw in families.items():
            drawn = [
                of_draw.assign(family=family) for of_draw in _drawn(draw, evaluate, by_head, own, draws, all_draws)
            ]
            tables += [of_draw.assign(overlap=np.nan) for of_draw in drawn] if family == MASS else drawn
    scored = pd.concat(tables, ignore_index=True)
    return scored[["family", "draw", *own.columns, "overlap", "planned", "stopped"]]


def _drawn(
    draw: Callable[[int], np.ndarray],
    evaluate: Callable,
    operations: np.ndarray,
    own: pd.DataFrame,
    draws: int,
    all_draws: bool,
) -> Iterator[pd.DataFrame]:
    """The scores of one draw after another, until the metric by which they are tested is decided, or all are drawn.

    draw: the operations [layer, head] of the draw of this number.
    """
    tables, reached, tested = [], np.empty(0, bool), tested_metric([metric.name for metric in metrics_in(own)])
    # No fewer draws can decide, so that none is made in vain if they are evaluated together.
    while number := draws - len(tables) if all_draws else further_draws(reached, draws):
        numbers = range(len(tables), len(tables) + number)
        drawn = [draw(number) for number in numbers]
        # A draw that is the condition itself costs exactly as much, however its windows would be batched.
        evaluated = iter(evaluate([heads for heads in drawn if (heads != operations).any()]))
        for heads in drawn:
            scores = next(evaluated)[1] if (heads != operations).any() else own
            reached = np.append(reached, _costs_as_much(scores, own, tested))
            tables.append(scores.assign(draw=len(tables), overlap=overlap(heads, operations), planned=draws))
    stopped = ALL_DRAWN if len(tables) == draws else UNDECIDABLE
    return (table.assign(stopped=pd.Categorical([stopped] * len(table), [ALL_DRAWN, UNDECIDABLE])) for table in tables)


def _costs_as_much(scores: pd.DataFrame, own: pd.DataFrame, metric: Metric) -> bool:
    """Whether a draw costs at least as much as the condition."""
    before, after = (float(mean_over(table[metric.column].to_numpy(float), sizes_in(table))) for table in (own, scores))
    return metric.drop(before, after) >= -EQUAL


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `evaluate_controls`."""
    scores = evaluate_controls(
        *read_answered(inputs.questions, inputs, spec["kind"]),
        read_parquet(inputs.scores, "holds no scores", ["id"]),
        read_head_outputs(inputs.head_outputs),
        **spec,
    )
    write_scores(outputs.scores, scores, provenance)
