"""The papers with which results are compared, and the rule of the comparison. Planning reads this module."""

from functools import partial
from typing import Any

from headtypes.core.stage import Plan, stage
from headtypes.papers.clark2019.paper import CLARK2019
from headtypes.papers.guan2020.paper import GUAN2020
from headtypes.papers.kobayashi2020.paper import KOBAYASHI2020
from headtypes.papers.paper import Paper, by_kind, to_read_first

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (GUAN2020, CLARK2019, KOBAYASHI2020)}


@stage(calls="papers.registry:run")
def compare_with_paper(plan: Plan, paper: str) -> dict:
    return {"paper": paper, "repeats": plan.repeats, "tested": plan.config.tests.claims, **PAPERS[paper].spec(plan)}


_compared = partial(
    to_read_first,
    rule="compare_with_paper",
    about="the claims and values of a paper beside those found",
    of=lambda plan: [{"paper": name} for name, paper in PAPERS.items() if paper.inputs(plan)],
)
RESULTS = (
    _compared(
        "results/{paper}/comparison.{csv,md,html}",
        content="the values and claims of a paper next to ours, for every "
        + "; ".join(f"{paper.judged} (`{paper.name}`)" for paper in PAPERS.values())
        + ", with intervals (`over` says of what) and verdicts; `basis` tells claims in words (`stated`) from "
        "those that are `inferred` or `from_table`; `p`, `p_holm` and `verdict_holm`: "
        "[corrected](../understand/method.md#how-certain-a-value-is-not-in-the-paper) for their number; in "
        "`clark2019`, rows without a task are claims about a kind of task that the model does not read; rows of "
        "the kinds `claim over models` and `figure over models` are "
        "[over seeds](../understand/ledger.md#over-seeds)",
    ),
    _compared(
        "results/{paper}/quantities.csv",
        content="the quantities that its claims are judged on: what they are of, quantity, value, and the ends of "
        "its interval",
    ),
)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    from headtypes.core.table_files import write_csv
    from headtypes.core.tables import write_table

    paper = PAPERS[spec.pop("paper")]
    compared = paper.compare(by_kind(inputs.results), paper.published.read(inputs.reference), spec)
    write_csv(outputs.quantities, compared.quantities)
    write_table(outputs, compared.table, compared.page, provenance)
