"""Tables and figures of Clark et al. (BlackboxNLP 2019)."""

from headtypes.analyses.stage import Plan, encoding_of, given, stage
from headtypes.core.seeds import derive_seed


# Of all samples, it reads one.
@stage("forward", reads="samples", passes=lambda plan, wildcards, rows: 0)
def map_examples(plan: Plan, model: str, task: str) -> dict:
    """How the segment is encoded, and the arithmetic."""
    surface, precision = plan.config.surface, plan.config.compute.precision
    return {"task": task, **encoding_of(plan, task), "segment_ids": surface.segment_ids, "precision": precision}


@stage()
def plot_examples(plan: Plan, model: str, task: str) -> dict:
    """Nothing: the figure depends on its input alone, the maps."""
    return {}


@stage()
def plot_surface(plan: Plan, model: str, task: str) -> dict:
    """Whether the published values are drawn beside ours."""
    return {"beside": is_beside(plan, model)}


@stage()
def plot_gradients(plan: Plan, model: str, task: str) -> dict:
    """Nothing: the figure depends on its input alone, the gradients."""
    return {}


@stage()
def plot_plane(plan: Plan, model: str, task: str) -> dict:
    """Nothing: the figure depends on its inputs alone."""
    return {}


@stage()
def compare_with_clark(plan: Plan) -> dict:
    """Which results stand beside the paper's, in the order of the rule's inputs."""
    subjects = [(entry.model, entry.task) for entry in plan.texts]
    gradients = [(entry.model, entry.task) for entry in plan.texts if entry in plan.gradients]
    treebanks, documents = plan.inputs_of("treebank"), plan.inputs_of("coreference")
    models = [entry.model for entry in (*plan.texts, *treebanks, *documents)]
    return {
        "subjects": subjects,
        "gradients": gradients,
        "treebanks": [(entry.model, entry.task) for entry in treebanks],
        "tests": [task for task in plan.tasks_of("treebank") if plan.files.of_test(task)],
        "probed": [(entry.model, entry.task) for entry in plan.probed],
        "documents": [(entry.model, entry.task) for entry in documents],
        "relations": given(plan.config.relations) if treebanks else {},
        "beside": [model for model in dict.fromkeys(models) if is_beside(plan, model)],
        "seed": derive_seed(plan.config.seed, "compare_with_clark"),
    }


def is_beside(plan: Plan, model: str) -> bool:
    """Whether the paper's values stand beside those of a model."""
    return "clark2019" in plan.config.models[model].published
