"""Clark's Tables 1 to 3 and Figure 5."""

from collections.abc import Iterable

from headtypes.analyses.stage import Plan, stage, words_of
from headtypes.papers.clark2019.stage import is_beside


@stage()
def tabulate_relations(plan: Plan) -> dict:
    """Each model with each treebank, in the order of the rule's inputs."""
    return _subjects(plan, plan.inputs_of("treebank"))


@stage()
def tabulate_coreference(plan: Plan) -> dict:
    """Each model with each set of documents, in the order of the rule's inputs."""
    return _subjects(plan, plan.inputs_of("coreference"))


@stage()
def tabulate_probes(plan: Plan) -> dict:
    """Each model with each treebank that probes learn from, in the order of the rule's inputs."""
    return _subjects(plan, plan.probed)


# Of all rows, it reads a few.
@stage("forward", reads="rows", passes=lambda plan, wildcards, rows: 0)
def map_sentences(plan: Plan, model: str, task: str) -> dict:
    """The kind of task, how tokens become words, and the arithmetic."""
    words = words_of(plan, task)
    return {"kind": plan.config.tasks[task].kind, **{name: words[name] for name in words if name != "batch_tokens"}}


@stage()
def plot_sentences(plan: Plan, model: str, task: str) -> dict:
    """Nothing: the figure depends on its input alone, the maps."""
    return {}


def _subjects(plan: Plan, entries: Iterable[tuple[str, str]]) -> dict:
    beside = dict.fromkeys(model for model, _ in entries if is_beside(plan, model))
    return {"subjects": list(map(tuple, entries)), "beside": list(beside)}
