"""What heads and baselines find of the antecedents of mentions."""

from headtypes.analyses.stage import words_of
from headtypes.core.stage import Plan, stage


@stage("forward", reads="rows", calls="analyses.coreference.measure:run")
def extract_antecedents(plan: Plan, model: str, task: str) -> dict:
    """Which words of a document are read, how tokens become words, and the arithmetic."""
    return {**words_of(plan, task), "extent": plan.config.coreference.documents}


@stage(reads="rows", calls="analyses.coreference.accuracy:run")
def measure_coreference(plan: Plan, model: str, task: str) -> dict:
    """The seed of the intervals."""
    return {"seed": plan.seed("measure_coreference", model, task)}
