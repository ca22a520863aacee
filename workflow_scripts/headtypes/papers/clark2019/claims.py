"""All claims of this paper, in its order."""

from headtypes.papers.clark2019.claims_of_texts import of_layers, of_surface
from headtypes.papers.clark2019.language.claims import of_coreference, of_probes, of_relations

CLAIMS = (*of_surface, *of_relations, *of_coreference, *of_probes, *of_layers)
