"""What single heads look at, as position and kind of token tell."""

from headtypes.workflow.plan import Plan
from headtypes.workflow.stages.features import extract_features
from headtypes.workflow.stages.stage import given, stage


@stage("forward", reads="samples")
def measure_surface(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut and encoded, and the arithmetic."""
    return {**extract_features(plan, model, task), **given(plan.config.surface)}
