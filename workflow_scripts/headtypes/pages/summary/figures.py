"""All figures and tables of the summary: those that each paper lists, and those of no single paper."""

from headtypes.papers.paper import PARTITION, Figure, Plan, shown_partitions, shown_texts
from headtypes.papers.registry import PAPERS


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


FIGURES = (*(figure for paper in PAPERS.values() for figure in paper.figures), COMPARED_TYPES)
TABLES = tuple(tables for paper in PAPERS.values() for tables in paper.tables)
