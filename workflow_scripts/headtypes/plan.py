"""What a configuration asks for: the models, features, partitions and ablations, and that they fit together."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headtypes.config import Config, Finetuned
from headtypes.config_errors import nearest
from headtypes.errors import InputError, one_line
from headtypes.model_files import model_files, package_folder
from headtypes.type_names import TYPE_NAME, type_names


@dataclass(frozen=True)
class PartitionPlan:
    """One division of one model's heads into types."""

    model: str
    name: str
    task: str
    types: tuple[str, ...]
    method: str | None = None
    k: int | None = None
    file: str | None = None
    """CSV that the user brings, instead of a clustering method."""


@dataclass(frozen=True)
class AblationPlan:
    """One condition evaluated on one model under one partition."""

    model: str
    partition: str
    condition: str
    task: str


class Plan:
    """The selected entries of the configuration and what follows from them.

    Raises `InputError` where entries do not fit together: one line that names the key.
    """

    def __init__(self, config: Config):
        self.config = config
        for registry in ("tasks", "models", "conditions"):
            for name in getattr(config.select, registry) or ():
                _known(f"select.{registry}", name, getattr(config, registry))
        self.models = _selected(config.models, config.select.models)
        self.tasks = _selected(config.tasks, config.select.tasks)
        self.conditions = _selected(config.conditions, config.select.conditions)
        self._check_models()
        self._check_partitions()
        self._check_sources()
        self._check_conditions()

    @cached_property
    def features(self) -> list[tuple[str, str]]:
        """(model, task) of every extraction."""
        return [
            (model, task)
            for model in self.models
            for task in dict.fromkeys(self.config.models[model].tasks)
            if task in self.tasks
        ]

    @cached_property
    def partitions(self) -> dict[tuple[str, str], PartitionPlan]:
        """Every partition, by model and name."""
        planned = [
            PartitionPlan(model, name, task, type_names(k), method, k)
            for model, task in self.features
            for name, (method, k) in self._clusterings(task).items()
            if self._wanted(name)
        ]
        for name, brought in self.config.partitions.items():
            if brought.model in self.models and brought.task in self.tasks and self._wanted(name):
                types = _types_in(f"partitions.{name}.file", brought.file)
                planned.append(PartitionPlan(brought.model, name, brought.task, types, file=brought.file))
        return {(each.model, each.name): each for each in planned}

    @cached_property
    def ablations(self) -> list[AblationPlan]:
        """Every evaluation: a condition applies to the partitions that have all the types it names.

        A condition that names no type (the baseline) goes with each partition that another condition applies to.
        """
        return [
            AblationPlan(partition.model, partition.name, condition, partition.task)
            for partition in self.partitions.values()
            if self.config.models[partition.model].evaluate == partition.task
            for condition in self._applicable(partition)
        ]

    @cached_property
    def ablated(self) -> list[PartitionPlan]:
        """The partitions that some condition is evaluated on."""
        names = dict.fromkeys((each.model, each.partition) for each in self.ablations)
        return [self.partitions[name] for name in names]

    @cached_property
    def clusterings(self) -> list[str]:
        """Name of each way of clustering, whatever the task."""
        made = [each for each in self.partitions.values() if each.method is not None]
        return list(dict.fromkeys(f"{each.method}-k{each.k}" for each in made))

    def clustered_by(self, clustering: str) -> list[PartitionPlan]:
        """The partitions of all models that were made in one way."""
        return [each for each in self.partitions.values() if f"{each.method}-k{each.k}" == clustering]

    def finetuned(self, model: str) -> Finetuned | None:
        """How the workflow makes a model; None where it does not."""
        return self.config.models[model].source.finetuned

    def parent(self, model: str) -> str | None:
        """The model that this one was fine-tuned from."""
        made = self.finetuned(model)
        return made.base if made else self.config.models[model].parent

    def model_files(self, model: str) -> list[str]:
        """The files of a model on this machine, so that a change of them is seen; none for other sources."""
        if self.finetuned(model):
            return [f"results/models/{model}"]
        folder = self.config.models[model].source.folder
        return [] if folder is None else [str(file) for file in model_files(folder)]

    def task_files(self, task: str) -> list[str]:
        """The file of a task's data, so that a change of it is seen; none for other sources."""
        file = self.config.tasks[task].source.file
        return [] if file is None else [file]

    def training_files(self, task: str) -> list[str]:
        """The file of a task's training data; none for other sources."""
        file = self.config.tasks[task].source.training_file
        return [] if file is None else [file]

    def _clusterings(self, task: str) -> dict[str, tuple[str, int]]:
        """Name of each partition that clustering makes on a task: its method and k."""
        clustering = self.config.clustering
        return {f"{task}-{method}-k{k}": (method, k) for method in clustering.methods for k in clustering.k}

    def _wanted(self, partition: str) -> bool:
        return self.config.select.partitions is None or partition in self.config.select.partitions

    def _applicable(self, partition: PartitionPlan) -> list[str]:
        conditions = self.config.conditions
        fitting = [name for name in conditions if set(conditions[name]) <= set(partition.types)]
        ablated = any(conditions[name] for name in fitting) or not any(conditions.values())
        return [name for name in self.conditions if name in fitting] if ablated else []

    def _check_models(self) -> None:
        for name, model in self.config.models.items():
            for task in model.tasks:
                _known(f"models.{name}.tasks", task, self.config.tasks)
            self._check_descent(name)
            if model.source.finetuned is not None:
                self._check_finetuning(name, model.source.finetuned)
            if model.evaluate is not None:
                key = f"models.{name}.evaluate"
                _known(key, model.evaluate, self.config.tasks)
                if self.config.tasks[model.evaluate].kind != "question_answering":
                    raise InputError(
                        f"config: {key}: {model.evaluate} is not a question-answering task; "
                        "ablations are evaluated on question answering."
                    )
                if model.evaluate not in model.tasks:
                    raise InputError(
                        f"config: {key}: heads are ablated by their types on {model.evaluate}; "
                        f"add it to models.{name}.tasks."
                    )

    def _check_descent(self, name: str) -> None:
        seen = [name]
        while (parent := self.parent(seen[-1])) is not None:
            key = f"models.{seen[-1]}.{'source.finetuned.base' if self.finetuned(seen[-1]) else 'parent'}"
            _known(key, parent, self.config.models)
            if parent in seen:
                raise InputError(f"config: {key}: {' -> '.join([*seen, parent])} is a circle.")
            seen.append(parent)

    def _check_finetuning(self, name: str, made: Finetuned) -> None:
        key = f"models.{name}"
        if self.config.models[name].parent not in (None, made.base):
            raise InputError(f"config: {key}.parent: it is fine-tuned from {made.base}; leave parent out.")
        _known(f"{key}.source.finetuned.task", made.task, self.config.tasks)
        task = self.config.tasks[made.task]
        if task.source.file is not None and task.source.training_file is None:
            raise InputError(
                f"config: {key}.source.finetuned.task: {made.task} has no training data; "
                f"name them in tasks.{made.task}.source.training_file."
            )
        if task.kind == "sentence_pair" and task.source.world is None and task.columns.label is None:
            raise InputError(
                f"config: {key}.source.finetuned.task: {made.task} has no labels; "
                f"name their column in tasks.{made.task}.columns.label."
            )

    def _check_partitions(self) -> None:
        tasks = {task for model in self.config.models.values() for task in model.tasks}
        clustered = {name for task in tasks for name in self._clusterings(task)}
        for name, brought in self.config.partitions.items():
            if name in clustered:
                raise InputError(f"config: partitions.{name} has the name of a clustering; give it another name.")
            _known(f"partitions.{name}.model", brought.model, self.config.models)
            _known(f"partitions.{name}.task", brought.task, self.config.tasks)
            if brought.task not in self.config.models[brought.model].tasks:
                raise InputError(
                    f"config: partitions.{name}.task: models.{brought.model} has no features on {brought.task}; "
                    f"add it to models.{brought.model}.tasks."
                )
        for name in self.config.select.partitions or ():
            _known("select.partitions", name, clustered | set(self.config.partitions))

    def _check_sources(self) -> None:
        bases = [base for name in self.models for base in self._bases(name)]
        for name in dict.fromkeys([*self.models, *bases]):
            source = self.config.models[name].source
            key = f"models.{name}.source"
            if source.folder is not None:
                _variables_set(f"{key}.folder", source.folder)
                if not Path(source.folder, "config.json").is_file():
                    raise InputError(
                        f"config: {key}.folder: {source.folder} holds no config.json; name a folder that "
                        "save_pretrained has written."
                    )
            if source.package is not None and package_folder(source.package) is None:
                raise InputError(
                    f"config: {key}.package: there is no installed package {source.package}; install it with pip."
                )
        for name in self.tasks:
            file = self.config.tasks[name].source.file
            if file is not None:
                _check_file(f"tasks.{name}.source.file", file)
        for name in self.models:
            made = self.finetuned(name)
            if made is not None and (file := self.config.tasks[made.task].source.training_file) is not None:
                _check_file(f"tasks.{made.task}.source.training_file", file)

    def _bases(self, model: str) -> list[str]:
        """The models that have to be there before this one can be made."""
        made = self.finetuned(model)
        return [made.base, *self._bases(made.base)] if made else []

    def _check_conditions(self) -> None:
        read = [each.types for each in self.partitions.values() if each.file is not None]
        if len(read) < len(self.config.partitions):
            return  # The types of a partition that is not selected are not known.
        kinds = [*map(type_names, self.config.clustering.k), *read]
        possible = {type_ for types in kinds for type_ in types}
        for name in self.conditions:
            operations = self.config.conditions[name]
            for type_ in operations:
                if type_ not in possible:
                    raise InputError(
                        f'config: conditions.{name}: no partition has the type "{type_}".'
                        f"{nearest(type_, possible)} Types: {', '.join(sorted(possible))}. "
                        "Name another, or leave the condition out with select.conditions."
                    )
            if not any(set(operations) <= set(types) for types in kinds):
                raise InputError(f"config: conditions.{name}: no one partition has all of {', '.join(operations)}.")


def _selected(registry: Iterable[str], selection: list[str] | None) -> list[str]:
    return [name for name in registry if selection is None or name in selection]


def _known(key: str, name: str, registry: Iterable[str]) -> None:
    if name not in registry:
        raise InputError(
            f'config: {key}: there is no "{name}".{nearest(name, registry)} Known: {", ".join(sorted(registry))}.'
        )


def _variables_set(key: str, path: str) -> None:
    unset = re.search(r"\$(\w+|\{\w+\})", path)
    if unset:
        raise InputError(f"config: {key}: the environment variable {unset[1].strip('{}')} is not set.")


def _check_file(key: str, file: str) -> None:
    _variables_set(key, file)
    if not Path(file).is_file():
        raise InputError(f"config: {key}: there is no file {file}.")


def _types_in(key: str, file: str) -> tuple[str, ...]:
    """The types named in a partition that the user brings, sorted."""
    _check_file(key, file)
    try:
        with open(file, encoding="utf-8-sig", newline="") as rows:
            lines = [[cell.strip() for cell in row] for row in csv.reader(rows, skipinitialspace=True) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"config: {key}: {file} cannot be read as CSV ({one_line(error)}).") from error
    if not lines or "type" not in lines[0]:
        raise InputError(f"config: {key}: {file} has no column type; it needs layer, head and type.")
    column = lines[0].index("type")
    types = {line[column] for line in lines[1:] if len(line) > column}
    for name in sorted(types):
        if not re.fullmatch(TYPE_NAME, name):
            raise InputError(f"config: {key}: {file} has the type {name!r}; a type has letters, digits, _ and -.")
    if not types:
        raise InputError(f"config: {key}: {file} names no type.")
    return tuple(sorted(types))
