"""What is read of the attention on samples: distance features and maps and, on texts, what single heads look at."""

from headtypes.analyses.stage import norms_of, samples_of
from headtypes.core.stage import Plan, stage


@stage("forward", reads="samples")
def extract_features(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, the arithmetic, and whether norms are read beside weights."""
    return {**samples_of(plan, task), **norms_of(plan, task)}


@stage("divergence", reads="samples")
def extract_text_features(plan: Plan, model: str, task: str) -> dict:
    """The same."""
    return extract_features(plan, model, task)
