"""The page of all results."""

from typing import Any

from headtypes.analyses.stage import stage
from headtypes.core.results import PICTURED, Result
from headtypes.pages.summary.figures import FIGURES, shown_compared_types
from headtypes.papers.figures import files, shown_partitions
from headtypes.papers.registry import PAPERS
from headtypes.planning.plan import Plan


def inputs(plan: Plan, paths: Any) -> dict[str, dict]:
    """What the page is made of, by name and by what it is of; paths: `planning.results.paths`."""
    shown = [*FIGURES, *(tables for paper in PAPERS.values() for tables in paper.tables)]
    partitions = {
        "partition": (paths.PARTITION, shown_partitions(plan)),
        "compared_types": (paths.COMPARED_TYPES, shown_compared_types(plan)),
    }
    return {
        "comparisons": {
            name: f"results/{name}/comparison.csv" for name, paper in PAPERS.items() if paper.inputs(plan, paths)
        },
        **{it.name: files(it, plan) for it in shown},
        **{
            name: {it.key: pattern.format(**it.wildcards) for it in entries}
            for name, (pattern, entries) in partitions.items()
        },
    }


def captions() -> list[str]:
    """The names of the captions of all figures that may stand in the summary."""
    return [figure.caption for figure in FIGURES]


@stage()
def write_summary(plan: Plan) -> dict:
    """What was run, and the seed."""
    tasks = list(dict.fromkeys(entry.task for entry in plan.inputs))
    return {
        "models": plan.models,
        "tasks": tasks,
        "generated": [task for task in tasks if plan.config.tasks[task].source.world is not None],
        "atlases": list(dict.fromkeys(entry.model for entry in plan.features)),
        "partitions": len(plan.partitions),
        "seed": plan.config.seed,
    }


RESULTS = (
    Result(
        "results/index.html",
        "write_summary",
        "the page of all results",
        of=lambda plan: [{}],
        name="summary",
        section="To read first",
        content="one page of all results, to open first: findings, the verdicts on the papers' claims with what "
        "decides them, their tables and figures, and links to the files",
        withheld=PICTURED,
    ),
)
