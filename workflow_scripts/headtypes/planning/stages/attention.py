"""What is kept of attention itself."""

from headtypes.analyses.stage import encoding_of, norms_of, stage
from headtypes.core.results import TEXT, Result
from headtypes.planning.plan import Plan


# Of all samples, it reads a few.
@stage("forward", reads="samples", passes=lambda plan, wildcards, rows: 0)
def map_attention(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, the arithmetic, and whether norms are read."""
    precision = {"precision": plan.config.compute.precision}
    return {"task": task, **encoding_of(plan, task), **precision, **norms_of(plan, task)}


RESULTS = (
    Result(
        "results/maps/{model}/{task}.h5",
        "map_attention",
        "attention maps with their tokens",
        of=lambda plan: plan.features,
        name="maps",
        section="Heads and types",
        content="whole attention maps: of one short sample, for Figures 1 and 5",
        withheld=TEXT,
    ),
    Result(
        "results/maps/{model}/{task}.samples.h5",
        "map_attention",
        "attention maps with their tokens",
        of=lambda plan: plan.features,
        name="sample_maps",
        section="Heads and types",
        content="whole attention maps of up to 8 samples of up to 48 tokens, for the atlas",
        withheld=TEXT,
    ),
)
