"""Ablation, and the importance of heads, as analyses: their rules and results, and what of them is shown where.

What a model answers while some of its heads are removed or changed, and which heads matter.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from headtypes.analyses.ablation.curve_sets import most_sets
from headtypes.analyses.declaration import Analysis, samples_of, share_of
from headtypes.attention.operations import seeded
from headtypes.core.files import StrPath
from headtypes.core.results import ARTICLES, TEXT, Result
from headtypes.core.stage import Plan, given, of_inputs_alone, stage


def per_head(task: str, path: StrPath) -> list:
    """The gradient-based importance of each head."""
    from headtypes.analyses.ablation.results import read_importance
    from headtypes.analyses.per_head import Column

    note = "How much the loss depends on the head, by gradients (Michel et al. 2019); each layer's vector has length 1."
    values = read_importance(path).ravel()
    return [Column(f"importance.{task}", f"importance on {task}", "Importance", values, note=note)]


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    """Mean, smallest and largest importance of a head, as normalised in its layer."""
    from headtypes.analyses.ablation.results import read_importance
    from headtypes.analyses.per_set import summaries

    yield from summaries("importance", task, "normalised", read_importance(path))


OF_CONDITION = "results/ablation/{model}/{partition}/{condition}/"
_of_condition = partial(
    Result, rule="evaluate_condition", about="scores of the model under a condition", of=lambda plan: plan.ablations
)
ANSWERS = _of_condition(
    OF_CONDITION + "predictions.json",
    name="predictions",
    content="question id to answer, as SQuAD's official evaluator reads it; of multiple choice, the choice by "
    "its whole likelihood; empty for a text",
    withheld=TEXT,
)
METRICS = _of_condition(
    OF_CONDITION + "metrics.json",
    name="metrics",
    content="the scores, and how many questions they are from; of multiple choice accuracy and "
    "accuracy_normalised; of a text loss, perplexity, and how many documents and tokens",
)
SCORES = _of_condition(
    OF_CONDITION + "per_question.parquet",
    name="scores",
    content="the scores of each question, with its article; of multiple choice, what is right and what is "
    "chosen, and the log-likelihood of the right choice; of a text, loss (summed, in nats) and "
    "predicted tokens of each document",
    withheld=TEXT,
)
INTERVALS = Result(
    "results/ablation/{model}/{partition}/intervals.csv",
    "measure_intervals",
    "intervals of all scores and drops",
    of=lambda plan: plan.ablated,
    name="intervals",
    content="intervals of all scores and drops, over questions and over articles; `..._low`, `..._high` over "
    "questions, and with `_by_article` over articles; `drop_..._p`: p-value of a drop of zero; "
    "`drop_..._fdr`: the same p-value corrected over all conditions of the partition (Benjamini and Hochberg)",
)
CONTROLS = Result(
    "results/controls/{model}/{partition}/{condition}.parquet",
    "evaluate_controls",
    "scores of each question with random heads left out",
    of=lambda plan: plan.controlled,
    name="controls",
    content="the same condition on random heads: scores of each question and draw of each `family` of heads (`layer`, "
    "`profile`) or of pairs of the same heads (`mass`), the overlap with the type, the largest number of "
    "draws (`planned`) and why there are no more (`stopped`)",
    withheld=ARTICLES,
)
CONTROLS_FIGURE = Result(
    "results/controls/{model}/{partition}.{pdf,png}",
    "plot_controls",
    "drops beside those with random heads",
    of=lambda plan: plan.beside_random_heads,
    content="the drop of each condition beside those of its draws of random heads, as a figure",
)
WEIGHTED = Result(
    "results/importance/{model}/{task}.csv",
    "measure_importance",
    "importance of each head by the gradient",
    of=lambda plan: plan.weighted,
    name="importance",
    content="importance of each head by the gradient; `normalised`: divided by the l2 norm of its layer",
)
CURVES = Result(
    "results/curves/{model}/{partition}.csv",
    "evaluate_curves",
    "scores while heads are left out in growing sets",
    of=lambda plan: plan.curved,
    name="curves",
    content="scores while heads are left out in growing sets: `order` (by `importance`, or at `random`) and its "
    "`draw`, and how many `heads` are left out",
)
CURVES_FIGURE = Result(
    "results/curves/{model}/{partition}.{pdf,png}",
    "plot_curves",
    "scores while heads are left out in growing sets",
    of=lambda plan: plan.curved,
    content="these curves as a figure",
)
OUTPUTS = Result(
    "results/head_outputs/{model}/{task}.h5",
    "measure_head_outputs",
    "mean outputs of heads",
    of=lambda plan: [entry for entry in plan.ablations if plan.needs_head_outputs(entry.condition)],
    name="head_outputs",
    content="the mean output of each head, for the operation `mean`",
)


def _draws_of_controls(plan: Plan, wildcards: Any, rows: int) -> float:
    controls = plan.config.controls
    return controls.draws * (1 + controls.profile + controls.mass) * share_of(controls.questions, rows)


def _sets_of_curves(plan: Plan, wildcards: Any, rows: int) -> float:
    curves, types = plan.config.curves, plan.partitions[wildcards.model, wildcards.partition].types
    return (1 + curves.orders) * most_sets(len(types)) * share_of(curves.questions, rows)


@stage("forward", reads="samples", calls="analyses.ablation.head_outputs:run", inputs=("model", "samples"))
def measure_head_outputs(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, and the arithmetic."""
    return samples_of(plan, task)


@stage("forward", reads="questions", calls="analyses.ablation.evaluation:run")
def evaluate_condition(plan: Plan, model: str, partition: str, condition: str) -> dict:
    """What is done to which heads, under which reading of the paper, and the arithmetic."""
    task = plan.partitions[model, partition].task
    return {**_evaluation(plan, model, condition, task), "condition": condition}


@stage(calls="analyses.ablation.intervals:run")
def measure_intervals(plan: Plan, model: str, partition: str) -> dict:
    """Which condition is the baseline."""
    baseline = plan.baseline(model, partition)
    return {"baseline": baseline and baseline.name}


@stage("forward", reads="questions", passes=_draws_of_controls, calls="analyses.ablation.controls:run")
def evaluate_controls(plan: Plan, model: str, partition: str, condition: str) -> dict:
    """The condition, and from where heads are drawn how often, on how many questions.

    Models that differ in a seed alone permute the heads of a layer in the same way, and answer the same questions.
    """
    task, controls = plan.partitions[model, partition].task, plan.config.controls
    together = next((name for name, models in plan.repeats.items() if model in models and len(models) > 1), None)
    seed = plan.seed("evaluate_controls", together or model, partition, condition)
    drawn = {key: getattr(controls, key) for key in ("draws", "questions", "profile", "mass")}
    drawn |= {"all_draws": bool(together), "seed": seed}
    return {**_evaluation(plan, model, condition, task), "condition": condition, **drawn}


@stage(calls="analyses.ablation.controls_figure:run")
def plot_controls(plan: Plan, model: str, partition: str) -> dict:
    """What the conditions do, and the seed of the intervals."""
    conditions = {entry.name: plan.operations(entry.condition) for entry in plan.controlled_of(model, partition)}
    return {"conditions": conditions, "seed": plan.seed("plot_controls", model, partition)}


@stage(
    "gradients",
    reads="questions",
    calls="analyses.ablation.importance:run",
    inputs=("model", "questions", "windows"),
)
def measure_importance(plan: Plan, model: str, task: str) -> dict:
    """The kind of the task, and the arithmetic."""
    return {"kind": plan.kind_of(task).name, **given(plan.config.compute)}


@stage("forward", reads="questions", passes=_sets_of_curves, calls="analyses.ablation.curves:run")
def evaluate_curves(plan: Plan, model: str, partition: str) -> dict:
    """The orders in which heads are removed, on how many questions, and the arithmetic."""
    task, curves = plan.partitions[model, partition].task, plan.config.curves
    seed = plan.seed("evaluate_curves", model, partition)
    return {**answers_of(plan, task), "orders": curves.orders, "questions": curves.questions, "seed": seed}


plot_curves = of_inputs_alone("plot_curves", calls="analyses.ablation.curves_figure:run")


def _evaluation(plan: Plan, model: str, name: str, task: str) -> dict:
    condition, reading = plan.reading(name, task)
    # The same in every condition and partition of the model, so that a head draws alike whatever is done to others.
    operations = {
        target: seeded(operation, plan.seed("resample", model, operation))
        for target, operation in plan.operations(condition).items()
    }
    # The padding of a full window counts under one reading alone.
    padded = {"max_seq_length": plan.config.windows.max_seq_length} if reading.get("uniform_over_padding") else {}
    return {"operations": operations, "reading": reading, **padded, **answers_of(plan, task)}


def answers_of(plan: Plan, task: str) -> dict:
    """How a model's answers to a task are read off, and the arithmetic."""
    kind = plan.kind_of(task)
    answers = {key: getattr(plan.config.windows, key) for key in kind.answer_keys}
    return {"kind": kind.name, **answers, **given(plan.config.compute)}


ABLATION = Analysis(
    "ablation",
    "drop without the heads (points)",
    section="What the model can do without",
    results=(
        *(ANSWERS, METRICS, SCORES, INTERVALS, CONTROLS, CONTROLS_FIGURE),
        *(WEIGHTED, CURVES, CURVES_FIGURE, OUTPUTS),
    ),
    line=lambda quantity, statistic: f"{statistic}: {quantity.removeprefix('drop of ').replace('_', ' ')}",
    stages=(
        measure_head_outputs,
        evaluate_condition,
        measure_intervals,
        evaluate_controls,
        plot_controls,
        measure_importance,
        evaluate_curves,
        plot_curves,
    ),
)
IMPORTANCE = Analysis(
    "importance",
    "importance, as normalised",
    files=(WEIGHTED,),
    per_head=per_head,
    per_set=per_set,
    leads=True,
)
