"""Types of heads beside every analysis of their model."""

from dataclasses import replace

from headtypes.core.stage import Plan, Result, stage


@stage(calls="comparisons.types:run")
def compare_types(plan: Plan, model: str, partition: str) -> dict:
    left_out = {
        ablation.name: {"type": type_, "operation": operation, "task": ablation.task}
        for ablation in plan.left_out(model, partition)
        for type_, operation in plan.operations(ablation.condition).items()
    }
    return {"left_out": left_out, "tested": plan.config.tests.types, "seed": plan.seed("join_types", model, partition)}


TABLE = Result(
    "results/compared_types/{model}/{partition}.csv",
    "compare_types",
    "every type in every analysis, beside random heads",
    of=lambda plan: plan.compared_types,
    section="To read first",
    content="for each type and each number of each analysis of the model (`analysis`, `task`, "
    "`quantity`, `statistic`) the `value` with its interval (`low`, `high`) where the analysis keeps what it "
    "takes, and where the value lies among as many random heads of the same layers (`random`, `random_low`, "
    "`random_high`, `rank`, `draws`; `p` and `p_holm`, corrected for all of these, where the figure shows the "
    "value and `tests: types` names the analysis; `overlap` of the random heads with the type); `heads` of the "
    "type, `doubtful` names ([method](../understand/method.md#types-beside-random-heads))",
)
FIGURE = replace(
    TABLE,
    path="results/compared_types/{model}/{partition}.{pdf,png}",
    content="this table as a figure, and the types on the projection of Clark's Figure 6",
)
RESULTS = (TABLE, FIGURE)
