"""Which heads attend by position, or to tokens that have stood before."""

from headtypes.analyses.stage import Plan, given, stage


@stage("forward")
def measure_detectors(plan: Plan, model: str) -> dict:
    """The sequences, which are those of every model with the same tokens, and the arithmetic.

    And by how much a head exceeds the null, with the draws of the bootstrap.
    """
    sizes = {"sequences": plan.config.detectors.sequences, "length": plan.config.detectors.length}
    table = {"least": plan.config.detectors.least, "seed": plan.seed("tabulate_detectors", model)}
    return {**sizes, "seed": plan.seed("measure_detectors"), **given(plan.config.compute), "table": table}
