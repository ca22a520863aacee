"""What heads, probes and fixed offsets find of a treebank's dependency relations."""

from headtypes.analyses.stage import words_of
from headtypes.core.stage import Plan, given, stage


@stage("forward", reads="rows", calls="analyses.relations.measure:run")
def extract_arcs(plan: Plan, model: str, task: str) -> dict:
    """Which sentences are read, how tokens become words, and the arithmetic."""
    return words_of(plan, task)


@stage(reads="rows", calls="analyses.relations.accuracy:run")
def measure_relations(plan: Plan, model: str, task: str) -> dict:
    """Which relations are listed, and the seed of the intervals."""
    return {**given(plan.config.relations), "seed": plan.seed("measure_relations", model, task)}


@stage(reads="rows", calls="analyses.relations.offsets:run")
def measure_offsets(plan: Plan, task: str) -> dict:
    """Nothing."""
    return {}
