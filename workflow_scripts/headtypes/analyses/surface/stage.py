"""What single heads look at, as position and kind of token tell."""

from headtypes.analyses.stage import Plan, given, samples_of, stage


@stage("forward", reads="samples")
def measure_surface(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut and encoded, and the arithmetic."""
    return {**samples_of(plan, task), **given(plan.config.surface)}
