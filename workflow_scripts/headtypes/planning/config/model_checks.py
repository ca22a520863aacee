"""Checks of the models of a configuration: what they name exists, fits them, and leads to no circle."""

from collections.abc import Iterable
from functools import partial

from headtypes.core.errors import InputError
from headtypes.data.kinds.registry import KINDS
from headtypes.planning.config.derived import family_of, made_by, parent_of
from headtypes.planning.config.messages import check_all
from headtypes.planning.config.references import check_entry
from headtypes.planning.config.schema import Ablation, Config


def check_models(config: Config) -> None:
    """Models name tasks and models that exist, do not descend from themselves, and can learn and answer their tasks."""
    check_all(*(partial(_check_references, config, name) for name in config.models))
    for name in config.models:
        _check_descent(config, name)
    check_all(
        *(
            partial(check, config, name)
            for name in config.models
            for check in (_check_family, _check_finetuning, _check_evaluated)
        ),
        # One setting may be wrong for several models.
        partial(_check_ablation, config),
    )


def _check_references(config: Config, name: str) -> None:
    """What a model names exists."""
    model = config.models[name]
    named = {f"models.{name}.evaluate": model.evaluate}
    if model.source.finetuned is not None:
        named[f"models.{name}.source.finetuned.task"] = model.source.finetuned.task
    check_all(
        partial(check_tasks, config, name),
        partial(_check_parent, config, name),
        *(partial(check_entry, config, "tasks", key, task) for key, task in named.items() if task is not None),
    )


def check_tasks(config: Config, name: str) -> None:
    """The tasks of a model exist, and something is asked of its heads."""
    model = config.models[name]
    # The demo's controls are laid under experiments that name other models for detectors.
    if not model.tasks and name not in config.detectors.models and model.source.trained is None:
        check_all(*(partial(check_entry, config, "models", "detectors.models", it) for it in config.detectors.models))
        raise InputError(
            f"config: models.{name}.tasks: nothing is asked of its heads; name a task, or name the model in "
            "detectors.models."
        )
    check_all(*(partial(check_entry, config, "tasks", f"models.{name}.tasks", task) for task in model.tasks))


def _check_parent(config: Config, name: str) -> None:
    _check_kept(config, name)
    if (parent := parent_of(config, name)) is not None:
        made = made_by(config, name)
        finetuned = config.models[made].source.finetuned
        key = f"models.{made}.source.finetuned.base" if finetuned else f"models.{name}.parent"
        check_entry(config, "models", key, parent)


def _check_family(config: Config, name: str) -> None:
    family = config.models[name].family
    if family and (parent := parent_of(config, name)) and family_of(config, parent) != family:
        raise InputError(
            f"config: models.{name}.family: it descends from {parent}, of the family {family_of(config, parent)}, "
            "and counts to it; leave family out."
        )


def _check_evaluated(config: Config, name: str) -> None:
    model = config.models[name]
    if model.evaluate is None:
        return
    key = f"models.{name}.evaluate"
    finetuned = config.models[made_by(config, name)].source.finetuned
    learned = finetuned and config.tasks[finetuned.task]
    _check_answerable(config, f"{key}: {model.evaluate}", model.evaluate)
    if learned and KINDS[learned.kind].head != KINDS[config.tasks[model.evaluate].kind].head:
        raise InputError(
            f"config: {key}: {name} is fine-tuned on {finetuned.task} ({learned.kind}) and "
            f"cannot answer {model.evaluate}; name a task of that kind."
        )
    if model.evaluate not in model.tasks:
        raise InputError(
            f"config: {key}: heads are ablated by their types on {model.evaluate}; add it to models.{name}.tasks."
        )


def check_probed(config: Config, models: Iterable[str]) -> None:
    """The models that probes read lie in one place."""
    check_all(*(partial(_check_in_one_place, config, name) for name in models))


def _check_in_one_place(config: Config, name: str) -> None:
    if config.models[name].memory is not None:
        raise InputError(
            f"config: models.{name}.memory: probes compare the model with a random network, which is drawn of a "
            "model in one place; leave this key out, or set probes.seeds: 0."
        )


def _check_descent(config: Config, name: str) -> None:
    seen = [name]
    while (parent := parent_of(config, seen[-1])) is not None:
        finetuned = config.models[seen[-1]].source.finetuned
        key = f"models.{seen[-1]}.{'source.finetuned.base' if finetuned else 'parent'}"
        if parent in seen:
            raise InputError(f"config: {key}: {' -> '.join([*seen, parent])} is circular.")
        seen.append(parent)


def _check_kept(config: Config, name: str) -> None:
    """A checkpoint is one that the training of a model of the workflow's own keeps."""
    if (checkpoint := config.models[name].source.checkpoint) is None:
        return
    key = f"models.{name}.source.checkpoint"
    check_entry(config, "models", f"{key}.of", checkpoint.of)
    source = config.models[checkpoint.of].source
    if (made := source.finetuned or source.trained) is None:
        raise InputError(
            f"config: {key}.of: {checkpoint.of} is not trained by the workflow, which has no checkpoints of it; "
            "name the checkpoint by its own folder, or by a revision on the Hub."
        )
    if checkpoint.step not in (made.keep or ()):
        kept = ", ".join(map(str, sorted(made.keep))) if made.keep else "none"
        raise InputError(
            f"config: {key}.step: step {checkpoint.step} of {checkpoint.of} is not kept; add it to "
            f"models.{checkpoint.of}.source.{'finetuned' if source.finetuned else 'trained'}.keep (now {kept})."
        )


def _check_finetuning(config: Config, name: str) -> None:
    if (finetuned := config.models[name].source.finetuned) is None:
        return
    key = f"models.{name}"
    if config.models[name].parent not in (None, finetuned.base):
        raise InputError(f"config: {key}.parent: it is fine-tuned from {finetuned.base}; leave parent out.")
    task = config.tasks[finetuned.task]
    if task.source.file is not None and task.source.training_file is None:
        raise InputError(
            f"config: {key}.source.finetuned.task: {finetuned.task} has no training data; "
            f"name them in tasks.{finetuned.task}.source.training_file."
        )
    _check_answerable(config, f"{key}.source.finetuned.task: {finetuned.task}", finetuned.task)
    if not KINDS[task.kind].is_learned:
        raise InputError(
            f"config: {key}.source.finetuned.task: {finetuned.task} is of kind {task.kind}, on which no model is "
            "fine-tuned; name another task."
        )


def _check_ablation(config: Config) -> None:
    """The reading of `ablation` means something on each task; a further reading that does not is left out there."""
    for name, model in config.models.items():
        if model.evaluate is None:
            continue
        kind = config.tasks[model.evaluate].kind
        for field in KINDS[kind].without_reading:
            if getattr(config.ablation, field) != Ablation.model_fields[field].default:
                raise InputError(
                    f"config: ablation.{field}: it means nothing on {model.evaluate}, which models.{name}.evaluate "
                    f"names and which is of kind {kind}; leave it out, or make it one of the readings."
                )


def _check_answerable(config: Config, what: str, name: str) -> None:
    task = config.tasks[name]
    kind = KINDS[task.kind]
    if kind.head is None:
        raise InputError(f"config: {what} is of kind {kind.name}, which no model answers; name another task.")
    if "label" in kind.columns and task.columns.label is None:
        raise InputError(f"config: {what} has no labels; name their column in tasks.{name}.columns.label.")
