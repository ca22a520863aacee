"""Which heads attend by position, or to tokens that have stood before."""

from typing import Any

from headtypes.analyses.stage import Plan, given, stage


@stage("forward")
def measure_detectors(plan: Plan, model: str) -> dict:
    """The sequences, which are those of every model with the same tokens, and the arithmetic.

    And by how much a head exceeds the null, with the draws of the bootstrap.
    """
    sizes = {"sequences": plan.config.detectors.sequences, "length": plan.config.detectors.length}
    sizes |= {"context": plan.config.detectors.context} if plan.config.detectors.context else {}
    table = {"least": plan.config.detectors.least, "seed": plan.seed("tabulate_detectors", model)}
    return {**sizes, "seed": plan.seed("measure_detectors"), **given(plan.config.compute), "table": table}


def _passes(plan: Plan, wildcards: Any, rows: int) -> float:
    # At most: of either detector of needles, the plain model, and those without the heads and without random ones.
    return 2 * (2 + plan.config.detectors.draws)


@stage("forward", passes=_passes)
def measure_retrieval(plan: Plan, model: str) -> dict:
    """The texts, others than those in which heads are found, the draws of random heads, and the arithmetic."""
    detectors = plan.config.detectors
    sizes = {"texts": detectors.sequences, "context": detectors.context, "draws": detectors.draws}
    return {**sizes, "seed": plan.seed("measure_retrieval", model), **given(plan.config.compute)}
