"""How much heads of a decoder attend beyond sinks and recent tokens."""

from headtypes.analyses.stage import Plan, given, samples_of, stage


@stage("forward", reads="samples")
def measure_reach(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, the arithmetic, and which tokens count as sinks and as recent."""
    sizes = {"sink_size": plan.config.export.sink_size, "recent_size": plan.config.export.recent_size}
    return {**samples_of(plan, task), **sizes}


# The layers below a head that is left out are computed once.
@stage("forward", passes=lambda plan, wildcards, rows: 0.5)
def measure_key_values(plan: Plan, model: str) -> dict:
    """The texts, others than those in which heads are found, the arithmetic, and which sizes the file states."""
    detectors, export = plan.config.detectors, plan.config.export
    sizes = {"texts": detectors.sequences, "context": detectors.context}
    sizes |= {"sink_size": export.sink_size, "recent_size": export.recent_size}
    return {**sizes, "seed": plan.seed("measure_key_values", model), **given(plan.config.compute)}


@stage()
def export_full_attention(plan: Plan, model: str, partition: str) -> dict:
    """The draws of the bootstrap."""
    return {"seed": plan.seed("export_full_attention", model, partition)}
