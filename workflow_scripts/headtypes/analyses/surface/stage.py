"""What single heads look at, as position and kind of token tell."""

from headtypes.analyses.stage import Plan, given, norms_of, samples_of, stage


@stage("forward", reads="samples")
def measure_surface(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut and encoded, the arithmetic, and whether norms are read beside weights."""
    return {**samples_of(plan, task), **given(plan.config.surface), **norms_of(plan, task)}
