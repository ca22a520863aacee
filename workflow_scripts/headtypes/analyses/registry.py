"""All analyses, in the order in which tables and pages have them."""

from collections.abc import Mapping

from headtypes.analyses.ablation.analysis import ABLATION
from headtypes.analyses.company.analysis import COMPANY
from headtypes.analyses.coreference.analysis import COREFERENCE
from headtypes.analyses.declaration import Analysis
from headtypes.analyses.detectors.analysis import DETECTORS
from headtypes.analyses.distances.analysis import DISTANCES, MAPS
from headtypes.analyses.divergence.analysis import DIVERGENCE
from headtypes.analyses.gradients.analysis import GRADIENTS
from headtypes.analyses.norms import NORMS
from headtypes.analyses.outputs.analysis import WRITING
from headtypes.analyses.own.analysis import FIGURE, VALUES, own_analysis, plot_analysis, read_analysis
from headtypes.analyses.probes.analysis import PROBES
from headtypes.analyses.relations.analysis import RELATIONS
from headtypes.analyses.same_word.analysis import SAME_WORD
from headtypes.analyses.surface.analysis import SURFACE
from headtypes.analyses.types.analysis import TYPES
from headtypes.core.files import StrPath

ANALYSES: tuple[Analysis, ...] = (
    DISTANCES,
    NORMS,
    SURFACE,
    SAME_WORD,
    WRITING,
    GRADIENTS,
    DIVERGENCE,
    RELATIONS,
    COREFERENCE,
    COMPANY,
    DETECTORS,
    ABLATION,
    PROBES,
    TYPES,
    MAPS,
)
_BY_NAME = {analysis.name: analysis for analysis in ANALYSES}
# The rules and results of all analyses of users together; each has a declaration of its own (`own_analysis`).
OWN = Analysis("own", section=VALUES.section, results=(VALUES, FIGURE), stages=(read_analysis, plot_analysis))


def analysis_named(name: str) -> Analysis:
    return _BY_NAME.get(name) or own_analysis(name)


def by_analysis(files: Mapping[tuple[str, ...], StrPath]) -> dict[str, dict[str, StrPath]]:
    """Return {analysis: {task: path}} from {(analysis, model, task): path}, in which all are of one model."""
    found: dict[str, dict[str, StrPath]] = {}
    for (analysis, _, task), path in files.items():
        found.setdefault(analysis, {})[task] = path
    return found
