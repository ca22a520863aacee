"""The analysis of heads in random company: on which heads answers depend, and whether types tell these heads."""

from functools import partial
from typing import Any

from headtypes.analyses.ablation.analysis import OUTPUTS, answers_of
from headtypes.analyses.declaration import Analysis, Column, share_of
from headtypes.attention.operations import reading_matters, seeded
from headtypes.core.files import StrPath
from headtypes.core.stage import ARTICLES, Plan, Result, stage
from headtypes.data.stage import QUESTIONS, WINDOWS
from headtypes.models.stage import RECORD

# What most models have of sets, for estimates of time.
_SETS = 160


def per_head(task: str, path: StrPath) -> list:
    from headtypes.analyses.company.results import read_costs

    table = read_costs(path)
    note = "How much more the loss of what is right rises without it than without another head of its layer (of the "
    note += "model, if it has more than twelve layers), in random"
    about = {"low": table["low"], "high": table["high"], "note": f"{note} company."}
    return [Column(f"cost.{task}", f"cost on {task}", "Heads in random company", table["cost"], "nats", **about)]


SETS = Result(
    "results/company/{model}/{task}.h5",
    "evaluate_company",
    "scores of each question without sets of random heads",
    of=lambda plan: plan.company,
    name="company",
    content="sets of heads drawn at random (`away` [set, layer, head]) and what the model answers without them: "
    "`scores` [set, unit, metric] and `whole` [unit, metric], with all heads; `metric`: first `loss`, the "
    "cross entropy of what is right in nats; `unit_id` and `article` of each question, pair or document, "
    "`sizes` the tokens of a document. A later job goes "
    "on from `kept/company/MODEL/TASK.h5`",
    withheld=ARTICLES,
)
_measured = partial(Result, rule="measure_costs", of=lambda plan: plan.company)
COSTS = _measured(
    "results/company/{model}/{task}.csv",
    about="what each head costs in random company",
    name="costs",
    content="what each head [costs](../understand/method.md#heads-in-random-company-not-in-the-paper) beside others "
    "of its layer (of the model, if it has more than twelve layers): `away` (in how many sets), `cost` in nats with "
    "its `standard_error` over sets, its "
    "interval over questions or articles (`low`, `high`), `p` over sets and `p_holm`, corrected for all "
    "heads; `cost_*` of other scores, in points; and what else is known of the head: its type in each partition of the "
    "model, and the atlas's columns of other analyses, such as its best relation",
)
FIT = _measured(
    "results/company/{model}/{task}.json",
    about="how far the costs of heads add up",
    content="how far these costs explain what sets lose: `r2`, adjusted, and `held_out`, of sets that were held "
    "out, `halves`, the correlation of the costs of halves of the sets, `whole` and `set_cost` of each "
    "score; `half`, how many heads explain half of what costs explain; `pair`, the largest effect of two "
    "heads together; `penalty` of ridge, 0 for least squares",
)
LABELS = _measured(
    "results/company/{model}/{task}.labels.csv",
    about="types and other numbers of heads beside their costs",
    content="types of each partition of the model and numbers of its heads beside what heads cost: `family`, "
    "`label`, `heads`, `statistic` (how much more its heads cost than all of their layer, or a rank "
    "correlation within layers) and `p`, by permutation within layers, corrected for all of the family; "
    "`p_beyond`: likewise, beyond the heads that matter",
)


def _sets(plan: Plan, wildcards: Any, rows: int) -> float:
    company = plan.config.company
    return (company.sets or _SETS) * share_of(company.questions, rows)


def company_outputs(plan: Plan, model: str, task: str) -> str | list:
    return OUTPUTS.path.format(model=model, task=task) if plan.company_needs_head_outputs else []


@stage(
    "forward",
    reads="questions",
    passes=_sets,
    calls="analyses.company.sets:run",
    inputs=(RECORD, QUESTIONS, WINDOWS, company_outputs),
)
def evaluate_company(plan: Plan, model: str, task: str) -> dict:
    company, kind = plan.config.company, plan.kind_of(task)
    matter = reading_matters([company.operation])
    reading = {name: getattr(plan.config.ablation, name) for name in matter if name not in kind.without_reading}
    return {
        "sets": company.sets,
        "per_layer": company.per_layer,
        "operation": seeded(company.operation, plan.seed("resample", model, company.operation)),
        "questions": company.questions,
        "seed": plan.seed("evaluate_company", model, task),
        **answers_of(plan, task, reading),
    }


@stage(calls="analyses.company.costs:run")
def measure_costs(plan: Plan, model: str, task: str) -> dict:
    return {"seed": plan.seed("measure_costs", model, task)}


COMPANY = Analysis(
    "company",
    "cost in random company (nats)",
    section="What the model can do without",
    files=(COSTS,),
    results=(SETS, COSTS, FIT, LABELS),
    stages=(evaluate_company, measure_costs),
    per_head=per_head,
    leads=True,
)
