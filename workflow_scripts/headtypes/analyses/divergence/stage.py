"""How differently heads attend."""

from headtypes.analyses.stage import Plan, stage
from headtypes.analyses.surface.stage import measure_surface


@stage("divergence", reads="samples")
def measure_divergence(plan: Plan, model: str, task: str) -> dict:
    """As surface patterns are read, and how much attention is smoothed."""
    return {**measure_surface(plan, model, task), "smoothing": plan.config.divergence.smoothing}


@stage("divergence", reads="samples", of="measure_divergence")
def measure_divergence_shard(plan: Plan, model: str, task: str, shard: str, shards: str) -> dict:
    """What the whole measurement depends on, and which part of it this is."""
    return {**measure_divergence(plan, model, task), "part": [int(shard), int(shards)]}


@stage()
def project_heads(plan: Plan, model: str, task: str) -> dict:
    """Which distances the projection shows, and the seed of its starts and of the permutations."""
    return {"scale": plan.config.divergence.scale, "seed": plan.seed("project_heads", model, task)}
