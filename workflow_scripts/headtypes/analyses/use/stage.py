"""Whether heads that find relations are used for them."""

from typing import Any

from headtypes.analyses.stage import Plan, given, of_inputs_alone, share_of, stage

# What is roughly read of each relation: so often the texts that are drawn of it, of about so many relations.
_READ, _RELATIONS = 10, 10


def _passes(plan: Plan, wildcards: Any, rows: int) -> float:
    return _READ * _RELATIONS * share_of(plan.config.use.words, rows)


@stage("forward", reads="texts", passes=_passes)
def measure_use(plan: Plan, model: str, task: str) -> dict:
    """What is listed, on how many words or questions the loss is measured and, of a task, its kind; the arithmetic."""
    drawn = {"words": plan.config.use.words, "seed": plan.seed("measure_use", model, task)}
    read = {"task": task, "max_seq_length": plan.config.tasks[task].max_seq_length}
    if asked := plan.task_of_use(model):
        read = {"task": asked, "kind": plan.kind_of(asked).name}
    return {"listed": _listed(plan, model, task), **drawn, **read, **given(plan.config.compute)}


@stage()
def tabulate_use(plan: Plan, model: str, task: str) -> dict:
    """What is listed, the rise that counts, and the draws of the bootstrap, here and where it was measured.

    The same draws decide what is measured and what is said to be found.
    """
    seeds = {
        name: plan.seed(rule, model, task) for name, rule in (("found_seed", "measure_use"), ("seed", "tabulate_use"))
    }
    return {"listed": _listed(plan, model, task), "least": plan.config.use.least, **seeds}


plot_use = of_inputs_alone("plot_use")


def _listed(plan: Plan, model: str, task: str) -> dict:
    listed = {"kind": plan.kind_of(task).name, "least": plan.config.relations.least}
    if not plan.is_treebank(task):
        return listed
    of_task = {"surface": True} if plan.task_of_use(model) else {}
    return {**listed, "offsets": plan.config.relations.offsets, **of_task}
