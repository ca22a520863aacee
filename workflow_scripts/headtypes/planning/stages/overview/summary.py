"""The page of all results."""

from headtypes.analyses.stage import stage
from headtypes.core.results import PICTURED, Result
from headtypes.pages.summary.figures import CLARK, GUAN, JOINED
from headtypes.planning.entries import ClusteringPlan, FeaturePlan, PartitionPlan
from headtypes.planning.plan import Plan


def shown_partitions(plan: Plan) -> list[PartitionPlan]:
    """The partition whose figures stand in the summary: an evaluated one, of four types, where there is one."""
    partitions = plan.ablated or list(plan.partitions.values())
    return sorted(partitions, key=lambda it: len(it.types) != 4)[:1]


def shown_choices(plan: Plan) -> list[FeaturePlan]:
    """The model and task of that partition, on which ways of clustering are compared."""
    return [FeaturePlan(it.model, it.task) for it in shown_partitions(plan)]


def clusterings(plan: Plan) -> list[ClusteringPlan]:
    """The ways of clustering by which models are compared."""
    return list(map(ClusteringPlan, plan.clusterings))


def shown_texts(plan: Plan) -> list[FeaturePlan]:
    """The model and task of text whose figures stand in the summary."""
    return plan.texts[:1]


def shown_gradients(plan: Plan) -> list[FeaturePlan]:
    """The gradients that stand in the summary: on the text, where there are some."""
    return [entry for entry in shown_texts(plan) if entry in plan.gradients]


def shown_confidence(plan: Plan) -> list[PartitionPlan]:
    """The partition whose types are drawn again, if clustering made it."""
    return [it for it in shown_partitions(plan) if it in plan.clustered]


def shown_controls(plan: Plan) -> list[PartitionPlan]:
    """The partition whose types are left out beside random heads."""
    controlled = {(it.model, it.partition) for it in plan.controlled}
    return [it for it in shown_partitions(plan) if (it.model, it.name) in controlled]


def shown_sentences(plan: Plan) -> list[FeaturePlan]:
    """The first treebank and the first documents that some model reads."""
    return [entry for kind in ("treebank", "coreference") for entry in plan.inputs_of(kind)[:1]]


def shown_joined(plan: Plan) -> list[PartitionPlan]:
    """The partitions whose types stand beside random heads in the summary: the shown one, and one of the text."""
    of_texts = [plan.shown_partition(*entry) for entry in shown_texts(plan)]
    wanted = [*shown_partitions(plan), *(it for it in of_texts if it is not None)]
    return [it for place, it in enumerate(wanted) if it in plan.joined and it not in wanted[:place]]


def captions() -> list[str]:
    """The names of the captions of all figures that may stand in the summary."""
    return [figure.caption for figure in (*GUAN, *CLARK, JOINED)]


@stage()
def write_summary(plan: Plan) -> dict:
    """What was run, and the seed."""
    return {
        "models": plan.models,
        "tasks": list(dict.fromkeys(entry.task for entry in plan.inputs)),
        "atlases": list(dict.fromkeys(entry.model for entry in plan.features)),
        "partitions": len(plan.partitions),
        "seed": plan.config.seed,
    }


RESULTS = (
    Result(
        "results/index.html",
        "write_summary",
        "the page of all results",
        of=lambda plan: [{}],
        name="summary",
        section="To read first",
        content="one page of all results, to open first: findings, the verdicts on both papers' claims with what "
        "decides them, their tables and figures, and links to the files",
        withheld=PICTURED,
    ),
)
