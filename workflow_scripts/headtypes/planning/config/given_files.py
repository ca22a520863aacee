"""The user's files and folders that a configuration names: whether they are there, which they are, types in them."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from headtypes.analyses.types.user_types import types_in_file
from headtypes.core.errors import InputError
from headtypes.data.files import files_of, looked_in
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.treebank import Treebank
from headtypes.models.files import model_files
from headtypes.planning.config.messages import ConfigError
from headtypes.planning.config.schema import Config
from headtypes.planning.config.sources import TaskSource


def missing_files(config: Config, models: Sequence[str], tasks: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The key and a sentence for each file or folder of these models and tasks that is not there, or is there twice."""
    needed = dict.fromkeys(base for name in models for base in config.made_from(name))
    learned = [made.task for name in needed if (made := config.models[name].source.finetuned)]
    named = {
        f"models.{name}.source.{part}": getattr(config.models[name].source, part)
        for name in needed
        for part in ("folder", *(("gguf",) if config.models[name].source.package is None else ()))
    }
    for task in tasks:
        source = config.tasks[task].source
        parts = ("file", "folder", "test_file")
        if KINDS[config.tasks[task].kind].head is None:
            # Its training data are for probes, and no model answers it.
            parts += ("training_file",)
            yield from _same_files(task, source)
        named |= {f"tasks.{task}.source.{part}": getattr(source, part) for part in parts}
    named |= {f"tasks.{task}.source.training_file": config.tasks[task].source.training_file for task in learned}
    if config.probes.seeds and any(config.tasks[task].kind == Treebank.name for task in tasks):
        named["probes.vectors"] = config.probes.vectors
    for key, path in named.items():
        if path is not None and (sentence := _missing(path, is_folder=key.endswith(".folder"))):
            yield key, sentence


def _same_files(task: str, source: TaskSource) -> Iterator[tuple[str, str]]:
    """What is learnt or chosen on a file is not scored on it."""
    given = {part: path for part in ("file", "training_file", "test_file") if (path := getattr(source, part))}
    for one, other in combinations(given, 2):
        if os.path.realpath(given[one]) == os.path.realpath(given[other]):
            yield (
                f"tasks.{task}.source.{other}",
                f"this is {one}, too, so that what is learnt or chosen on its sentences would be scored on them; name "
                "another file.",
            )


def _missing(path: str, is_folder: bool = False) -> str | None:
    if unset := re.search(r"\$(\w+|\{\w+\})", path):
        return f"the environment variable {unset[1].strip('{}')} is not set."
    if os.path.isdir(path) if is_folder else os.path.isfile(path):
        return None
    return f"there is no {'folder' if is_folder else 'file'} {path}{looked_in(path)}."


def types_in(key: str, file: str) -> tuple[str, ...]:
    """The types in a file of a partition, sorted; raises `ConfigError` with the key where there are none."""
    try:
        if sentence := _missing(file):
            raise InputError(sentence)
        return tuple(sorted(types_in_file(file)))
    except InputError as error:
        raise ConfigError([(key, str(error))]) from None


@dataclass(frozen=True)
class UserFiles:
    """The user's files of models, of tasks and of the vectors of probes, so that a change of them is seen."""

    config: Config

    def of_model(self, model: str) -> list[str]:
        """The files of a model."""
        source = self.config.models[model].source
        if source.package is None and source.gguf is not None:
            return [source.gguf]
        files = [] if source.folder is None else model_files(source.folder, source.pickle)
        return [str(file) for file in files]

    def of_task(self, task: str) -> list[str]:
        """The files of a task's data."""
        source = self.config.tasks[task].source
        if source.folder is not None:
            return files_of(source.folder, f"config: tasks.{task}.source.folder")
        return _given(source.file)

    def of_training(self, task: str) -> list[str]:
        """The file of a task's training data."""
        return _given(self.config.tasks[task].source.training_file)

    def of_test(self, task: str) -> list[str]:
        """The file on which choices made on a treebank are scored."""
        return _given(self.config.tasks[task].source.test_file)

    def of_vectors(self) -> list[str]:
        """The file of the probes' word vectors."""
        return _given(self.config.probes.vectors)


def _given(file: str | None) -> list[str]:
    return [] if file is None else [file]
