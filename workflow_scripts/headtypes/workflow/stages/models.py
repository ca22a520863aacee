"""Finding models."""

from headtypes.workflow.plan import Plan
from headtypes.workflow.stages.stage import given, stage


@stage()
def fetch_model(plan: Plan, model: str) -> dict:
    """Where the model comes from; one that the workflow makes is an input."""
    return {"model": model, "source": None if plan.finetuned(model) else given(plan.config.models[model].source)}
