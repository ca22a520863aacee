"""Every claim of every paper in every model."""

from collections.abc import Callable
from typing import Any

from headtypes.core.stage import Plan, Result, stage
from headtypes.papers.registry import PAPERS


def comparisons(plan: Plan, paths: Any) -> dict[str, str]:
    """Return the verdicts on each paper's claims, where there is something to compare; paths:
    `planning.plan.paths`.
    """
    compared = [name for name, paper in PAPERS.items() if paper.inputs(plan, paths)]
    return {name: f"results/{name}/comparison.csv" for name in compared}


def inputs(plan: Plan, paths: Any) -> dict[str, dict[str, str]]:
    """Return the verdicts on each paper's claims, and those under further readings."""
    compared = comparisons(plan, paths)
    return {
        "comparisons": compared,
        "readings": {name: path for name in compared if (path := PAPERS[name].readings(plan))},
    }


@stage(calls="pages.ledger.page:run")
def write_ledger(plan: Plan) -> dict:
    """Return the spec: the family of each model, and how each partition was made."""
    return {
        "families": {model: plan.config.family(model) for model in plan.models},
        "partitions": [
            {"model": it.model, "partition": it.name, "task": it.task, "method": it.method, "k": it.k, "of": it.of}
            for _, it in sorted(plan.partitions.items())
        ],
    }


def results(paths: Callable[[], Any]) -> tuple[Result, ...]:
    """Declare the results where claims are judged; paths: gives those of all results."""

    def judged(plan: Plan) -> list[dict[str, str]]:
        return [{}] if comparisons(plan, paths()) else []

    rule, about = "write_ledger", "every claim of every paper in every model"
    return (
        Result(
            "results/ledger.{html,csv}",
            rule,
            about,
            of=judged,
            section="To read first",
            content="[the ledger](../understand/ledger.md): every claim of every paper in every cell, which is a "
            "model (with its `family`), a partition (with its `task`, `method`, `k`, and what was divided, `of`) or a "
            "task, and a `reading`: `verdict` and `verdict_holm`, the `value` that decides with its interval (`low`, "
            "`high`), `p` and `p_holm`, the `published` value, the `reason`, and the part of a page where it is "
            "decided; as a page that sorts and filters them",
        ),
        Result(
            "results/ledger.claims.csv",
            rule,
            about,
            of=judged,
            name="ledger_claims",
            section="To read first",
            content="for each claim, how many `cells` have each verdict, in how many of the `models` with a verdict "
            "it holds, fails or is open, and the 95 % interval (`low`, `high`, in percent) of the share of models of "
            "which it is true, over their `families`; and in how many networks of the family `untrained` it holds",
        ),
    )
