"""All stages, by the names of their rules."""

from headtypes.analyses.ablation import stage as ablation
from headtypes.analyses.coreference import stage as coreference
from headtypes.analyses.detectors import stage as detectors
from headtypes.analyses.distances import stage as distances
from headtypes.analyses.gradients import stage as gradients
from headtypes.analyses.probes import stage as probes
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.relations import stage as relations
from headtypes.analyses.stage import Stage
from headtypes.analyses.types import stage as types
from headtypes.papers import stage as papers
from headtypes.papers.paper import stages_in
from headtypes.papers.registry import PAPERS
from headtypes.planning.stages import models, tasks, training
from headtypes.planning.stages.overview import atlas, compared_types, ledger, summary

_MODULES = (
    models,
    tasks,
    training,
    distances,
    gradients,
    detectors,
    types,
    ablation,
    relations,
    probes,
    coreference,
    papers,
    compared_types,
    summary,
    ledger,
    atlas,
)
STAGES: dict[str, Stage] = {
    **{stage.name: stage for stage in stages_in(*_MODULES)},
    **{stage.name: stage for declared in (*ANALYSES, *PAPERS.values()) for stage in declared.stages},
}
