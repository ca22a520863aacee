"""Guan et al., "How Far Does BERT Look At" (COLING 2020)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headtypes.core.files import StrPath
from headtypes.papers.guan2020 import stage
from headtypes.papers.paper import (
    PARTITION,
    TASK,
    Compared,
    Entries,
    Figure,
    Found,
    Paper,
    Paths,
    Plan,
    Tables,
    files,
    if_any,
    shown_partitions,
    shown_texts,
    stages_in,
)

if TYPE_CHECKING:
    from headtypes.core.tables import Table
    from headtypes.papers.guan2020.published import Guan2020


def _figure(number: int, name: str, title: str) -> Figure:
    path = f"results/guan2020/{{model}}/{{partition}}/figure{number}.png"
    return Figure(name, f"Figure {number}. {title}", f"figure{number}", path, PARTITION, shown_partitions)


def _further(name: str, title: str, entries: Entries, of: tuple[str, ...] = PARTITION) -> Figure:
    return Figure(name, title, name, f"results/{name}/{{{of[0]}}}/{{{of[1]}}}.png", of, entries)


def _clustered(plan: Plan) -> list[Any]:
    return [it for it in shown_partitions(plan) if it in plan.clustered]


def _controlled(plan: Plan) -> list[Any]:
    controlled = {(it.model, it.partition) for it in plan.controlled}
    return [it for it in shown_partitions(plan) if (it.model, it.name) in controlled]


def _curved(plan: Plan) -> list[Any]:
    return shown_partitions(plan) if plan.curved else []


def _stability(path: str) -> "Iterable[Table]":
    from headtypes.papers.guan2020.tables import stability_shown
    from headtypes.papers.keys import read_named

    return [stability_shown(read_named(path, "partition"))]


def _ablations(path: str, number: str) -> "Iterable[Table]":
    from headtypes.papers.guan2020.tables import ablation_shown
    from headtypes.papers.keys import read_named

    return ablation_shown(read_named(path, "partition", "condition"), int(number))


def _compared(path: str, clustering: str) -> "Iterable[Table]":
    from headtypes.comparisons.models.compared import compared_table, read_pairs

    pairs = read_pairs(path)
    return [compared_table(pairs, clustering)] if len(pairs) else []


class _Guan2020(Paper):
    """Its claims are about the types of a model's heads: every partition is judged."""

    name = "guan2020"
    authors = "Guan et al."
    title = "2020: How Far Does BERT Look At"
    subject = "partition"
    row = "a row of Table 1"
    judged = "partition of every model"
    stages = stages_in(stage)
    results = stage.RESULTS
    figures = (
        _figure(1, "heads", "Typical heads of each type"),
        _figure(2, "projection", "Heads in two dimensions"),
        _figure(3, "layers", "Types by layer"),
        Figure(
            *("models", "Figure 4. Types of all models", "figure4", "results/guan2020/{clustering}/figure4.png"),
            *(("clustering",), stage.clusterings),
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
    tables = (
        Tables("types", "results/guan2020/table1.csv", (), if_any(lambda plan: plan.clustered), _stability),
        Tables(
            *("ablations", "results/guan2020/table{number}.all.csv", ("number",)),
            *(lambda plan: [{"number": number} for number in "23" if plan.ablations], _ablations),
        ),
        Tables("compared", "results/compared/{clustering}/pairs.csv", ("clustering",), stage.clusterings, _compared),
    )

    def read(self, path: StrPath) -> "Guan2020":
        """As `published.Guan2020`."""
        from headtypes.papers.guan2020.published import Guan2020
        from headtypes.papers.published import read_published

        return read_published(path, Guan2020)

    def inputs(self, plan: Plan, paths: Paths) -> dict[tuple[str, ...], str]:
        """Partitions, the answers under each condition, how clusterings agree, its tables, and what readings decide."""
        judged = _judged(plan)
        if not judged:
            return {}
        clustered = [it for it in judged.values() if it in plan.clustered]
        tables = [("stability", "table1", plan.clustered)]
        tables += [("ablations", table, plan.ablations) for table in ("table2.all", "table3.all")]
        return {
            **files("partitions", paths.PARTITION, judged.values()),
            **files("scores", paths.SCORES, [it for it in plan.tabulated if (it.model, it.partition) in judged]),
            **files("stabilities", paths.STABILITY, clustered),
            **files("numbers", paths.NUMBERS_OF_TYPES, clustered),
            **{(kind, table): f"results/{self.name}/{table}.csv" for kind, table, entries in tables if entries},
            **({("readings", "readings"): readings} if (readings := self.readings(plan)) else {}),
        }

    def spec(self, plan: Plan) -> dict:
        """What each partition is, and the seed of its intervals."""
        partitions = [
            {
                "model": partition.model,
                "partition": partition.name,
                "method": partition.method,
                "k": partition.k,
                "published": plan.config.models[partition.model].published.get(self.name),
                "parent": plan.config.parent(partition.model),
            }
            for partition in _judged(plan).values()
        ]
        return {"partitions": partitions, "seed": plan.seed("compare_with_paper")}

    def readings(self, plan: Plan) -> str:
        """The claims that answers decide, where some were given under further readings."""
        return "results/guan2020/readings.csv" if plan.readings and plan.ablations else ""

    def compare(self, found: Found, published: "Guan2020", spec: Mapping[str, Any]) -> Compared:
        """As `comparison.compare_files`."""
        from headtypes.papers.guan2020.comparison import compare_files

        return compare_files(found, published, **spec)


def _judged(plan: Plan) -> dict[tuple[str, str], Any]:
    """The partitions that its claims are about: of heads divided by the weights of their attention."""
    return {key: partition for key, partition in plan.partitions.items() if partition.of == "weights"}


GUAN2020 = _Guan2020()
