"""All figures and tables of the summary: those that each paper lists in its `page.py`, and those of no single paper."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from headtypes.papers.figures import PARTITION, Figure, Plan, Tables, shown_partitions, shown_texts
from headtypes.papers.registry import PAPERS

if TYPE_CHECKING:
    from headtypes.core.tables import Table


def shown_compared_types(plan: Plan) -> list:
    """The partitions whose types stand beside random heads in the summary: the shown one, and one of the text."""
    of_texts = [plan.shown_partition(*entry) for entry in shown_texts(plan)]
    wanted = [*shown_partitions(plan), *(it for it in of_texts if it is not None)]
    return [it for index, it in enumerate(wanted) if it in plan.compared_types and it not in wanted[:index]]


COMPARED_TYPES = Figure(
    *(
        "compared_types_figures",
        "Types beside random heads",
        "compared_types",
        "results/compared_types/{model}/{partition}.png",
    ),
    *(PARTITION, shown_compared_types),
)


def _aligned(plan: Plan) -> list[dict[str, str]]:
    return [{"task": task} for task in plan.compared_heads]


def _kinds(path: str, task: str) -> "Iterable[Table]":
    from headtypes.comparisons.heads.shown import kinds_shown

    return kinds_shown(path, task)


KINDS = Figure(
    *("kinds_figures", "Kinds of heads", "compared_heads", "results/compared_heads/{task}.png", ("task",), _aligned),
)
KINDS_TABLE = Tables("kinds", "results/compared_heads/{task}.kinds.csv", ("task",), _aligned, _kinds)
DEVELOPMENT = Figure(
    *("development_figures", "Over a training", "development", "results/development/{development}.png"),
    *(("development",), lambda plan: [{"development": name} for name in plan.developments]),
)
FIGURES = (*(figure for paper in PAPERS.values() for figure in paper.figures), COMPARED_TYPES, KINDS, DEVELOPMENT)
TABLES = (*(tables for paper in PAPERS.values() for tables in paper.tables), KINDS_TABLE)
