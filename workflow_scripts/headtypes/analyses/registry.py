"""All analyses, in the order in which tables and pages have them."""

from headtypes.analyses.ablation.analysis import ABLATION
from headtypes.analyses.company.analysis import COMPANY
from headtypes.analyses.coreference.analysis import COREFERENCE
from headtypes.analyses.declaration import Analysis
from headtypes.analyses.detectors.analysis import DETECTORS
from headtypes.analyses.distances.analysis import DISTANCES
from headtypes.analyses.divergence.analysis import DIVERGENCE
from headtypes.analyses.gradients.analysis import GRADIENTS
from headtypes.analyses.maps.analysis import MAPS
from headtypes.analyses.norms.analysis import NORMS
from headtypes.analyses.outputs.analysis import WRITING
from headtypes.analyses.probes.analysis import PROBES
from headtypes.analyses.relations.analysis import RELATIONS
from headtypes.analyses.same_word.analysis import SAME_WORD
from headtypes.analyses.surface.analysis import SURFACE
from headtypes.analyses.types.analysis import TYPES

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
