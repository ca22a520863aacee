"""All stages, by the names of their rules."""

from headtypes.planning.stages import (
    ablation,
    attention,
    clark2019,
    divergence,
    features,
    gradients,
    guan2020,
    models,
    surface,
    tasks,
    training,
    types,
)
from headtypes.planning.stages.language import coreference, syntax, tables
from headtypes.planning.stages.overview import atlas, joined, summary
from headtypes.planning.stages.stage import Stage

_MODULES = (
    models,
    tasks,
    training,
    attention,
    features,
    surface,
    divergence,
    gradients,
    types,
    ablation,
    syntax,
    coreference,
    guan2020,
    clark2019,
    tables,
    joined,
    summary,
    atlas,
)
STAGES: dict[str, Stage] = {
    value.name: value for module in _MODULES for value in vars(module).values() if isinstance(value, Stage)
}
