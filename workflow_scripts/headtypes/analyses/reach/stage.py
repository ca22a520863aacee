"""How much heads of a decoder attend beyond sinks and recent tokens."""

from headtypes.analyses.stage import Plan, samples_of, stage
from headtypes.core.seeds import derive_seed


@stage("forward", reads="samples")
def measure_reach(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, the arithmetic, and which tokens count as sinks and as recent."""
    sizes = {"sink_size": plan.config.export.sink_size, "recent_size": plan.config.export.recent_size}
    return {**samples_of(plan, task), **sizes}


@stage()
def export_full_attention(plan: Plan, model: str, partition: str) -> dict:
    """The draws of the bootstrap."""
    return {"seed": derive_seed(plan.config.seed, "export_full_attention", model, partition)}
