"""What single heads look at, as position and kind of token tell."""

from headtypes.core.seeds import derive_seed
from headtypes.planning.plan import Plan
from headtypes.planning.stages.features import extract_features
from headtypes.planning.stages.stage import given, stage


@stage("forward", reads="samples")
def measure_surface(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut and encoded, and the arithmetic."""
    return {**extract_features(plan, model, task), **given(plan.config.surface)}


@stage("forward")
def measure_detectors(plan: Plan, model: str) -> dict:
    """The sequences, which are those of every model with the same tokens, and the arithmetic."""
    sizes = {"sequences": plan.config.detectors.sequences, "length": plan.config.detectors.length}
    return {**sizes, "seed": derive_seed(plan.config.seed, "measure_detectors"), **given(plan.config.compute)}


@stage()
def tabulate_detectors(plan: Plan, model: str) -> dict:
    """By how much a head exceeds the null, and the draws of the bootstrap."""
    seed = derive_seed(plan.config.seed, "tabulate_detectors", model)
    return {"least": plan.config.detectors.least, "seed": seed}
