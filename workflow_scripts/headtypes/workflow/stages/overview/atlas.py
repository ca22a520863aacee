"""The pages with every head of a model."""

from headtypes.workflow import paths
from headtypes.workflow.entries import FeaturePlan, PartitionPlan
from headtypes.workflow.plan import Plan
from headtypes.workflow.stages.stage import stage

# The results that an atlas shows, where there are any, and what each is called among the inputs of its rule.
RESULTS = {
    "features": paths.FEATURES,
    "partitions": paths.PARTITION,
    "confidence": paths.CONFIDENCE,
    "intervals": paths.INTERVALS,
    "surfaces": paths.SURFACE,
    "gradients": paths.GRADIENTS,
    "divergences": paths.DIVERGENCE,
    "relations": paths.RELATIONS,
    "best_heads": paths.RELATIONS_BEST,
    "coreference": paths.COREFERENCE,
    "importance": paths.IMPORTANCE,
}


def models_with_maps(plan: Plan) -> list[FeaturePlan]:
    """The models whose heads are drawn, each on the task that its atlas is about: the evaluated, or else the first."""
    first: dict[str, FeaturePlan] = {}
    for entry in sorted(plan.features, key=lambda entry: plan.config.models[entry.model].evaluate != entry.task):
        first.setdefault(entry.model, entry)
    return [first[model] for model in plan.models if model in first]


def tasks_with_maps(plan: Plan, model: str) -> list[FeaturePlan]:
    """The model on each of its tasks from which samples are drawn, first the one that its atlas is about."""
    main = [entry for entry in models_with_maps(plan) if entry.model == model]
    return [*main, *(entry for entry in plan.features if entry.model == model and entry not in main)]


def results_of(plan: Plan, model: str) -> dict[str, list[FeaturePlan | PartitionPlan]]:
    """What there is of each kind of `RESULTS`, first what the atlas of the model is about."""
    tasks, analyses = tasks_with_maps(plan, model), plan.analyses_of(model)
    shown = [partition for entry in tasks if (partition := plan.shown_partition(*entry)) is not None][:1]
    others = [entry for entry in plan.partitions.values() if entry.model == model and entry not in shown]
    return {
        "features": tasks[:1],
        "partitions": [*shown, *others],
        "confidence": [entry for entry in shown if entry in plan.clustered],
        "intervals": [entry for entry in plan.ablated if entry.model == model],
        **analyses,
        "best_heads": analyses["relations"],
    }


def names_of(plan: Plan, model: str) -> dict[str, list[str]]:
    """The same by name: of a task, or of a partition."""
    return {
        kind: [entry.name if isinstance(entry, PartitionPlan) else entry.task for entry in entries]
        for kind, entries in results_of(plan, model).items()
    }


@stage()
def write_atlas(plan: Plan, model: str) -> dict:
    """The tasks and partitions of each kind of result, in the order of the rule's inputs; what conditions do."""
    ablated = [entry for entry in plan.ablated if entry.model == model]
    conditions = {ablation.condition for entry in ablated for ablation in plan.ablations_of(model, entry.name)}
    return {
        "maps": [entry.task for entry in tasks_with_maps(plan, model)],
        "found": names_of(plan, model),
        "conditions": {condition: plan.operations(condition) for condition in sorted(conditions)},
        "distance_bins": plan.config.clustering.distance_bins,
    }
