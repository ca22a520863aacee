"""Checks that entries of a configuration fit together; most yield their mistakes, each as (key, sentence)."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

from headtypes.analyses.own.analysis import class_in
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.analysis import types_in_file
from headtypes.analyses.types.names import TYPES
from headtypes.attention.operations import head_of
from headtypes.core.errors import InputError, nearest, shortened
from headtypes.core.stage import Result, given
from headtypes.data.kinds.treebank import Treebank
from headtypes.data.tasks import KINDS, LANGUAGE_MODEL
from headtypes.models.records import config_json
from headtypes.planning.config import (
    Ablation,
    Config,
    ConfigError,
    TaskSource,
    changes_nothing,
    is_result,
    types_of,
    unknown,
)
from headtypes.planning.provenance import folder_of_records

Mistakes = Iterator[tuple[str, str]]
_LISTED = 12  # types of a message
# What config.json calls the number of layers, and of heads in each.
_SIZES = (
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    ("num_attention_heads", "n_head", "n_heads", "num_heads"),
)
# Classes of Transformers that may have a head; some families save a language model as the bare one.
_CLASSES = {
    "question_answering": "ForQuestionAnswering",
    "sequence_classification": "ForSequenceClassification",
    "causal_lm": r"CausalLM|LMHead|Model\b",
    LANGUAGE_MODEL: r"LM|ForPreTraining|Model\b",
}


def check(config: Config, models: Sequence[str], tasks: Sequence[str], results: Iterable[Result]) -> None:
    """Raise `ConfigError` if entries of a configuration contradict one another, or a file that they name is missing.

    models, tasks: selected names; files that only other models or tasks need may be missing. results: all declared
    results. A user's analysis must not have the name of the folder of one of `results`.
    """
    # What relies on other checks runs after them, so that nothing is told that follows from something else.
    for checks in ((_names, _references), (_circles,), (_models, _partitions, _selection)):
        if mistakes := [mistake for check in checks for mistake in check(config)]:
            raise ConfigError(mistakes)
    for checks in (_missing_files(config, models, tasks), _analyses(config, results)):
        if mistakes := list(checks):
            raise ConfigError(mistakes)


def _names(config: Config) -> Mistakes:
    # The innermost folder `results` on a path is taken for that of all results (`provenance.results_folder`).
    for registry in ("models", "tasks", "partitions", "conditions", "readings", "analyses"):
        seen: dict[str, str] = {}
        for name in getattr(config, registry):
            if name.lower() == "results":
                yield f"{registry}.{name}", "the folder of results has this name; rename the entry."
            if (other := seen.setdefault(name.lower(), name)) != name:
                yield (
                    f"{registry}.{name}",
                    f"it differs from {other} in upper and lower case alone, which some file systems do not tell "
                    "apart; rename one of the two.",
                )
    paths = " ".join(result.path for analysis in ANALYSES for result in analysis.results)
    for name, ending in product(config.tasks, set(re.findall(r"\{task\}(\.\w+)\.", paths))):
        if f"{name}{ending}" in config.tasks:
            yield f"tasks.{name}{ending}", f"results of {name} have this name in their files; rename one of the two."


def _references(config: Config) -> Mistakes:
    named = [("tasks", f"models.{name}.tasks", task) for name, model in config.models.items() for task in model.tasks]
    for name, model in config.models.items():
        made = model.source.finetuned
        named += [
            ("tasks", f"models.{name}.evaluate", model.evaluate),
            ("models", f"models.{name}.parent", model.parent),
            ("models", f"models.{name}.source.finetuned.base", made and made.base),
            ("tasks", f"models.{name}.source.finetuned.task", made and made.task),
        ]
    for name, entry in config.partitions.items():
        named += [(f"{part}s", f"partitions.{name}.{part}", getattr(entry, part)) for part in ("model", "task")]
    lists = {f"select.{registry}": registry for registry in ("tasks", "models", "conditions")}
    lists |= {"detectors.models": "models", "controls.conditions": "conditions"}
    for key, registry in lists.items():
        section, _, part = key.partition(".")
        named += [(registry, key, name) for name in getattr(getattr(config, section), part) or ()]
    compared = {*config.analyses, *(analysis.name for analysis in ANALYSES if analysis.is_compared)}
    yield from (("tests.types", unknown(name, compared)) for name in config.tests.types if name not in compared)
    for registry, key, name in named:
        if name is not None and name not in getattr(config, registry):
            yield key, unknown(name, getattr(config, registry))


def _circles(config: Config) -> Mistakes:
    for name in config.models:
        seen = [name]
        while (parent := config.parent(seen[-1])) is not None:
            if parent in seen:
                made = config.models[seen[-1]].source.finetuned
                where = f"models.{seen[-1]}.{'source.finetuned.base' if made else 'parent'}"
                yield where, f"{' -> '.join([*seen, parent])} is circular."
                return
            seen.append(parent)


def _models(config: Config) -> Mistakes:
    for name, model in config.models.items():
        key, parent = f"models.{name}", config.parent(name)
        # The demo's controls are laid under experiments that name other models for detectors.
        if not model.tasks and name not in config.detectors.models and model.source.trained is None:
            yield (f"{key}.tasks", "nothing is asked of its heads; name a task, or name the model in detectors.models.")
        if model.family and parent and (family := config.family(parent)) != model.family:
            yield f"{key}.family", f"it descends from {parent} and counts to {family}; leave family out."
        yield from _finetuned(config, name)
        yield from _evaluated(config, name)


def _finetuned(config: Config, name: str) -> Mistakes:
    if (finetuned := config.models[name].source.finetuned) is None:
        return
    key, task = f"models.{name}.source.finetuned.task", config.tasks[finetuned.task]
    if config.models[name].parent not in (None, finetuned.base):
        yield f"models.{name}.parent", f"it is fine-tuned from {finetuned.base}; leave parent out."
    if task.source.file is not None and task.source.training_file is None:
        yield (key, f"{finetuned.task} has no training data; name them in tasks.{finetuned.task}.source.training_file.")
    if "training_file" not in KINDS[task.kind].source_keys or KINDS[task.kind].head is None:
        yield key, f"{finetuned.task} is of kind {task.kind}, on which no model is fine-tuned; name another task."
    else:
        yield from _answerable(config, key, finetuned.task)


def _evaluated(config: Config, name: str) -> Mistakes:
    model, key = config.models[name], f"models.{name}.evaluate"
    if model.evaluate is None:
        return
    made, kind = model.source.finetuned, config.tasks[model.evaluate].kind
    yield from _answerable(config, key, model.evaluate)
    if made and KINDS[config.tasks[made.task].kind].head != KINDS[kind].head:
        yield (
            key,
            f"the model is fine-tuned on {made.task} ({config.tasks[made.task].kind}) and cannot answer "
            f"{model.evaluate}; name a task of that kind.",
        )
    if model.evaluate not in model.tasks:
        yield key, f"heads are ablated by their types on {model.evaluate}; add it to models.{name}.tasks."
    for field in KINDS[kind].without_reading:
        if getattr(config.ablation, field) != Ablation.model_fields[field].default:
            yield (
                f"ablation.{field}",
                f"it means nothing on tasks of kind {kind}, such as {model.evaluate}, which {key} names; leave it out, "
                "or make it one of the readings.",
            )


def _answerable(config: Config, key: str, name: str) -> Mistakes:
    task = config.tasks[name]
    if KINDS[task.kind].head is None:
        yield key, f"{name} is of kind {task.kind}, which no model answers; name another task."
    elif "label" in KINDS[task.kind].columns and task.columns.label is None:
        yield key, f"{name} has no labels; name their column in tasks.{name}.columns.label."


def _partitions(config: Config) -> Mistakes:
    task_of: dict[str, str] = {}
    for task in config.tasks:
        for name in config.clusterings(task) if config.has_features(task) else ():
            if (other := task_of.setdefault(name.lower(), task)) != task:
                yield f"tasks.{task}", f"its partition {name} has the name of one of {other}; rename one of the tasks."
    for name, entry in config.partitions.items():
        if name.lower() in task_of:
            yield f"partitions.{name}", "a clustering has this name; rename the partition."
        if not config.has_features(entry.task):
            yield f"partitions.{name}.task", f"{entry.task} is of kind {config.tasks[entry.task].kind}, without types."
        elif entry.task not in config.models[entry.model].tasks:
            yield f"partitions.{name}.task", f"{entry.model} does not read it; add it to models.{entry.model}.tasks."


def _selection(config: Config) -> Mistakes:
    models, tasks = config.select.models or config.models, config.select.tasks or config.tasks
    read = any(task in tasks for model in models for task in config.models[model].tasks)
    if not read and not set(config.detectors.models) & set(models):
        yield "select.tasks", "no selected model reads one of these tasks; select other models or tasks."

    if config.conditions and not any(map(changes_nothing, config.conditions.values())):
        yield "conditions", "each of them changes heads, so that no drop can be measured; add baseline: {}."


def left_out(config: Config, conditions: Sequence[str], kinds: Sequence[Iterable[str]]) -> list[str]:
    """Return the names of the conditions that are skipped because some of their types are in no partition.

    conditions: names of conditions. kinds: for each partition, the names of its types.
    A type in no partition raises `ConfigError` instead if it is not one of Guan et al.'s four, or if the configuration
    has a list `select.conditions`. So does a condition whose types are in partitions, but not all in the same one.
    """
    possible = list(dict.fromkeys(type_ for types in kinds for type_ in types))
    left, mistakes = [], []
    for name in conditions:
        types = types_of(config.conditions[name])
        lacking = [type_ for type_ in types if type_ not in possible]
        if lacking and set(lacking) <= set(TYPES) and config.select.conditions is None:
            left.append(name)
        elif lacking:
            listed = ", ".join([*possible[:_LISTED], *(["..."] if len(possible) > _LISTED else [])])
            head = re.fullmatch(r"\d+-\d+", lacking[0])
            meant = " A head is layer-head, both counted from 1." if head else nearest(lacking[0], possible)
            sentence = f'no partition has the type "{lacking[0]}".{meant} Types: {listed}.'
            mistakes.append((f"conditions.{name}", sentence))
        elif not any(set(types) <= set(kind) for kind in kinds):
            mistakes.append((f"conditions.{name}", f"no one partition has all of {', '.join(types)}."))
    if mistakes:
        raise ConfigError(mistakes)
    return left


def check_evaluated(config: Config, evaluated: Mapping[tuple[str, str], Iterable[str]]) -> None:
    """Raise `ConfigError` if a model lacks the output layer that its task needs, or a head that a condition names.

    evaluated: {(model, condition): types and heads that the condition changes}.
    A model without a config.json on this machine is not checked here, but by its jobs.
    """
    says = {model: config_json(given(config.models[config.made_from(model)[-1]].source)) for model, _ in evaluated}
    mistakes = []
    for model, named in says.items():
        task, classes = config.models[model].evaluate, named.get("architectures")
        form = "" if config.models[model].source.finetuned else _CLASSES[KINDS[config.tasks[task].kind].head]
        if isinstance(classes, list) and classes and not re.search(form, " ".join(map(str, classes))):
            sentence = f"its config.json says that it is a {classes[0]}, which has not the head that {task} asks for"
            mistakes.append((f"models.{model}.evaluate", f"{sentence}; name another model, or leave evaluate out."))
    for (model, condition), targets in evaluated.items():
        sizes = [next((says[model][key] for key in keys if key in says[model]), None) for keys in _SIZES]
        for head in filter(None, map(head_of, targets)):
            if any(isinstance(size, int) and at >= size for at, size in zip(head, sizes, strict=True)):
                layers, heads = ("?" if size is None else size for size in sizes)
                sentence = f"{model} has {layers} layers of {heads} heads by its config.json, both counted from 1"
                mistakes.append(
                    (f"conditions.{condition}", f"{sentence}, and no {head[0] + 1}-{head[1] + 1}; correct it.")
                )
    if mistakes:
        raise ConfigError(mistakes)


def check_published(config: Config, paper: str, rows: Iterable[str]) -> None:
    """Raise `ConfigError` if a model is to be compared with a row of a paper's tables that is not among `rows`."""
    rows, named = list(rows), {name: model.published.get(paper) for name, model in config.models.items()}
    wrong = {name: row for name, row in named.items() if row is not None and row not in rows}
    if wrong:
        raise ConfigError((f"models.{name}.published.{paper}", unknown(row, rows)) for name, row in wrong.items())


def types_in(key: str, file: str) -> tuple[str, ...]:
    """Return the sorted types in a partition's CSV file; raise `ConfigError` about `key` if this file is wrong."""
    try:
        if sentence := _missing(file):
            raise InputError(sentence)
        return tuple(sorted(types_in_file(file)))
    except InputError as error:
        raise ConfigError([(key, str(error))]) from None


def _missing_files(config: Config, models: Sequence[str], tasks: Sequence[str]) -> Mistakes:
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
    for name, entry in config.analyses.items():
        named[f"analyses.{name}.file"] = entry.file
        named |= {f"analyses.{name}.inputs.{key}": path for key, path in entry.inputs.items() if not is_result(path)}
    for key, path in named.items():
        if path is not None and (sentence := _missing(path, is_folder=key.endswith(".folder"))):
            yield key, sentence


def _analyses(config: Config, results: Iterable[Result]) -> Mistakes:
    taken = {analysis.name for analysis in ANALYSES} | {result.path.split("/")[1] for result in results}
    for name, entry in config.analyses.items():
        if name.lower() in {*taken, folder_of_records(Path()).name}:
            yield f"analyses.{name}", f"results of ours have the name {name.lower()}; choose another one."
        try:
            class_in(entry.file)
        except InputError as error:
            yield f"analyses.{name}.file", str(error)


def _same_files(task: str, source: TaskSource) -> Mistakes:
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
    kind = "folder" if is_folder else "file"
    if os.path.lexists(path):
        return f"{path} is there and is no {kind}, nor a link to one; name a {kind}."
    sentence = f"there is no {kind} {shortened(path)}"
    if os.path.isabs(path):
        return f"{sentence}."
    return (
        f"{sentence} in {Path.cwd()}, from which relative paths count; give an absolute path, or, with --directory, "
        "the folder from which yours counts."
    )
