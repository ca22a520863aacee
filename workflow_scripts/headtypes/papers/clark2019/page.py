"""What the page of results shows of this paper."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from headtypes.papers.figures import TASK, Figure, Tables, if_any, shown_texts

if TYPE_CHECKING:
    from headtypes.core.tables import Table


def _gradients(plan: Any) -> list[Any]:
    """The gradients on the text, where there are some."""
    return [entry for entry in shown_texts(plan) if entry in plan.gradients]


def _treebanks(plan: Any) -> list[Any]:
    return plan.inputs_of("treebank")


def _documents(plan: Any) -> list[Any]:
    return plan.inputs_of("coreference")


def _sentences(plan: Any) -> list[Any]:
    """The first treebank and the first documents that some model reads."""
    return [*_treebanks(plan)[:1], *_documents(plan)[:1]]


def _relations(path: str) -> "Iterable[Table]":
    from headtypes.papers.clark2019.language.tables import relation_tables
    from headtypes.papers.keys import read_named

    return relation_tables(read_named(path, "task", "left_out").fillna({"left_out": ""}))


def _coreference(path: str) -> "Iterable[Table]":
    from headtypes.papers.clark2019.language.tables import coreference_tables
    from headtypes.papers.keys import read_named

    return coreference_tables(read_named(path, "task"))


def _probes(path: str) -> "Iterable[Table]":
    from headtypes.papers.clark2019.language.tables import probe_tables
    from headtypes.papers.keys import read_named

    return probe_tables(read_named(path, "task"))


_FIGURES = (
    ("examples", "1. Examples of patterns", 1, shown_texts),
    ("surface_2", "2. Attention to special tokens and neighbours", 2, shown_texts),
    ("gradients", "3. Gradients by kind of token", 3, _gradients),
    ("surface_4", "4. Entropy of attention", 4, shown_texts),
    ("sentences", "5. Heads that find relations or antecedents", 5, _sentences),
    ("divergence", "6. Heads by their distances", 6, shown_texts),
)
FIGURES = tuple(
    Figure(
        *(name, f"Clark's Figure {title}", f"clark_figure{number}"),
        *(f"results/clark2019/{{model}}/{{task}}/figure{number}.png", TASK, entries),
    )
    for name, title, number, entries in _FIGURES
)
TABLES = (
    Tables("relations", "results/clark2019/table1.csv", (), if_any(_treebanks), _relations),
    Tables("coreference", "results/clark2019/table2.csv", (), if_any(_documents), _coreference),
    Tables("probes", "results/clark2019/table3.csv", (), if_any(lambda plan: plan.probed), _probes),
)
