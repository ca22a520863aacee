"""What single heads look at, as position and kind of token tell."""

from headtypes.analyses.distances.stage import extract_features
from headtypes.analyses.stage import Plan, given, stage


@stage("forward", reads="samples")
def measure_surface(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut and encoded, and the arithmetic."""
    return {**extract_features(plan, model, task), **given(plan.config.surface)}
