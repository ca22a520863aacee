"""The user's files, folders and packages that a configuration names: whether they are there, and types in them."""

import csv
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from functools import partial
from itertools import combinations

from headtypes.analyses.types.names import ALL, TYPE_NAME
from headtypes.attention.operations import head_of
from headtypes.core.errors import InputError, one_line
from headtypes.core.texts import check_header
from headtypes.data.files import files_of, looked_in
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.tables import check_column
from headtypes.models.files import package_folder
from headtypes.planning.config.columns import columns_in
from headtypes.planning.config.derived import made_from
from headtypes.planning.config.messages import check_all
from headtypes.planning.config.schema import Config


def check_sources(config: Config, models: Iterable[str], tasks: Iterable[str]) -> None:
    """The local files, folders and packages of these models and tasks exist."""
    needed = dict.fromkeys(base for name in models for base in made_from(config, name))
    learned = [it.task for name in needed if (it := config.models[name].source.finetuned)]
    check_all(
        *(partial(_check_model_source, config, name) for name in needed),
        *(partial(_check_task_source, config, name) for name in tasks),
        *(partial(_check_training_file, config, name) for name in learned if name in config.tasks),
    )


def _check_model_source(config: Config, name: str) -> None:
    source = config.models[name].source
    key = f"models.{name}.source"
    if source.folder is not None:
        _variables_set(f"{key}.folder", source.folder)
        if not os.path.isdir(source.folder):
            raise InputError(f"config: {key}.folder: there is no folder {source.folder}{looked_in(source.folder)}.")
        if not os.path.isfile(os.path.join(source.folder, "config.json")):
            raise InputError(
                f"config: {key}.folder: {source.folder} holds no config.json{looked_in(source.folder)}. "
                "Name a folder that save_pretrained has written."
            )
    if source.package is not None and package_folder(source.package) is None:
        raise InputError(f"config: {key}.package: there is no installed package {source.package}; install it with pip.")
    # What a package holds is reported by the job that fetches the model.
    if source.gguf is not None and source.package is None:
        check_file(f"{key}.gguf", source.gguf)


def _check_task_source(config: Config, name: str) -> None:
    source, key, kind = config.tasks[name].source, f"tasks.{name}.source", KINDS[config.tasks[name].kind]
    # A kind that no model answers is not fine-tuned on: its training data are for probes.
    probed = ("training_file",) if kind.head is None else ()
    files = {part: file for part in ("file", "test_file", *probed) if (file := getattr(source, part)) is not None}
    check_all(*(partial(_check_data, config, name, part, file) for part, file in files.items()))
    for one, other in combinations(files, 2):
        if os.path.realpath(files[one]) == os.path.realpath(files[other]):
            raise InputError(
                f"config: {key}.{other}: this is the file of {key}.{one} too, so that what is learnt or chosen on "
                "its sentences would be scored on them; name another file, or leave this key out."
            )
    if source.folder is not None:
        _variables_set(f"{key}.folder", source.folder)
        files_of(source.folder, f"config: {key}.folder")


def _check_training_file(config: Config, name: str) -> None:
    if (file := config.tasks[name].source.training_file) is not None:
        _check_data(config, name, "training_file", file)


def _check_data(config: Config, name: str, part: str, file: str) -> None:
    """The file exists and begins with a brace, if it is to hold JSON, or with the task's columns, if a table."""
    task, key = config.tasks[name], f"tasks.{name}.source.{part}"
    kind = KINDS[task.kind]
    check_file(key, file)
    if kind.form == "json":
        with open(file, "rb") as data:
            begins = data.read(64).removeprefix(BOM_UTF8).lstrip()
        if begins[:1] != b"{":
            raise InputError(
                f"config: {key}: {file} is not {kind.formats}, which begins with a brace; name another file."
            )
    if kind.form == "table" and (names := columns_in(file, f"config: {key}: {file}")):
        wanted = {field: column for field in kind.columns if (column := getattr(task.columns, field)) is not None}
        key = f"config: tasks.{name}.columns"
        check_all(*(partial(check_column, it, names, file, f"{key}.{field}") for field, it in wanted.items()))


def _variables_set(key: str, path: str) -> None:
    unset = re.search(r"\$(\w+|\{\w+\})", path)
    if unset:
        raise InputError(f"config: {key}: the environment variable {unset[1].strip('{}')} is not set.")


def check_file(key: str, file: str) -> None:
    """Refuse a file that does not exist, and say where a relative path was looked for."""
    _variables_set(key, file)
    if not os.path.isfile(file):
        raise InputError(f"config: {key}: there is no file {file}{looked_in(file)}.")


def types_in(key: str, file: str) -> tuple[str, ...]:
    """The types in a file of a partition, sorted."""
    check_file(key, file)
    try:
        with open(file, encoding="utf-8-sig", newline="") as rows:
            lines = [[cell.strip() for cell in row] for row in csv.reader(rows, skipinitialspace=True) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"config: {key}: {file} cannot be read as CSV ({one_line(error)}).") from error
    if not lines or "type" not in lines[0]:
        raise InputError(f"config: {key}: {file} has no column type; it needs layer, head and type.")
    check_header(lines[0], f"config: {key}: {file}")
    column = lines[0].index("type")
    types = {line[column] for line in lines[1:] if len(line) > column}
    for name in sorted(types):
        if not re.fullmatch(TYPE_NAME, name):
            raise InputError(f"config: {key}: {file} has the type {name!r}; a type has letters, digits, _ and -.")
        if head_of(name) or name == ALL:
            what = "heads of every type" if name == ALL else "one head"
            raise InputError(f"config: {key}: {file} has the type {name!r}, which stands for {what}; rename it.")
    if not types:
        raise InputError(f"config: {key}: {file} names no type.")
    return tuple(sorted(types))
