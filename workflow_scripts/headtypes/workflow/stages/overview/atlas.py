"""The pages with every head of a model."""

from headtypes.workflow.entries import FeaturePlan, PartitionPlan
from headtypes.workflow.plan import Plan
from headtypes.workflow.stages.stage import stage


def models_with_maps(plan: Plan) -> list[FeaturePlan]:
    """The models whose heads are drawn, each on the task that its atlas is about: the evaluated, or else the first."""
    first: dict[str, FeaturePlan] = {}
    for entry in sorted(plan.features, key=lambda entry: plan.config.models[entry.model].evaluate != entry.task):
        first.setdefault(entry.model, entry)
    return [first[model] for model in plan.models if model in first]


def tasks_with_maps(plan: Plan, model: str) -> list[FeaturePlan]:
    """The model on each of its tasks from which samples are drawn, first the one that its atlas is about."""
    main = next(entry for entry in models_with_maps(plan) if entry.model == model)
    return [main, *(entry for entry in plan.features if entry.model == model and entry != main)]


def main_task_of(plan: Plan, model: str) -> list[FeaturePlan]:
    """The model on the task that its atlas is about."""
    return tasks_with_maps(plan, model)[:1]


def partitions_of(plan: Plan, model: str) -> list[PartitionPlan]:
    """The partitions of a model, first the one whose types its atlas shows: of the first task that has one."""
    shown = [plan.shown_partition(*entry) for entry in tasks_with_maps(plan, model)]
    main = [entry for entry in shown if entry is not None][:1]
    return [*main, *(entry for entry in plan.partitions.values() if entry.model == model and entry not in main)]


def confident_of(plan: Plan, model: str) -> list[PartitionPlan]:
    """The partition that the atlas of a model shows, if clustering made it, which can be repeated."""
    return [entry for entry in partitions_of(plan, model)[:1] if entry in plan.clustered]


def ablated_of(plan: Plan, model: str) -> list[PartitionPlan]:
    """The partitions of a model that conditions are evaluated on."""
    return [entry for entry in plan.ablated if entry.model == model]


@stage()
def write_atlas(plan: Plan, model: str) -> dict:
    """The tasks and partitions of each kind of result, in the order of the rule's inputs; what conditions do."""
    ablated = ablated_of(plan, model)
    conditions = {ablation.condition for entry in ablated for ablation in plan.ablations_of(model, entry.name)}
    return {
        "maps": [entry.task for entry in tasks_with_maps(plan, model)],
        "found": {
            "features": [entry.task for entry in main_task_of(plan, model)],
            "partitions": [entry.name for entry in partitions_of(plan, model)],
            "confidence": [entry.name for entry in confident_of(plan, model)],
            "intervals": [entry.name for entry in ablated],
            **{name: [entry.task for entry in entries] for name, entries in plan.analyses_of(model).items()},
            "best_heads": [entry.task for entry in plan.analyses_of(model)["relations"]],
        },
        "conditions": {condition: plan.operations(condition) for condition in sorted(conditions)},
        "distance_bins": plan.config.clustering.distance_bins,
    }
