"""Fine-tuning models."""

from headtypes.analyses.stage import given, stage
from headtypes.core.seeds import derive_seed
from headtypes.planning.plan import Plan
from headtypes.planning.stages.tasks import source_of


@stage(of="fetch_task")
def fetch_training(plan: Plan, task: str) -> dict:
    """Where the training data come from, and which columns hold what."""
    return source_of(plan, task, "training")


@stage("training", reads="rows")
def finetune_model(plan: Plan, model: str) -> dict:
    """The kind of the task, and how the model learns it."""
    finetuned = plan.finetuned(model)
    settings = {name: value for name, value in given(finetuned).items() if name not in ("base", "task")}
    seed = derive_seed(plan.config.seed, "finetune_model", model)
    return {"kind": plan.config.tasks[finetuned.task].kind, **settings, "seed": seed}
