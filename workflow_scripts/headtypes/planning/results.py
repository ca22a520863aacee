"""All results that rules write, as they are declared beside what makes them."""

from types import SimpleNamespace

from headtypes.analyses.registry import ANALYSES
from headtypes.core.results import Result
from headtypes.papers import stage as papers
from headtypes.papers.registry import PAPERS
from headtypes.planning.plan import Plan
from headtypes.planning.stages import attention, models, tasks, training
from headtypes.planning.stages.overview import atlas, compared_types, ledger, summary

# In the order in which the documentation lists them, under their headings.
RESULTS: tuple[Result, ...] = (
    *(result for module in (summary, atlas) for result in module.RESULTS),
    *ledger.results(lambda: paths),
    *papers.results(lambda: paths),
    *compared_types.RESULTS,
    *(result for declared in (*PAPERS.values(), *ANALYSES) for result in declared.results),
    *(result for module in (attention, models, tasks, training) for result in module.RESULTS),
)
# The patterns of results that several rules use, by their names.
paths = SimpleNamespace(**{result.name.upper(): result.path for result in RESULTS if result.name})


def files_of(plan: Plan) -> list[str]:
    """The files and folders of all results of a plan, as they are declared."""
    return [
        path.format(**result.wildcards(entry))
        for result in RESULTS
        for entry in (result.of(plan) if result.of else ())
        for path in result.paths
    ]
