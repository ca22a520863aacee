"""All rules and results, as they are declared beside what makes them."""

from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace

from headtypes.analyses.registry import ANALYSES, OWN
from headtypes.comparisons.types import stage as compared_types
from headtypes.core.results import Result
from headtypes.core.stage import Plan, Stage
from headtypes.data import stage as data
from headtypes.models import stage as models
from headtypes.pages.atlas import stage as atlas
from headtypes.pages.ledger import stage as ledger
from headtypes.pages.summary import stage as summary
from headtypes.papers import registry as papers
from headtypes.papers.registry import PAPERS
from headtypes.training import stage as training

_MODULES = (models, data, training, papers, compared_types, summary, ledger, atlas)
# By the names of their rules.
STAGES: dict[str, Stage] = {
    **{stage.name: stage for module in _MODULES for stage in vars(module).values() if isinstance(stage, Stage)},
    **{stage.name: stage for declared in (*ANALYSES, OWN, *PAPERS.values()) for stage in declared.stages},
}
# In the order in which the documentation lists them, under their headings.
RESULTS: tuple[Result, ...] = (
    *(result for module in (summary, atlas) for result in module.RESULTS),
    *ledger.results(lambda: paths),
    *papers.results(lambda: paths),
    *compared_types.RESULTS,
    *(result for paper in PAPERS.values() for result in paper.results),
    *(replace(result, section=analysis.section) for analysis in (*ANALYSES, OWN) for result in analysis.results),
    *(result for module in (models, data, training) for result in module.RESULTS),
)
if unknown := [result for result in RESULTS if result.rule not in STAGES]:
    raise ValueError(f"No stage is named {unknown[0].rule}, of which {unknown[0].path} is declared to be a result.")


class _Paths(SimpleNamespace):
    def __getattr__(self, name: str):
        raise AttributeError(f"No result is declared with the name {name.lower()}.")


# The patterns of results that several rules use, by their names.
paths = _Paths(**{result.name.upper(): result.path for result in RESULTS if result.name})


def files_of(plan: Plan, results: Iterable[Result] = RESULTS) -> list[str]:
    """The files and folders of all results of a plan, or of some of these, as they are declared."""
    return [
        path.format(**result.wildcards(entry))
        for result in results
        for entry in (result.of(plan) if result.of else ())
        for path in result.paths
    ]
