"""What the page of results shows of this paper, and of what goes past it in its manner."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from headtypes.papers.figures import PARTITION, TASK, Entries, Figure, Tables, if_any, shown_partitions, shown_texts

if TYPE_CHECKING:
    from headtypes.core.tables import Table


def _clusterings(plan: Any) -> list[dict[str, str]]:
    return [{"clustering": clustering} for clustering in plan.clusterings]


def _clustered(plan: Any) -> list[Any]:
    return [it for it in shown_partitions(plan) if it in plan.clustered]


def _controlled(plan: Any) -> list[Any]:
    controlled = {(it.model, it.partition) for it in plan.controlled}
    return [it for it in shown_partitions(plan) if (it.model, it.name) in controlled]


def _curved(plan: Any) -> list[Any]:
    return shown_partitions(plan) if plan.curved else []


def _stability(path: str) -> "Iterable[Table]":
    from headtypes.papers.guan2020.table_pages import stability_shown
    from headtypes.papers.keys import read_named

    return [stability_shown(read_named(path, "partition"))]


def _ablations(path: str, number: str) -> "Iterable[Table]":
    from headtypes.papers.guan2020.table_pages import ablation_shown
    from headtypes.papers.keys import read_named

    return ablation_shown(read_named(path, "partition", "condition"), int(number))


def _compared(path: str, clustering: str) -> "Iterable[Table]":
    from headtypes.comparisons.models.compared import compared_table, read_pairs

    pairs = read_pairs(path)
    return [compared_table(pairs, clustering)] if len(pairs) else []


def _figure(number: int, name: str, title: str) -> Figure:
    path = f"results/guan2020/{{model}}/{{partition}}/figure{number}.png"
    return Figure(name, f"Figure {number}. {title}", f"figure{number}", path, PARTITION, shown_partitions)


def _further(name: str, title: str, entries: Entries, of: tuple[str, ...] = PARTITION) -> Figure:
    return Figure(name, title, name, f"results/{name}/{{{of[0]}}}/{{{of[1]}}}.png", of, entries)


FIGURES = (
    _figure(1, "heads", "Typical heads of each type"),
    _figure(2, "projection", "Heads in two dimensions"),
    _figure(3, "layers", "Types by layer"),
    Figure(
        *("models", "Figure 4. Types of all models", "figure4", "results/guan2020/{clustering}/figure4.png"),
        *(("clustering",), _clusterings),
    ),
    _figure(5, "maps", "The attention of every head"),
    Figure(
        *("numbers_of_types", "How many types there are, and how stable they are", "stability"),
        *("results/stability/{model}/{partition}.png", PARTITION, _clustered),
    ),
    _further("controls", "What types cost, beside random heads", _controlled),
    _further("curves", "Heads left out in growing sets", _curved),
    _further("outputs", "What heads write into the residual stream", shown_texts, TASK),
)
TABLES = (
    Tables("types", "results/guan2020/table1.csv", (), if_any(lambda plan: plan.clustered), _stability),
    Tables(
        *("ablations", "results/guan2020/table{number}.all.csv", ("number",)),
        *(lambda plan: [{"number": number} for number in "23" if plan.ablations], _ablations),
    ),
    Tables("compared", "results/compared/{clustering}/pairs.csv", ("clustering",), _clusterings, _compared),
)
