"""The pages that a reader opens: all results, every claim in every model, and every head of each model."""

from collections import defaultdict
from functools import partial
from typing import Any

from headtypes.analyses.ablation.analysis import DIFFERENCES, INTERVALS
from headtypes.analyses.company import analysis as company
from headtypes.analyses.distances.analysis import FEATURES, SHORT_SAMPLE
from headtypes.analyses.own.analysis import VALUES
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.analysis import PARTITION, STABILITY
from headtypes.comparisons import stage as compared_types
from headtypes.core.stage import PICTURED, TEXT, Plan, stage, wildcards_of
from headtypes.papers.paper import Figure, if_any, shown_partitions, shown_texts, to_read_first
from headtypes.papers.registry import PAPERS


def _shown_compared_types(plan: Plan) -> list:
    of_texts = [plan.shown_partition(*entry) for entry in shown_texts(plan)]
    shown = dict.fromkeys([*shown_partitions(plan), *of_texts])
    return [partition for partition in shown if partition in plan.compared_types]


COMPARED_TYPES = Figure(
    "compared_types_figures",
    "results/compared_types/{model}/{partition}.png",
    _shown_compared_types,
    "Types beside random heads",
    "compared_types",
)
FIGURES = (*(figure for paper in PAPERS.values() for figure in paper.figures), COMPARED_TYPES)
TABLES = tuple(tables for paper in PAPERS.values() for tables in paper.tables)
BEST = tuple(analysis for analysis in ANALYSES if analysis.best)
_OPENED = (".csv", ".json", ".safetensors", ".png")


def inputs_of_summary(plan: Plan) -> dict[str, dict]:
    """Return paths for the page of results: {kind of file, such as "costs": {key, such as (model, task): path}}."""
    by_entry = {
        "partition": (PARTITION, plan.partitions.values()),
        "features": (FEATURES, plan.partitions.values()),
        "stability": (STABILITY, plan.clustered),
        "compared_types": (compared_types.TABLE, plan.compared_types),
        "costs": (company.COSTS, plan.company),
        "fit": (company.FIT, plan.company),
        "labels": (company.LABELS, plan.company),
        "differences": (DIFFERENCES, plan.ablated),
        "attention": (SHORT_SAMPLE, plan.partitions.values()),
        **{f"best_{file.name}": (file, analysis.files[0].of(plan)) for analysis in BEST for file in analysis.files},
    }
    return {
        "comparisons": comparisons(plan),
        **{shown.name: shown.files(plan) for shown in (*FIGURES, *TABLES)},
        **{
            name: {entry.key: result.path.format(**entry.wildcards) for entry in entries}
            for name, (result, entries) in by_entry.items()
        },
    }


def _results(plan: Plan) -> dict[tuple[str, str | None], dict[str, list[str]]]:
    by_subject: dict[tuple[str, str | None], dict[str, list[str]]] = defaultdict(dict)
    of_all = (result for declared in (*PAPERS.values(), *plan.analyses) for result in declared.results)
    for result in (*compared_types.RESULTS, *of_all):
        paths = [path for path in result.paths if path.endswith(_OPENED)]
        for entry in result.of(plan) if paths and result.of else []:
            of = wildcards_of(result.path, entry)
            if "model" in of and of.keys() <= {"model", "partition", "task"}:
                about = f"{result.about}: {of['task']}" if "task" in of else result.about
                of_subject = by_subject[of["model"], of.get("partition")].setdefault(about, [])
                of_subject += [path.format(**of) for path in paths]
    return by_subject


@stage(calls="pages.summary.page:run")
def write_summary(plan: Plan) -> dict:
    results = _results(plan)
    typed, asked = ({entry.model: None for entry in entries} for entries in (plan.features, plan.inputs))
    return {
        "models": list(asked) or plan.models,
        "tested": [entry.model for entry in plan.detected if entry.model not in asked] if asked else [],
        "tasks": list(dict.fromkeys(entry.task for entry in plan.inputs)),
        "atlases": models_with_atlas(plan),
        "partitions": [
            {
                "model": partition.model,
                "partition": partition.name,
                "k": partition.k,
                "features": plan.config.clustering.features(partition.of),
                "results": results[partition.model, partition.name] | results[partition.model, None],
            }
            for partition in dict.fromkeys([*shown_partitions(plan), *plan.partitions.values()])
        ],
        "untyped": {
            f"{about}: {model}": files
            for model in plan.models
            if model not in typed
            for about, files in results[model, None].items()
        },
        "hubs": [hub for model in plan.models if (hub := plan.config.models[model].source.hub)],
        "finetuned": [model for model in plan.models if plan.finetuned(model)],
        "seed": plan.config.seed,
    }


def comparisons(plan: Plan) -> dict[str, str]:
    """Return {paper: path of the comparison with it}, for the papers with which the plan compares results."""
    return {name: f"results/{name}/comparison.csv" for name, paper in PAPERS.items() if paper.inputs(plan)}


def inputs_of_ledger(plan: Plan) -> dict[str, dict[str, str]]:
    """Return {"comparisons": {paper: path of verdicts}, "readings": {paper: path of verdicts under each reading}}."""
    compared = comparisons(plan)
    readings = {name: path for name in compared if (path := PAPERS[name].inputs(plan).get(("readings", "readings")))}
    return {"comparisons": compared, "readings": readings}


@stage(calls="pages.ledger.page:run")
def write_ledger(plan: Plan) -> dict:
    return {
        "families": {model: plan.config.family(model) for model in plan.models},
        "partitions": [
            {"model": model, "partition": name, "task": made.task, "method": made.method, "k": made.k, "of": made.of}
            for (model, name), made in sorted(plan.partitions.items())
        ],
    }


# The results that an atlas shows, where there are any, and what each is called among the inputs of its rule.
IN_ATLAS = {
    "features": FEATURES,
    "partitions": PARTITION,
    "parents": PARTITION,
    "stability": STABILITY,
    "intervals": INTERVALS,
    **{file.name: file for analysis in ANALYSES if analysis.in_atlas for file in analysis.files},
    VALUES.name: VALUES,
}


def tasks_with_maps(plan: Plan, model: str) -> list:
    """Return the model's `FeaturePlan` for each task with attention maps; first the task that the model answers."""
    entries = [entry for entry in plan.features if entry.model == model]
    return sorted(entries, key=lambda entry: entry.task != plan.config.models[model].evaluate)


def results_of(plan: Plan, kind: str, model: str) -> dict[str, Any]:
    """Return {name: entry of the plan} of all results of one kind for a model, such as a `FeaturePlan` for "features".

    kind: a key of `IN_ATLAS`. A name is the entry's partition or task, by which the kind's results are told apart.
    """
    tasks = tasks_with_maps(plan, model)
    if kind == "features":
        return {entry.task: entry for entry in tasks[:1]}
    if kind == VALUES.name:
        return {entry.key: entry for entry in plan.own_analyses_of(model)}
    if kind not in ("partitions", "parents", "stability", "intervals"):
        analysis = next(analysis for analysis in ANALYSES if IN_ATLAS[kind] in analysis.files)
        return {entry.wildcards.get("partition", entry.task): entry for entry in plan.entries_of(analysis, model)}
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


def models_with_atlas(plan: Plan) -> list[str]:
    measured = {entry.model for entry in plan.features}
    measured |= {entry.model for of in ANALYSES if of.in_atlas and of.files for entry in of.files[0].of(plan)}
    return [model for model in plan.models if model in measured]


@stage(calls="pages.atlas.page:run")
def write_atlas(plan: Plan, model: str) -> dict:
    evaluated = results_of(plan, "intervals", model)
    ablations = [ablation for partition in evaluated for ablation in plan.ablations_of(model, partition)]
    return {
        "kinds": list(IN_ATLAS),
        "conditions": {ablation.condition: plan.operations(ablation.condition) for ablation in ablations},
        **plan.config.clustering.features(),
    }


SUMMARY = to_read_first(
    "results/index.html",
    "write_summary",
    "the page of all results",
    of=lambda plan: [{}],
    content="one page of all results, to open first: of each partition whether there are types, how many, and "
    "whether they matter; what must not be concluded; findings, the verdicts on the papers' "
    "claims with what decides them, their tables and figures, and links to the files",
    withheld=PICTURED,
)
ATLAS = to_read_first(
    "results/atlas/{model}.html",
    "write_atlas",
    "the page with every head of a model",
    of=lambda plan: [{"model": model} for model in models_with_atlas(plan)],
    content="[the atlas](../understand/atlas.md): a page with every head of the model, what it looks at in a few "
    "samples, and what was measured of it",
    withheld=TEXT,
)
_of_ledger = partial(
    to_read_first, rule="write_ledger", about="every claim of every paper in every model", of=if_any(comparisons)
)
CLAIMS = _of_ledger(
    "results/ledger.claims.csv",
    content="for each claim, how many `cells` have each verdict, in how many of the `models` with a verdict "
    "it holds, fails or is open, and the 95 % interval (`low`, `high`, in percent) of the share of models of "
    "which it is true, over their `families`; and in how many networks of the family `untrained` it holds",
)
RESULTS = (
    SUMMARY,
    ATLAS,
    _of_ledger(
        "results/ledger.{html,csv}",
        content="[the ledger](../understand/ledger.md): every claim of every paper in every cell, which is a "
        "model (with its `family`), a partition (with its `task`, `method`, `k`, and what was divided, `of`) or a "
        "task, and a `reading`: `verdict` and `verdict_holm`, the `value` that decides with its interval (`low`, "
        "`high`), `p` and `p_holm`, the `published` value, the `reason`, and the part of a page where it is "
        "decided; as a page that sorts and filters them",
    ),
    CLAIMS,
)
