"""What leaving out each head, and any set of heads, costs."""

from typing import Any

from headtypes.analyses.ablation.stage import answers_of
from headtypes.analyses.effects.sets import MOST_SETS
from headtypes.analyses.stage import Plan, of_inputs_alone, share_of, stage


def _subsets(plan: Plan, wildcards: Any, rows: int) -> float:
    return (1 + plan.config.effects.subsets) * share_of(plan.config.effects.questions, rows)


def _cheapest(plan: Plan, wildcards: Any, rows: int) -> float:
    return MOST_SETS * share_of(plan.config.effects.questions, rows)


@stage("forward", reads="questions", passes=_subsets)
def evaluate_subsets(plan: Plan, model: str, task: str) -> dict:
    """How many sets of heads are drawn, how large, on how many questions, and the arithmetic."""
    effects = plan.config.effects
    drawn = {"subsets": effects.subsets, "share": effects.share, "questions": effects.questions}
    return {**answers_of(plan, task), **drawn, "seed": plan.seed("evaluate_subsets", model, task)}


@stage()
def measure_effects(plan: Plan, model: str, task: str) -> dict:
    """How heads were drawn, how their features are read, and the draws of the bootstrap."""
    clustering = plan.config.clustering
    features = {of: clustering.features(of) for of in dict.fromkeys(["weights", *plan.divided_by(task)])}
    seed = plan.seed("measure_effects", model, task)
    return {"features": features, "share": plan.config.effects.share, "seed": seed}


@stage("forward", reads="questions", passes=_cheapest)
def evaluate_cheapest(plan: Plan, model: str, task: str) -> dict:
    """The arithmetic, and the seed of halves, random sets and intervals."""
    return {**answers_of(plan, task), "seed": plan.seed("evaluate_cheapest", model, task)}


plot_effects = of_inputs_alone("plot_effects")
