"""What is kept of attention itself."""

from headtypes.analyses.stage import encoding_of, stage
from headtypes.planning.plan import Plan


# Of all samples, it reads a few.
@stage("forward", reads="samples", passes=lambda plan, wildcards, rows: 0)
def map_attention(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, and the arithmetic."""
    return {"task": task, **encoding_of(plan, task), "precision": plan.config.compute.precision}
