"""Distance features of every head."""

from headtypes.analyses.stage import Plan, norms_of, samples_of, stage


@stage("forward", reads="samples")
def extract_features(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, the arithmetic, and whether norms are read beside weights."""
    return {**samples_of(plan, task), **norms_of(plan, task)}


@stage("forward", reads="samples", of="extract_features")
def extract_shard(plan: Plan, model: str, task: str, shard: str, shards: str) -> dict:
    """What the whole extraction depends on, and which part of it this is."""
    return {**extract_features(plan, model, task), "part": [int(shard), int(shards)]}
