"""One model over its training: what its heads do at each checkpoint, and since when."""

from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.stage import stage
from headtypes.core.results import Result
from headtypes.planning.entries import FeaturePlan
from headtypes.planning.plan import Plan

# The files with values of heads, by what each is called among the inputs of the rule.
TRACED = {file.name: file for it in ANALYSES if it.is_traced for file in it.files}


def files_of(plan: Plan, name: str, development: str) -> list[FeaturePlan]:
    """The entries of a file of `TRACED` that all checkpoints of a training have."""
    reading = [it for it in ANALYSES if it.is_traced and TRACED[name] in it.files]
    return list(dict.fromkeys(entry for it in reading for entry in plan.traced(it, development)))


@stage()
def trace_development(plan: Plan, development: str) -> dict:
    """The checkpoints, and the seed of intervals and permutations."""
    return {
        "steps": plan.developments[development],
        "seed": plan.seed("trace_development", development),
    }


def _traced(plan: Plan) -> list[dict[str, str]]:
    return [{"development": name} for name in plan.developments]


RESULTS = (
    Result(
        "results/development/{development}.csv",
        "trace_development",
        "heads at each checkpoint of a training",
        of=_traced,
        name="development",
        section="To read first",
        content="for checkpoints of one training: every value of a head that all of them have (`analysis`, `of` a task "
        "or partition, `quantity`, `layer`, `head`) at each `step`, with an interval (`low`, `high`) where it has one; "
        "of detectors, whether the head is `detected` at this step; of types, the number of heads and the percent of "
        "heads that are already of the type that they end with ([method](../understand/method.md#development))",
    ),
    Result(
        "results/development/{development}.onsets.csv",
        "trace_development",
        "since which checkpoint there is what there is in heads and types",
        of=_traced,
        name="onsets",
        section="To read first",
        content="for each `quantity` of a head (`layer`, `head`) that has a chance level (scores of detectors, "
        "accuracy at relations and antecedents), and for the heads that are already of the type that they end "
        "with: the step from which on it is told from chance (`onset`), with an interval that holds for all rows of "
        "one `analysis` `of` a task or partition together (`low`, `high`; empty: not within these steps), in words in "
        "`said` ([method](../understand/method.md#development))",
    ),
    Result(
        "results/development/{development}.{pdf,png}",
        "trace_development",
        "kinds and types of heads over a training",
        of=_traced,
        section="To read first",
        content="heads of each kind, heads that are surely beyond chance in anything else that is tested, and those "
        "that have the type that they end with, by step",
    ),
)
