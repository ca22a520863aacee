"""Finding models."""

from headtypes.workflow import paths
from headtypes.workflow.plan import Plan
from headtypes.workflow.stages.stage import given, stage


@stage()
def fetch_model(plan: Plan, model: str) -> dict:
    """Where the model comes from; how the workflow makes one is the matter of `finetune_model`."""
    source = {"folder": paths.FINETUNED.format(model=model)} if plan.finetuned(model) else None
    return {"model": model, "source": source or given(plan.config.models[model].source)}
