"""Which heads attend by position, or to tokens that have stood before."""

from headtypes.core.stage import Plan, given, stage

# Sequences that are drawn; tokens of half of one; the share of its attention by which a detected head exceeds the null.
SEQUENCES, LENGTH, LEAST = 32, 32, 0.1


@stage("forward", calls="analyses.detectors.measure:run")
def measure_detectors(plan: Plan, model: str) -> dict:
    """The sequences, which are those of every model with the same tokens, and the arithmetic.

    And by how much a head exceeds the null, with the draws of the bootstrap.
    """
    drawn = {"sequences": SEQUENCES, "length": LENGTH, "seed": plan.seed("measure_detectors")}
    table = {"least": LEAST, "seed": plan.seed("tabulate_detectors", model)}
    return {**drawn, **given(plan.config.compute), "table": table}
