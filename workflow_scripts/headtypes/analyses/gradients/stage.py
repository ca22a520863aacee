"""How much a model's own loss depends on the attention to each kind of token."""

from typing import Any

from headtypes.analyses.stage import share_of
from headtypes.core.stage import Plan, given, stage
from headtypes.data.stage import encoding_of


def _passes(plan: Plan, wildcards: Any, rows: int) -> float:
    return share_of(plan.config.gradients.samples, rows)


@stage("gradients", reads="texts", passes=_passes, calls="analyses.gradients.measure:run")
def measure_gradients(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, how many are drawn, and the arithmetic.

    The seed is that of the task, so that models with one tokenizer guess the same words.
    """
    drawn = {"samples": plan.config.gradients.samples, "seed": plan.seed("measure_gradients", task)}
    return {"task": task, **encoding_of(plan, task), **drawn, **given(plan.config.compute)}
