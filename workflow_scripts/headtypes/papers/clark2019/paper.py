"""Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headtypes.core.files import StrPath
from headtypes.core.stage import given
from headtypes.papers.clark2019 import stage
from headtypes.papers.paper import (
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
    shown_texts,
    stages_in,
)

if TYPE_CHECKING:
    import pandas as pd

    from headtypes.core.tables import Table
    from headtypes.papers.clark2019.published import Clark2019


def _figure(number: int, name: str, title: str, entries: Entries = shown_texts) -> Figure:
    path = f"results/clark2019/{{model}}/{{task}}/figure{number}.png"
    return Figure(name, f"Clark's Figure {number}. {title}", f"clark_figure{number}", path, TASK, entries)


def _tables(number: int, name: str, entries: Entries, show: str, *columns: str) -> Tables:
    """One of the paper's tables; show: the function of `language.tables` that has it for a reader."""

    def shown(path: str) -> "Iterable[Table]":
        from headtypes.papers.clark2019.language import tables
        from headtypes.papers.keys import read_named

        return getattr(tables, show)(read_named(path, "task", *columns))

    return Tables(name, f"results/clark2019/table{number}.csv", (), if_any(entries), shown)


def _gradients(plan: Plan) -> list[Any]:
    """The gradients on the text, where there are some."""
    return [entry for entry in shown_texts(plan) if entry in plan.gradients]


def _sentences(plan: Plan) -> list[Any]:
    """The first treebank and the first documents that some model reads."""
    return [*plan.inputs_of("treebank")[:1], *plan.inputs_of("coreference")[:1]]


class _Clark2019(Paper):
    """Its claims are about what single heads look at, on texts, treebanks and documents: every task is judged."""

    name = "clark2019"
    authors = "Clark et al."
    title = "2019: What Does BERT Look At?"
    subject = "task"
    row = "base, the only one"
    judged = "text, treebank and set of documents of every model, with the kind of token that each layer looks at most"
    stages = stages_in(stage)
    results = stage.RESULTS
    figures = (
        _figure(1, "examples", "Examples of patterns"),
        _figure(2, "surface_2", "Attention to special tokens and neighbours"),
        _figure(3, "gradients", "Gradients by kind of token", _gradients),
        _figure(4, "surface_4", "Entropy of attention"),
        _figure(5, "sentences", "Heads that find relations or antecedents", _sentences),
        _figure(6, "divergence", "Heads by their distances"),
    )
    tables = (
        _tables(1, "relations", lambda plan: plan.inputs_of("treebank"), "relation_tables", "left_out"),
        _tables(2, "coreference", lambda plan: plan.inputs_of("coreference"), "coreference_tables"),
        _tables(3, "probes", lambda plan: plan.probed, "probe_tables"),
    )
    judges_tasks = True

    def read(self, path: StrPath) -> "Clark2019":
        """As `published.Clark2019`."""
        from headtypes.papers.clark2019.published import Clark2019
        from headtypes.papers.published import read_published

        return read_published(path, Clark2019)

    def inputs(self, plan: Plan, paths: Paths) -> dict[tuple[str, ...], str]:
        """What was measured on texts, what heads guess on treebanks and documents, and the words that they guess."""
        treebanks, documents = plan.inputs_of("treebank"), plan.inputs_of("coreference")
        tested = [task for task in plan.tasks_of("treebank") if plan.files.of_test(task)]
        return {
            **files("surfaces", paths.SURFACE, plan.texts),
            **files("gradients", paths.GRADIENTS, [entry for entry in plan.texts if entry in plan.gradients]),
            **files("fits", paths.PROJECTION_FIT, plan.texts),
            **files("arcs", paths.ARCS, treebanks),
            **files("sentences", paths.ROWS, treebanks),
            **{("tests", task): paths.TEST_ROWS.format(task=task) for task in tested},
            **files("probes", paths.PROBES, plan.probed),
            **files("antecedents", paths.ANTECEDENTS, documents),
            **files("documents", paths.ROWS, documents),
        }

    def spec(self, plan: Plan) -> dict:
        """How relations are measured, which models stand beside the paper's, and the seed of its intervals."""
        return {
            "relations": given(plan.config.relations) if plan.inputs_of("treebank") else {},
            "beside": [model for model in plan.models if stage.is_beside(plan, model)],
            "seed": plan.seed("compare_with_clark"),
        }

    def compare(self, found: Found, published: "Clark2019", spec: Mapping[str, Any]) -> Compared:
        """As `comparison.compare_files`."""
        from headtypes.papers.clark2019.comparison import compare_files

        return compare_files(found, published, **spec)

    def finding(self, table: "pd.DataFrame", subject: tuple[str, str]) -> str:
        """The kind of token that gets the most attention in some layer."""
        from headtypes.papers.clark2019.comparison import sink_sentence

        return sink_sentence(table, *subject)


CLARK2019 = _Clark2019()
