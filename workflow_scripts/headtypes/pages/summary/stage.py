"""The page of all results."""

from collections import defaultdict

from headtypes.analyses.ablation import analysis as ablation
from headtypes.analyses.company import analysis as company
from headtypes.analyses.distances import analysis as distances
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types import analysis as types
from headtypes.comparisons import stage as compared_types
from headtypes.core.stage import PICTURED, Plan, Result, stage
from headtypes.pages.atlas.stage import models
from headtypes.pages.ledger.stage import comparisons
from headtypes.papers.paper import Figure, shown_partitions, shown_texts
from headtypes.papers.registry import PAPERS


def shown_compared_types(plan: Plan) -> list:
    """Return up to two partitions that are compared with random heads: the one that the page shows, and one of text."""
    of_texts = [plan.shown_partition(*entry) for entry in shown_texts(plan)]
    shown = dict.fromkeys([*shown_partitions(plan), *of_texts])
    return [partition for partition in shown if partition in plan.compared_types]


COMPARED_TYPES = Figure(
    "compared_types_figures",
    "results/compared_types/{model}/{partition}.png",
    shown_compared_types,
    "Types beside random heads",
    "compared_types",
)
# Those that each paper lists, and that of no single paper.
FIGURES = (*(figure for paper in PAPERS.values() for figure in paper.figures), COMPARED_TYPES)
TABLES = tuple(tables for paper in PAPERS.values() for tables in paper.tables)


# Analyses that say which head is best at what.
BEST = tuple(analysis for analysis in ANALYSES if analysis.best)


def inputs(plan: Plan) -> dict[str, dict]:
    """Return the paths that the page is made from, {name: {key: path}}; a key is, for instance, (model, partition)."""
    partitions = {
        "partition": (types.PARTITION.path, plan.partitions.values()),
        "features": (distances.FEATURES.path, plan.partitions.values()),
        "stability": (types.STABILITY.path, plan.clustered),
        "compared_types": (compared_types.TABLE.path, plan.compared_types),
        "costs": (company.COSTS.path, plan.company),
        "fit": (company.FIT.path, plan.company),
        "labels": (company.LABELS.path, plan.company),
        "differences": (ablation.DIFFERENCES.path, plan.ablated),
        "attention": (distances.SHORT_SAMPLE.path, plan.partitions.values()),
        **{
            f"best_{file.name}": (file.path, analysis.files[0].of(plan)) for analysis in BEST for file in analysis.files
        },
    }
    return {
        "comparisons": comparisons(plan),
        **{shown.name: shown.files(plan) for shown in (*FIGURES, *TABLES)},
        **{
            name: {entry.key: pattern.format(**entry.wildcards) for entry in entries}
            for name, (pattern, entries) in partitions.items()
        },
    }


# What a reader opens; data for programs are listed in the documentation.
_OPENED = (".csv", ".json", ".safetensors", ".png")


def _results(plan: Plan) -> dict[tuple[str, str | None], dict[str, list[str]]]:
    by_subject: dict[tuple[str, str | None], dict[str, list[str]]] = defaultdict(dict)
    of_all = (result for declared in (*PAPERS.values(), *plan.analyses) for result in declared.results)
    for result in (*compared_types.RESULTS, *of_all):
        paths = [path for path in result.paths if path.endswith(_OPENED)]
        for entry in result.of(plan) if paths and result.of else []:
            of = result.wildcards(entry)
            if "model" in of and of.keys() <= {"model", "partition", "task"}:
                about = f"{result.about}: {of['task']}" if "task" in of else result.about
                of_subject = by_subject[of["model"], of.get("partition")].setdefault(about, [])
                of_subject += [path.format(**of) for path in paths]
    return by_subject


@stage(calls="pages.summary.page:run")
def write_summary(plan: Plan) -> dict:
    shown = [*shown_partitions(plan), *plan.partitions.values()]
    tasks, results = list(dict.fromkeys(entry.task for entry in plan.inputs)), _results(plan)
    typed = {entry.model for entry in plan.features}
    untyped = {
        f"{about}: {model}": files
        for model in plan.models
        if model not in typed
        for about, files in results[model, None].items()
    }
    asked = list(dict.fromkeys(entry.model for entry in plan.inputs))
    tested = [entry.model for entry in plan.detected if entry.model not in asked] if asked else []
    return {
        "models": asked or plan.models,
        "tested": tested,
        "tasks": tasks,
        "atlases": models(plan),
        "partitions": [
            {
                "model": partition.model,
                "partition": partition.name,
                "k": partition.k,
                "features": plan.config.clustering.features(partition.of),
                "results": results[partition.model, partition.name] | results[partition.model, None],
            }
            for partition in dict.fromkeys(shown)
        ],
        "untyped": untyped,
        "hubs": [hub for model in plan.models if (hub := plan.config.models[model].source.hub)],
        "finetuned": [model for model in plan.models if plan.finetuned(model)],
        "seed": plan.config.seed,
    }


PAGE = Result(
    "results/index.html",
    "write_summary",
    "the page of all results",
    of=lambda plan: [{}],
    section="To read first",
    content="one page of all results, to open first: of each partition whether there are types, how many, and "
    "whether they matter; what must not be concluded; findings, the verdicts on the papers' "
    "claims with what decides them, their tables and figures, and links to the files",
    withheld=PICTURED,
)
RESULTS = (PAGE,)
