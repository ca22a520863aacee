"""Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headtypes.core.files import StrPath
from headtypes.core.stage import given
from headtypes.papers.clark2019 import page, stage
from headtypes.papers.clark2019.language import stage as language
from headtypes.papers.paper import Compared, Found, Paper, Paths, Plan, files, stages_in

if TYPE_CHECKING:
    import pandas as pd

    from headtypes.papers.clark2019.published import Clark2019


class _Clark2019(Paper):
    """Its claims are about what single heads look at, on texts, treebanks and documents: every task is judged."""

    name = "clark2019"
    authors = "Clark et al."
    title = "2019: What Does BERT Look At?"
    subject = "task"
    row = "base, the only one"
    judged = "text, treebank and set of documents of every model, with the kind of token that each layer looks at most"
    stages = stages_in(stage, language)
    results = (*stage.RESULTS, *language.RESULTS)
    figures, tables = page.FIGURES, page.TABLES
    judges_tasks = True

    def read(self, path: StrPath) -> "Clark2019":
        """As `published.read_clark2019`."""
        from headtypes.papers.clark2019.published import read_clark2019

        return read_clark2019(path)

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
