"""Heads of several models, aligned by what they do."""

from headtypes.analyses.stage import stage
from headtypes.core.results import Result
from headtypes.planning.plan import Plan


@stage()
def compare_heads(plan: Plan, task: str) -> dict:
    """How features are read, the families of the models, and the seed of the random heads."""
    clustering = plan.config.clustering
    return {
        "task": task,
        "distance_bins": clustering.distance_bins,
        "first_token": clustering.first_token,
        "families": {entry.model: plan.family(entry.model) for entry in plan.compared_heads[task]},
        "seed": plan.seed("compare_heads", task),
    }


def _compared(plan: Plan) -> list[dict[str, str]]:
    return [{"task": task} for task in plan.compared_heads]


RESULTS = (
    Result(
        "results/compared_heads/{task}.csv",
        "compare_heads",
        "heads of several models, by what they do",
        of=_compared,
        name="compared_heads",
        section="To read first",
        content="for tasks with features of three models or more: the `kind` of each head (`model`, `layer`, `head`, "
        "both from 0), 0 for heads like no others ([method](../understand/method.md#kinds-of-heads-over-models))",
    ),
    Result(
        "results/compared_heads/{task}.kinds.csv",
        "compare_heads",
        "kinds of heads, and in how many models they are",
        of=_compared,
        section="To read first",
        content="for each `kind` what its heads look at or do (`looks`), the number of its `heads`, and of the "
        "`models` and `families` that have one; in how many models as many random heads are (`random`, `random_low`, "
        "`random_high`), `p` and `p_holm`",
    ),
    Result(
        "results/compared_heads/{task}.{pdf,png}",
        "compare_heads",
        "which kinds of heads are in which models",
        of=_compared,
        section="To read first",
        content="this as a figure: a row for each kind, a column for each model",
    ),
    Result(
        "results/compared_heads/{task}.html",
        "compare_heads",
        "every head by its kind, and links to it",
        of=_compared,
        section="To read first",
        content="this as a page: a row for each model, a column for each kind, and in each cell the heads, each with a "
        "link to its atlas",
    ),
)
