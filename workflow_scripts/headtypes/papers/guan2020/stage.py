"""Tables and figures of Guan et al. (COLING 2020)."""

from headtypes.analyses.stage import Plan, stage
from headtypes.core.seeds import derive_seed


@stage()
def tabulate_stability(plan: Plan) -> dict:
    """The rows of Table 1, in the order of the rule's inputs."""
    rows = [
        {
            "model": partition.model,
            "partition": partition.name,
            "published": plan.config.models[partition.model].published.get("guan2020"),
            "samples_asked": plan.config.tasks[partition.task].samples,
        }
        for partition in plan.clustered
    ]
    return {"rows": rows}


@stage()
def tabulate_ablations(plan: Plan) -> dict:
    """The partitions, the rows of Tables 2 and 3 and the controls, in the order of the rule's inputs."""
    partitions = [(partition.model, partition.name) for partition in plan.ablated]
    controls = [(ablation.model, ablation.partition, ablation.name) for ablation in plan.controlled]
    seed, of_controls = derive_seed(plan.config.seed, "tabulate_ablations"), _number(plan.config.controls.questions)
    rows = [
        row
        | {
            "questions": _number(plan.config.tasks[ablation.task].questions),
            "control_questions": of_controls,
            "published": plan.config.models[ablation.model].published.get("guan2020"),
        }
        for row, ablation in zip(_rows(plan, plan.tabulated), plan.tabulated, strict=True)
    ]
    return {"partitions": partitions, "rows": rows, "controls": controls, "seed": seed}


@stage()
def tabulate_readings(plan: Plan) -> dict:
    """The readings, and the evaluations under all of them, in the order of the rule's inputs."""
    partitions = [(partition.model, partition.name) for partition in plan.ablated]
    seed = derive_seed(plan.config.seed, "tabulate_readings")
    rows = _rows(plan, plan.ablations)
    return {"partitions": partitions, "rows": rows, "readings": plan.readings, "seed": seed}


@stage()
def compare_with_guan(plan: Plan) -> dict:
    """Which results stand beside the paper's, in the order of the rule's inputs."""
    partitions = [
        {
            "model": partition.model,
            "partition": partition.name,
            "task": partition.task,
            "method": partition.method,
            "k": partition.k,
            "distance_bins": plan.config.clustering.distance_bins,
            "published": plan.config.models[partition.model].published.get("guan2020"),
            "parent": plan.parent(partition.model),
        }
        for partition in plan.partitions.values()
    ]
    seed = derive_seed(plan.config.seed, "compare_with_paper")
    return {"partitions": partitions, "rows": _rows(plan, plan.tabulated), "choices": plan.features, "seed": seed}


@stage()
def plot_heads(plan: Plan, model: str, partition: str) -> dict:
    """The resolution of the features."""
    return plan.config.clustering.features


@stage()
def plot_projection(plan: Plan, model: str, partition: str) -> dict:
    """Nothing: the figure depends on its inputs alone, the places and the partition."""
    return {}


@stage()
def plot_layers(plan: Plan, model: str, partition: str) -> dict:
    """Nothing: the figure depends on its input alone, the partition."""
    return {}


@stage()
def tabulate_models(plan: Plan, clustering: str) -> dict:
    """Each model on each of its tasks, in the order of the rule's inputs, with its parent on the same task."""
    partitions = plan.clustered_by(clustering)
    names = {(entry.model, entry.task): f"{entry.model} on {entry.task}" for entry in partitions}
    parents = {name: names.get((plan.parent(model), task)) for (model, task), name in names.items()}
    # As pairs, since canonical JSON sorts keys, and the order is that of the figure.
    return {"parents": list(parents.items()), "models": [entry.model for entry in partitions]}


@stage()
def plot_models(plan: Plan, clustering: str) -> dict:
    """What the figure calls each model on each of its tasks, in the order of the rule's inputs."""
    return {"models": [name for name, _ in tabulate_models(plan, clustering)["parents"]]}


@stage()
def plot_maps(plan: Plan, model: str, partition: str) -> dict:
    """Nothing: the figure depends on its inputs alone, the partition and the maps."""
    return {}


def _number(questions: int | str) -> int | None:
    """How many questions are asked for; None for "all"."""
    return None if questions == "all" else questions


def _rows(plan: Plan, ablations: list) -> list[dict]:
    return [
        {
            "model": ablation.model,
            "partition": ablation.partition,
            "condition": ablation.name,
            "base": ablation.condition,
            "reading": ablation.reading,
            "operations": plan.operations(ablation.condition),
        }
        for ablation in ablations
    ]
