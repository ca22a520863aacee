"""Tables of a text that need no model."""

from headtypes.analyses.stage import Plan, stage


@stage()
def tabulate_text(plan: Plan, model: str, task: str) -> dict:
    """The seeds of the projection's starts and permutations, and of intervals."""
    # Named for the rules that once did this.
    projection = {"seed": plan.seed("project_heads", model, task)}
    return {"projection": projection, "outputs": {"seed": plan.seed("tabulate_outputs", model, task)}}
