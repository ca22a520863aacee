"""What a configuration asks for: the models, features, partitions and ablations, and that they fit together."""

import csv
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headtypes.config import Config
from headtypes.config_errors import nearest
from headtypes.errors import InputError
from headtypes.type_names import type_names


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
        self._check_sources()
        self._check_conditions()

    @cached_property
    def features(self) -> list[tuple[str, str]]:
        """(model, task) of every extraction."""
        return [(model, task) for model in self.models for task in self.config.models[model].tasks if task in self.tasks]

    @cached_property
    def partitions(self) -> dict[tuple[str, str], PartitionPlan]:
        """Every partition, by model and name."""
        clustering = self.config.clustering
        planned = [
            PartitionPlan(model, f"{task}-{method}-k{k}", task, type_names(k), method, k)
            for model, task in self.features
            for method in clustering.methods
            for k in clustering.k
        ]
        clustered = {partition.name for partition in planned}
        for name, brought in self.config.partitions.items():
            if name in clustered:
                raise InputError(f"config: partitions.{name} has the name of a clustering; give it another name.")
            _known(f"partitions.{name}.model", brought.model, self.config.models)
            _known(f"partitions.{name}.task", brought.task, self.config.tasks)
            if brought.model not in self.models or brought.task not in self.tasks:
                continue
            if brought.task not in self.config.models[brought.model].tasks:
                raise InputError(
                    f"config: partitions.{name}.task: models.{brought.model} has no features on {brought.task}; "
                    f"add it to models.{brought.model}.tasks."
                )
            if self._wanted(name):
                types = _types_in(f"partitions.{name}.file", brought.file)
                planned.append(PartitionPlan(brought.model, name, brought.task, types, file=brought.file))
        for name in self.config.select.partitions or ():
            _known("select.partitions", name, {partition.name for partition in planned})
        return {(each.model, each.name): each for each in planned if self._wanted(each.name)}

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

    def model_files(self, model: str) -> list[str]:
        """The files of a model in a local folder, so that a change of them is seen; none for other sources."""
        folder = self.config.models[model].source.folder
        if folder is None:
            return []
        known = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
        return [str(Path(folder) / name) for name in known if (Path(folder) / name).is_file()]

    def task_files(self, task: str) -> list[str]:
        """The file of a task's data, so that a change of it is seen; none for a data set of the Hub."""
        file = self.config.tasks[task].source.file
        return [] if file is None else [file]

    def _wanted(self, partition: str) -> bool:
        return self.config.select.partitions is None or partition in self.config.select.partitions

    def _applicable(self, partition: PartitionPlan) -> list[str]:
        conditions = self.config.conditions
        fitting = [name for name in conditions if set(conditions[name]) <= set(partition.types)]
        ablated = any(conditions[name] for name in fitting) or not any(conditions.values())
        return [name for name in self.conditions if name in fitting] if ablated else []

    def _check_models(self) -> None:
        for name in self.models:
            model = self.config.models[name]
            for task in model.tasks:
                _known(f"models.{name}.tasks", task, self.config.tasks)
            if model.parent is not None:
                _known(f"models.{name}.parent", model.parent, self.config.models)
                self._check_descent(name)
            if model.evaluate is not None:
                _known(f"models.{name}.evaluate", model.evaluate, self.config.tasks)
                if self.config.tasks[model.evaluate].kind != "question_answering":
                    raise InputError(
                        f"config: models.{name}.evaluate: {model.evaluate} is not a question-answering task; "
                        "ablations are evaluated on question answering."
                    )

    def _check_descent(self, name: str) -> None:
        seen = [name]
        while (parent := self.config.models[seen[-1]].parent) is not None:
            if parent in seen:
                raise InputError(f"config: models.{name}.parent: {' -> '.join([*seen, parent])} is a circle.")
            _known(f"models.{seen[-1]}.parent", parent, self.config.models)
            seen.append(parent)

    def _check_sources(self) -> None:
        for name in self.models:
            source = self.config.models[name].source
            key = f"models.{name}.source"
            if source.folder is not None and not (Path(source.folder) / "config.json").is_file():
                raise InputError(
                    f"config: {key}.folder: {source.folder} holds no config.json; name a folder that "
                    "save_pretrained has written."
                )
            if source.package is not None and importlib.util.find_spec(source.package) is None:
                raise InputError(f"config: {key}.package: {source.package} is not installed; install it with pip.")
        for name in self.tasks:
            file = self.config.tasks[name].source.file
            if file is not None and not Path(file).is_file():
                raise InputError(f"config: tasks.{name}.source.file: there is no file {file}.")

    def _check_conditions(self) -> None:
        possible = {type_ for partition in self.partitions.values() for type_ in partition.types}
        for name in self.conditions:
            types = self.config.conditions[name]
            for type_ in types:
                if type_ not in possible:
                    raise InputError(
                        f'config: conditions.{name}: no partition has the type "{type_}".'
                        f"{nearest(type_, possible)} Types: {', '.join(sorted(possible))}."
                    )
            if not any(set(types) <= set(partition.types) for partition in self.partitions.values()):
                raise InputError(f"config: conditions.{name}: no one partition has all of {', '.join(types)}.")


def _selected(registry: Iterable[str], selection: list[str] | None) -> list[str]:
    return [name for name in registry if selection is None or name in selection]


def _known(key: str, name: str, registry: Iterable[str]) -> None:
    if name not in registry:
        raise InputError(
            f'config: {key}: there is no "{name}".{nearest(name, registry)} Known: {", ".join(sorted(registry))}.'
        )


def _types_in(key: str, file: str) -> tuple[str, ...]:
    """The types named in a partition that the user brings, sorted."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as rows:
            reader = csv.DictReader(rows)
            if "type" not in (reader.fieldnames or ()):
                raise InputError(f"config: {key}: {file} has no column type; it needs layer, head and type.")
            types = tuple(sorted({row["type"] for row in reader if row["type"]}))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"config: {key}: {file} cannot be read as CSV ({error}).") from error
    if not types:
        raise InputError(f"config: {key}: {file} names no type.")
    return types
