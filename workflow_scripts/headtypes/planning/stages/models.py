"""Finding models."""

from headtypes.analyses.stage import given, stage
from headtypes.planning.plan import Plan


@stage()
def fetch_model(plan: Plan, model: str) -> dict:
    """Where the model comes from; one that the workflow makes is an input.

    What its weights must be is checked (`tools.demands`) and changes no result.
    """
    source = {key: value for key, value in given(plan.config.models[model].source).items() if key != "sha256"}
    return {"model": model, "source": None if plan.finetuned(model) else source}
