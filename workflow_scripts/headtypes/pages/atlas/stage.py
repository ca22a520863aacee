"""The pages with every head of a model."""

from typing import Any

from headtypes.analyses.ablation.analysis import INTERVALS
from headtypes.analyses.distances.analysis import FEATURES
from headtypes.analyses.own.analysis import VALUES
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.analysis import PARTITION, STABILITY
from headtypes.core.stage import TEXT, Plan, Result, stage

# The results that an atlas shows, where there are any, and what each is called among the inputs of its rule.
SHOWN = {
    "features": FEATURES,
    "partitions": PARTITION,
    "parents": PARTITION,
    "stability": STABILITY,
    "intervals": INTERVALS,
    **{file.name: file for analysis in ANALYSES if analysis.in_atlas for file in analysis.files},
    VALUES.name: VALUES,
}


def tasks_with_maps(plan: Plan, model: str) -> list:
    """Return a model's `FeaturePlan`s, (model, task), one by task with attention maps; the task it answers is first."""
    entries = [entry for entry in plan.features if entry.model == model]
    return sorted(entries, key=lambda entry: entry.task != plan.config.models[model].evaluate)


def results_of(plan: Plan, kind: str, model: str) -> dict[str, Any]:
    """Return {task or partition: the plan's entry} for one kind of result (a key of `SHOWN`) of a model."""
    tasks = tasks_with_maps(plan, model)
    if kind == "features":
        return {entry.task: entry for entry in tasks[:1]}
    if kind == VALUES.name:
        return {entry.key: entry for entry in plan.own_analyses_of(model)}
    if kind not in ("partitions", "parents", "stability", "intervals"):
        # Of several that read the same file, any.
        analysis = next(analysis for analysis in ANALYSES if SHOWN[kind] in analysis.files)
        return {entry.wildcards.get("partition", entry.task): entry for entry in plan.files_of(analysis, model)}
    shown = [partition for entry in tasks if (partition := plan.shown_partition(*entry)) is not None][:1]
    partitions = [entry for entry in plan.partitions.values() if entry.model == model]
    if kind == "parents":
        of_parent = (plan.partitions.get((plan.config.parent(model), entry.name)) for entry in partitions)
        return {f"{entry.name} of {entry.model}": entry for entry in of_parent if entry is not None}
    entries = {
        "partitions": sorted(partitions, key=lambda entry: entry not in shown),
        "stability": [entry for entry in shown if entry in plan.clustered],
        "intervals": [entry for entry in plan.ablated if entry.model == model],
    }
    return {entry.name: entry for entry in entries[kind]}


def models(plan: Plan) -> list[str]:
    measured = {entry.model for entry in plan.features}
    measured |= {entry.model for of in ANALYSES if of.in_atlas and of.files for entry in of.files[0].of(plan)}
    return [model for model in plan.models if model in measured]


@stage(calls="pages.atlas.page:run")
def write_atlas(plan: Plan, model: str) -> dict:
    evaluated = results_of(plan, "intervals", model)
    ablations = [ablation for partition in evaluated for ablation in plan.ablations_of(model, partition)]
    return {
        "kinds": list(SHOWN),
        "conditions": {ablation.condition: plan.operations(ablation.condition) for ablation in ablations},
        **plan.config.clustering.features(),
    }


PAGE = Result(
    "results/atlas/{model}.html",
    "write_atlas",
    "the page with every head of a model",
    of=lambda plan: [{"model": model} for model in models(plan)],
    section="To read first",
    content="[the atlas](../understand/atlas.md): a page with every head of the model, what it looks at in a few "
    "samples, and what was measured of it",
    withheld=TEXT,
)
RESULTS = (PAGE,)
