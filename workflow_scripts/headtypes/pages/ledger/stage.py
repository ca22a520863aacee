"""Every claim of every paper in every model."""

from functools import partial

from headtypes.core.stage import Plan, stage
from headtypes.papers.paper import if_any, to_read_first
from headtypes.papers.registry import PAPERS


def comparisons(plan: Plan) -> dict[str, str]:
    """Return {paper: path of the comparison with it}, for the papers with which the plan compares results."""
    compared = [name for name, paper in PAPERS.items() if paper.inputs(plan)]
    return {name: f"results/{name}/comparison.csv" for name in compared}


def inputs(plan: Plan) -> dict[str, dict[str, str]]:
    """Return {"comparisons": {paper: path}, "readings": {paper: path}}; a paper with one reading has no second path."""
    compared = comparisons(plan)
    readings = {name: path for name in compared if (path := PAPERS[name].readings(plan))}
    return {"comparisons": compared, "readings": readings}


@stage(calls="pages.ledger.page:run")
def write_ledger(plan: Plan) -> dict:
    return {
        "families": {model: plan.config.family(model) for model in plan.models},
        "partitions": [
            {"model": it.model, "partition": it.name, "task": it.task, "method": it.method, "k": it.k, "of": it.of}
            for _, it in sorted(plan.partitions.items())
        ],
    }


_declared = partial(
    to_read_first, rule="write_ledger", about="every claim of every paper in every model", of=if_any(comparisons)
)
CLAIMS = _declared(
    "results/ledger.claims.csv",
    content="for each claim, how many `cells` have each verdict, in how many of the `models` with a verdict "
    "it holds, fails or is open, and the 95 % interval (`low`, `high`, in percent) of the share of models of "
    "which it is true, over their `families`; and in how many networks of the family `untrained` it holds",
)
RESULTS = (
    _declared(
        "results/ledger.{html,csv}",
        content="[the ledger](../understand/ledger.md): every claim of every paper in every cell, which is a "
        "model (with its `family`), a partition (with its `task`, `method`, `k`, and what was divided, `of`) or a "
        "task, and a `reading`: `verdict` and `verdict_holm`, the `value` that decides with its interval (`low`, "
        "`high`), `p` and `p_holm`, the `published` value, the `reason`, and the part of a page where it is "
        "decided; as a page that sorts and filters them",
    ),
    CLAIMS,
)
