"""Guan et al., "How Far Does BERT Look At" (COLING 2020)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headtypes.core.files import StrPath
from headtypes.papers.guan2020 import page, stage
from headtypes.papers.paper import Compared, Found, Paper, Paths, Plan, files, stages_in

if TYPE_CHECKING:
    from headtypes.papers.guan2020.published import Guan2020


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
    figures, tables = page.FIGURES, page.TABLES

    def read(self, path: StrPath) -> "Guan2020":
        """As `published.read_guan2020`."""
        from headtypes.papers.guan2020.published import read_guan2020

        return read_guan2020(path)

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
                "parent": plan.parent(partition.model),
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
