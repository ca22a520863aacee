"""What heads, and fixed offsets, find of a treebank's dependency relations."""

from headtypes.workflow.plan import Plan
from headtypes.workflow.stages.stage import stage


@stage(reads="rows")
def measure_offsets(plan: Plan, task: str) -> dict:
    """The largest offset."""
    return {"offsets": plan.config.relations.offsets}
