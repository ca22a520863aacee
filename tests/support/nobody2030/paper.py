"""Nobody, "Heads Do This" (2030): its data, its one claim, and what it is judged on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headtypes.papers.paper import PARTITION, Compared, Figure, Found, Paper, Paths, Plan, files, shown_partitions


class _Nobody2030(Paper):
    """Its claim is about the largest type of a partition."""

    name = "nobody2030"
    authors = "Nobody"
    title = "2030: Heads Do This"
    subject = "partition"
    row = "main, the only one"
    judged = "partition of every model"
    figures = (
        Figure(
            *("nobody", "Nobody's Figure 1. Types by layer", "figure3"),
            *("results/guan2020/{model}/{partition}/figure3.png", PARTITION, shown_partitions),
        ),
    )

    def read(self, path: str | Path) -> Any:
        """As `claims.Nobody2030`."""
        from headtypes.papers.nobody2030.claims import Nobody2030

        from headtypes.papers.published import read_published

        return read_published(path, Nobody2030)

    def inputs(self, plan: Plan, paths: Paths) -> dict[tuple[str, ...], str]:
        """The partitions."""
        return files("partitions", paths.PARTITION, plan.partitions.values())

    def spec(self, plan: Plan) -> dict:
        """Nothing: the comparison depends on the partitions alone."""
        return {}

    def compare(self, found: Found, published: Any, spec: Mapping[str, Any]) -> Compared:
        """As `claims.compare`."""
        from headtypes.papers.nobody2030.claims import compare

        return compare(found["partitions"], published)


NOBODY2030 = _Nobody2030()
