"""What is kept of attention itself."""

from headtypes.planning.plan import Plan
from headtypes.planning.stages.data import encoding_of
from headtypes.planning.stages.features import extract_features
from headtypes.planning.stages.stage import stage


# Of all samples, it reads a few.
@stage("forward", reads="samples", passes=lambda plan, wildcards, rows: 0)
def map_attention(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, and the arithmetic."""
    return {"task": task, **encoding_of(plan, task), "precision": plan.config.compute.precision}


@stage("forward", reads="samples")
def measure_head_outputs(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, and the arithmetic."""
    return extract_features(plan, model, task)


@stage("forward", reads="samples")
def measure_reach(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, the arithmetic, and which tokens count as sinks and as recent."""
    sizes = {"sink_size": plan.config.export.sink_size, "recent_size": plan.config.export.recent_size}
    return {**extract_features(plan, model, task), **sizes}
