"""What a model answers when heads are taken away."""

from typing import Any

from headtypes.analyses.ablation.curve_sets import most_sets
from headtypes.analyses.stage import samples_of, share_of
from headtypes.attention.operations import seeded
from headtypes.core.stage import Plan, given, of_inputs_alone, stage


def _draws_of_controls(plan: Plan, wildcards: Any, rows: int) -> float:
    controls = plan.config.controls
    return controls.draws * (1 + controls.profile) * share_of(controls.questions, rows)


def _sets_of_curves(plan: Plan, wildcards: Any, rows: int) -> float:
    curves, types = plan.config.curves, plan.partitions[wildcards.model, wildcards.partition].types
    return (1 + curves.orders) * most_sets(len(types)) * share_of(curves.questions, rows)


@stage("forward", reads="samples", calls="analyses.ablation.head_outputs:run")
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
    """Which condition is the baseline, and the seed."""
    baseline = plan.baseline(model, partition)
    return {"baseline": baseline and baseline.name, "seed": plan.seed("measure_intervals", model, partition)}


@stage("forward", reads="questions", passes=_draws_of_controls, calls="analyses.ablation.controls:run")
def evaluate_controls(plan: Plan, model: str, partition: str, condition: str) -> dict:
    """The condition, and from where heads are drawn how often, on how many questions.

    Models that differ in a seed alone permute the heads of a layer in the same way, and answer the same questions.
    """
    task, controls = plan.partitions[model, partition].task, plan.config.controls
    together = next((name for name, models in plan.repeats.items() if model in models and len(models) > 1), None)
    seed = plan.seed("evaluate_controls", together or model, partition, condition)
    drawn = {key: getattr(controls, key) for key in ("draws", "questions", "profile")}
    drawn |= {"all_draws": bool(together), "seed": seed}
    return {**_evaluation(plan, model, condition, task), "condition": condition, **drawn}


@stage(calls="analyses.ablation.controls_figure:run")
def plot_controls(plan: Plan, model: str, partition: str) -> dict:
    """What the conditions do, and the seed of the intervals."""
    conditions = {entry.name: plan.operations(entry.condition) for entry in plan.controlled_of(model, partition)}
    return {"conditions": conditions, "seed": plan.seed("plot_controls", model, partition)}


@stage("gradients", reads="questions", calls="analyses.ablation.importance:run")
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
