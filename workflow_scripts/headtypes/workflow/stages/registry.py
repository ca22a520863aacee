"""All stages, by the names of their rules."""

from headtypes.workflow.stages import (
    ablation,
    attention,
    coreference,
    features,
    guan2020,
    models,
    syntax,
    tasks,
    training,
    types,
)
from headtypes.workflow.stages.stage import Stage

_MODULES = (models, tasks, training, attention, features, types, ablation, syntax, coreference, guan2020)
STAGES: dict[str, Stage] = {
    value.name: value for module in _MODULES for value in vars(module).values() if isinstance(value, Stage)
}
