"""The part of the configuration that each rule depends on, and nothing else.

One function per rule, named as the rule; its arguments are the rule's wildcards. What a function leaves out
can change without the rule running again, so a value that a script uses and that is missing here is a defect.
What a rule reads from an input file (the revision of a model, say) reaches it through that file instead.
"""

from headtypes.base.seeds import derive_seed
from headtypes.config.sources import Strict
from headtypes.tasks.kinds import KINDS
from headtypes.workflow.plan import AblationPlan, Plan


def fetch_model(plan: Plan, model: str) -> dict:
    """Where the model comes from; how the workflow makes one is the matter of `finetune_model`."""
    source = {"folder": f"results/models/{model}"} if plan.finetuned(model) else None
    return {"model": model, "source": source or _given(plan.config.models[model].source)}


def fetch_task(plan: Plan, task: str) -> dict:
    """Where the data come from, and which columns hold what."""
    return _data(plan, task, training=False)


def fetch_training(plan: Plan, task: str) -> dict:
    """Where the training data come from, and which columns hold what."""
    return _data(plan, task, training=True)


def finetune_model(plan: Plan, model: str) -> dict:
    """The kind of the task, and how the model learns it."""
    made = plan.finetuned(model)
    settings = {name: value for name, value in _given(made).items() if name not in ("base", "task")}
    seed = derive_seed(plan.config.seed, "finetune_model", model)
    return {"kind": plan.config.tasks[made.task].kind, **settings, "seed": seed}


def sample_inputs(plan: Plan, task: str) -> dict:
    """How many samples."""
    seed = derive_seed(plan.config.seed, "draw_samples", task)
    return {"kind": plan.config.tasks[task].kind, "samples": plan.config.tasks[task].samples, "seed": seed}


def sample_questions(plan: Plan, task: str) -> dict:
    """How many questions."""
    questions = plan.config.tasks[task].questions
    # All questions are all questions under every seed.
    seed = None if questions == "all" else derive_seed(plan.config.seed, "draw_questions", task)
    return {"questions": questions, "seed": seed}


def extract_features(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, and the arithmetic."""
    return {"task": task, "kind": plan.config.tasks[task].kind, **_given(plan.config.compute)}


def extract_shard(plan: Plan, model: str, task: str, shard: str, shards: str) -> dict:
    """What the whole extraction depends on, and which part of it this is."""
    return {**extract_features(plan, model, task), "part": [int(shard), int(shards)]}


def cluster_heads(plan: Plan, model: str, partition: str) -> dict:
    """The method and its settings."""
    entry, clustering = plan.partitions[model, partition], plan.config.clustering
    return {
        "method": entry.method,
        "k": entry.k,
        "distance_bins": clustering.distance_bins,
        "scale": clustering.scale,
        "restarts": clustering.restarts,
        "seed": derive_seed(plan.config.seed, "cluster_heads", model, partition),
    }


def choose_clustering(plan: Plan, model: str, task: str) -> dict:
    """The settings that all methods and numbers of clusters share."""
    clustering = plan.config.clustering
    return {
        "distance_bins": clustering.distance_bins,
        "scale": clustering.scale,
        "restarts": clustering.restarts,
        "models": plan.config.stability.models,
        "seed": derive_seed(plan.config.seed, "choose_clustering", model, task),
    }


def import_partition(plan: Plan, model: str, partition: str) -> dict:
    """The resolution in which the types are described."""
    return {"distance_bins": plan.config.clustering.distance_bins}


def measure_stability(plan: Plan, model: str, partition: str) -> dict:
    """The clustering whose stability is measured, and by how many models."""
    seed = derive_seed(plan.config.seed, "measure_stability", model, partition)
    return {**cluster_heads(plan, model, partition), "models": plan.config.stability.models, "seed": seed}


def prepare_windows(plan: Plan, model: str, task: str) -> dict:
    """The shape of a window."""
    kind = KINDS[plan.config.tasks[task].kind]
    shape = {key: getattr(plan.config.windows, key) for key in ("max_seq_length", *kind.window_keys)}
    return {"kind": kind.name, **shape}


def evaluate_condition(plan: Plan, model: str, partition: str, condition: str) -> dict:
    """What is done to which heads, under which reading of the paper, and the arithmetic."""
    task = plan.partitions[model, partition].task
    return {**_evaluation(plan, condition, task), "condition": condition}


def evaluate_shard(plan: Plan, model: str, partition: str, condition: str, shard: str, shards: str) -> dict:
    """What the whole evaluation depends on, and which part of it this is."""
    return {**evaluate_condition(plan, model, partition, condition), "part": [int(shard), int(shards)]}


def evaluate_controls(plan: Plan, model: str, partition: str, condition: str) -> dict:
    """The condition, and how many heads are drawn how often, on how many questions."""
    task, controls = plan.partitions[model, partition].task, plan.config.controls
    seed = derive_seed(plan.config.seed, "evaluate_controls", model, partition, condition)
    drawn = {"draws": controls.draws, "questions": controls.questions, "seed": seed}
    return {**_evaluation(plan, condition, task), "condition": condition, **drawn}


def measure_importance(plan: Plan, model: str, task: str) -> dict:
    """The kind of the task, and the arithmetic."""
    return {"kind": plan.config.tasks[task].kind, **_given(plan.config.compute)}


def measure_head_outputs(plan: Plan, model: str, task: str) -> dict:
    """How samples are cut, and the arithmetic."""
    return extract_features(plan, model, task)


def evaluate_curves(plan: Plan, model: str, partition: str) -> dict:
    """The orders in which heads are removed, on how many questions, and the arithmetic."""
    task, curves = plan.partitions[model, partition].task, plan.config.curves
    seed = derive_seed(plan.config.seed, "evaluate_curves", model, partition)
    return {**_task(plan, task), "orders": curves.orders, "questions": curves.questions, "seed": seed}


def measure_intervals(plan: Plan, model: str, partition: str) -> dict:
    """The conditions, in the order of the rule's inputs, which of them is the baseline, and the draw."""
    names = [each.name for each in plan.ablations if (each.model, each.partition) == (model, partition)]
    seed = derive_seed(plan.config.seed, "measure_intervals", model, partition)
    return {"conditions": names, "baseline": plan.baseline(model, partition), "seed": seed}


def measure_confidence(plan: Plan, model: str, partition: str) -> dict:
    """The clustering whose types are drawn again."""
    seed = derive_seed(plan.config.seed, "measure_confidence", model, partition)
    return {**cluster_heads(plan, model, partition), "seed": seed}


def map_attention(plan: Plan, model: str, task: str) -> dict:
    """How the sample is cut, and the arithmetic."""
    return {"task": task, "kind": plan.config.tasks[task].kind, "precision": plan.config.compute.precision}


def plot_heads(plan: Plan, model: str, partition: str) -> dict:
    """The resolution of the features."""
    return {"distance_bins": plan.config.clustering.distance_bins}


def plot_projection(plan: Plan, model: str, partition: str) -> dict:
    """The resolution of the features, and the seed of t-SNE."""
    seed = derive_seed(plan.config.seed, "draw_projection", model, partition)
    return {"distance_bins": plan.config.clustering.distance_bins, "seed": seed}


def plot_layers(plan: Plan, model: str, partition: str) -> dict:
    """Nothing but the partition."""
    return {}


def plot_models(plan: Plan, clustering: str) -> dict:
    """Each model on each of its tasks, in the order of the rule's inputs, with its parent on the same task."""
    made = plan.clustered_by(clustering)
    names = {(each.model, each.task): f"{each.model} on {each.task}" for each in made}
    parents = {name: names.get((plan.parent(model), task)) for (model, task), name in names.items()}
    # As pairs, since canonical JSON sorts keys, and the order is that of the figure.
    return {"parents": list(parents.items())}


def plot_maps(plan: Plan, model: str, partition: str) -> dict:
    """Nothing but the partition and the maps."""
    return {}


def tabulate_stability(plan: Plan) -> dict:
    """The rows of Table 1, in the order of the rule's inputs."""
    rows = [
        {"model": each.model, "partition": each.name, "published": plan.config.models[each.model].published}
        for each in plan.partitions.values()
        if each.method is not None
    ]
    return {"rows": rows}


def tabulate_ablations(plan: Plan) -> dict:
    """The partitions, the rows of Tables 2 and 3 and the controls, in the order of the rule's inputs."""
    partitions = [(each.model, each.name) for each in plan.ablated]
    controls = [(each.model, each.partition, each.name) for each in plan.controlled]
    return {"partitions": partitions, "rows": _rows(plan, plan.tabulated), "controls": controls}


def tabulate_readings(plan: Plan) -> dict:
    """The readings, and the evaluations under all of them, in the order of the rule's inputs."""
    partitions = [(each.model, each.name) for each in plan.ablated]
    seed = derive_seed(plan.config.seed, "tabulate_readings")
    rows = _rows(plan, plan.ablations)
    return {"partitions": partitions, "rows": rows, "readings": plan.readings, "seed": seed}


def compare_with_guan(plan: Plan) -> dict:
    """Which results stand beside the paper's, in the order of the rule's inputs."""
    partitions = [
        {
            "model": each.model,
            "partition": each.name,
            "task": each.task,
            "method": each.method,
            "distance_bins": plan.config.clustering.distance_bins,
            "parent": plan.parent(each.model),
        }
        for each in plan.partitions.values()
    ]
    seed = derive_seed(plan.config.seed, "compare_with_paper")
    return {"partitions": partitions, "rows": _rows(plan, plan.tabulated), "choices": plan.features, "seed": seed}


def plot_choice(plan: Plan, model: str, task: str) -> dict:
    """The resolution that gap and stability are about."""
    return {"distance_bins": plan.config.clustering.distance_bins}


def plot_curves(plan: Plan, model: str, partition: str) -> dict:
    """Nothing but the curves."""
    return {}


def _rows(plan: Plan, ablations: list[AblationPlan]) -> list[dict]:
    return [
        {
            "model": each.model,
            "partition": each.partition,
            "condition": each.name,
            "base": each.condition,
            "reading": each.reading,
            "operations": plan.operations(each.condition),
        }
        for each in ablations
    ]


def _data(plan: Plan, task: str, training: bool) -> dict:
    entry = plan.config.tasks[task]
    source = entry.source
    if source.hub is not None:
        split = source.training_split if training else source.split
        where = {"hub": source.hub, "name": source.name, "revision": source.revision, "split": split}
    elif source.file is not None:
        where = {"file": source.training_file if training else source.file}
    else:
        size, split = (source.training_size, "train") if training else (source.size, "dev")
        seed = derive_seed(plan.config.seed, "world")
        where = {"world": source.world, "seed": seed, "split": split, "size": size}
    columns = _given(entry.columns) if "columns" in KINDS[entry.kind].keys and source.world is None else None
    return {"task": task, "kind": entry.kind, "source": where, "columns": columns}


def _evaluation(plan: Plan, name: str, task: str) -> dict:
    condition, reading = plan.reading(name)
    # The padding of a full window counts under one reading alone.
    padded = {"max_seq_length": plan.config.windows.max_seq_length} if reading.get("uniform_over_padding") else {}
    return {"operations": plan.operations(condition), "reading": reading, **padded, **_task(plan, task)}


def _task(plan: Plan, task: str) -> dict:
    """How a model's answers to a task are read off, and the arithmetic."""
    kind = KINDS[plan.config.tasks[task].kind]
    answers = {key: getattr(plan.config.windows, key) for key in kind.answer_keys}
    return {"kind": kind.name, **answers, **_given(plan.config.compute)}


def _given(part: Strict) -> dict:
    return part.model_dump(exclude_none=True)
