"""Checks that the entries of a configuration fit together; where they do not, one line names the key.

Every function raises `InputError`, which names all the mistakes that do not follow from one another. A check runs those
that it relies on first; `check_all` tells nothing twice.
"""

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, compress
from pathlib import Path

from headtypes.analyses.types.names import ALL, TYPE_NAME, TYPES
from headtypes.attention.operations import head_of, operation_of
from headtypes.attention.settings import Of
from headtypes.core.errors import InputError, nearest, one_line
from headtypes.core.texts import check_header
from headtypes.data.files import check_form, files_of
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.text.kind import Text
from headtypes.data.kinds.treebank import Treebank
from headtypes.models.files import package_folder, place_of
from headtypes.models.gguf_files import check_gguf
from headtypes.planning.config.messages import check_all
from headtypes.planning.config.schema import Ablation, Config


def check_selection(config: Config) -> None:
    """Everything selected exists, and so do the models that are exported or tested and the conditions with controls."""
    named = [
        (registry, f"select.{registry}", name)
        for registry in ("tasks", "models", "conditions")
        for name in getattr(config.select, registry) or ()
    ]
    named += [
        ("models", f"{section}.{key}", name)
        for section, key in (("export", "full_attention"), ("detectors", "models"), ("use", "models"))
        for name in getattr(getattr(config, section), key)
    ]
    # The demo's list is laid under experiments that take its conditions away.
    conditions = {*config.conditions, *config.removed("conditions")}
    check_all(
        *(partial(check_entry, config, *reference) for reference in named),
        partial(_check_needles, config),
        *(partial(_check_used, config, name) for name in config.use.models),
        *(partial(check_known, "controls.conditions", name, conditions) for name in config.controls.conditions or ()),
    )


def _check_used(config: Config, name: str) -> None:
    check_entry(config, "models", "use.models", name)
    _check_tasks(config, name)
    if not any(config.tasks[task].kind == Treebank.name for task in config.models[name].tasks):
        raise InputError(
            f"config: use.models: {name} reads no treebank, on which it is asked for what its heads are used; name "
            f"one in models.{name}.tasks."
        )


def _check_needles(config: Config) -> None:
    if (text := config.detectors.text) is None:
        return
    check_entry(config, "tasks", "detectors.text", text)
    if (kind := config.tasks[text].kind) != Text.name:
        raise InputError(
            f"config: detectors.text: {text} is of kind {kind}; name a task of kind {Text.name}, in whose sentences "
            "needles are planted."
        )
    if not config.detectors.context:
        raise InputError(
            "config: detectors.text: no text with needles is read; set detectors.context to its number of tokens."
        )


def check_names(config: Config) -> None:
    """No file about one entry has the name of a file about another, or of the folder of results, in any case."""
    files = ("models", "tasks", "partitions", "conditions")
    check_all(
        *(partial(_check_case, registry, getattr(config, registry)) for registry in (*files, "readings")),
        *(partial(_check_files, registry, getattr(config, registry)) for registry in files),
        lambda: _check_files("models", _developments(config)),
    )
    for name in config.conditions:
        if name.lower().startswith("intervals."):
            raise InputError(f"config: conditions.{name}: the file of all intervals lies beside it; rename it.")


def _check_case(registry: str, names: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.lower(), name)) != name:
            raise InputError(
                f"config: {registry}.{name} differs from {other} in upper and lower case alone, which some file "
                "systems do not tell apart; rename one of the two."
            )


def _check_files(registry: str, names: Iterable[str]) -> None:
    by_lower = {name.lower(): name for name in names}
    for name in names:
        if name.lower() == "results":
            raise InputError(f"config: {registry}.{name}: the folder of results has this name; rename the entry.")
        parts = name.lower().split(".")
        for number in range(1, len(parts)):
            if other := by_lower.get(".".join(parts[:number])):
                raise InputError(
                    f"config: {registry}.{name}: a file about {other} may have this name; rename one of the two."
                )


def _developments(config: Config) -> list[str]:
    """What the files about checkpoints of one training are called, no two alike."""
    named: dict[str, str] = {}
    for name, model in config.models.items():
        if (text := model.checkpoint_of) is None:
            continue
        if step_of(text, name) is None:
            raise InputError(
                f"config: models.{name}.checkpoint_of: this name is not {text} with the number of a step in place of "
                "{step}; rename one of the two."
            )
        if (other := named.setdefault(development_name(text).lower(), text)) != text:
            raise InputError(
                f"config: models.{name}.checkpoint_of: files about the checkpoints {text} would have the names of "
                f"those about {other}; rename the models."
            )
    return list(named)


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
        partial(_check_units, config),
        partial(_check_ablation, config),
    )


def _check_references(config: Config, name: str) -> None:
    """What a model names exists."""
    model = config.models[name]
    named = {f"models.{name}.evaluate": model.evaluate}
    if model.source.finetuned is not None:
        named[f"models.{name}.source.finetuned.task"] = model.source.finetuned.task
    check_all(
        partial(_check_tasks, config, name),
        partial(_check_parent, config, name),
        *(partial(check_entry, config, "tasks", key, task) for key, task in named.items() if task is not None),
    )


def _check_tasks(config: Config, name: str) -> None:
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


def _check_units(config: Config) -> None:
    for name, model in config.models.items():
        parent = parent_of(config, name)
        if parent is not None and config.models[parent].units != model.units:
            raise InputError(
                f"config: models.{name}.units: it is compared head by head with {parent}, of which other heads are "
                "counted; give both the same units."
            )
        if model.units != "heads" and "norms" in config.clustering.of:
            raise InputError(
                f"config: models.{name}.units: what a token hands over through several heads of queries is no weight "
                "times a length; take norms out of clustering.of."
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


def check_partitions(config: Config) -> None:
    """The user's partitions have names of their own, and features; and the selection leaves what it names.

    The models have been checked.
    """
    read = [(name, task) for name, model in config.models.items() for task in model.tasks]
    made = [(*it, name) for it in read if _has_features(config, it[1]) for name in clusterings(config, it[1])]
    task_of: dict[str, str] = {}
    for _, task, name in made:
        if (other := task_of.setdefault(name.lower(), task)) != task:
            raise InputError(
                f"config: tasks.{task}: its partition {name} has the name of one of {other}, by norms or by weights; "
                "rename one of the two tasks."
            )
    clustered = {name for _, _, name in made}
    lower = set(map(str.lower, clustered))
    check_all(
        *(partial(_check_partition, config, name, lower) for name in config.partitions),
        *(partial(_check_selected, config, name, clustered) for name in config.select.partitions or ()),
    )
    _check_left(config, read, [*made, *((entry.model, entry.task, name) for name, entry in config.partitions.items())])


def check_partitioned(config: Config) -> None:
    """The models and tasks of the user's partitions exist."""
    check_all(
        *(
            partial(check_entry, config, f"{part}s", f"partitions.{name}.{part}", getattr(entry, part))
            for name, entry in config.partitions.items()
            for part in ("model", "task")
        )
    )


def _check_partition(config: Config, name: str, clustered: set[str]) -> None:
    entry = config.partitions[name]
    if name.lower() in clustered:
        raise InputError(f"config: partitions.{name} has the name of a clustering; give it another name.")
    if not _has_features(config, entry.task):
        raise InputError(
            f"config: partitions.{name}.task: {entry.task} is of kind {config.tasks[entry.task].kind}, on which "
            "types have no features; name another task."
        )
    if entry.task not in config.models[entry.model].tasks:
        raise InputError(
            f"config: partitions.{name}.task: models.{entry.model} has no features on {entry.task}; "
            f"add it to models.{entry.model}.tasks."
        )


def _check_selected(config: Config, name: str, clustered: set[str]) -> None:
    _check_not_removed(config, "partitions", "select.partitions", name)
    check_known("select.partitions", name, clustered | set(config.partitions))


def check_published(config: Config, paper: str, rows: Iterable[str]) -> None:
    """Models are compared only with rows that the paper has."""
    check_all(
        *(
            partial(check_known, f"models.{name}.published.{paper}", model.published[paper], rows)
            for name, model in config.models.items()
            if paper in model.published
        )
    )


def check_sources(config: Config, models: Iterable[str], tasks: Iterable[str]) -> None:
    """The local files, folders and packages of these models and tasks exist."""
    made_from = dict.fromkeys(base for name in models for base in _made_from(config, name))
    learned = [it.task for name in made_from if (it := config.models[name].source.finetuned)]
    check_all(
        *(partial(_check_model_source, config, name) for name in made_from),
        *(partial(_check_task_source, config, name) for name in tasks),
        *(partial(_check_training_file, config, name) for name in learned if name in config.tasks),
    )


def _check_model_source(config: Config, name: str) -> None:
    source = config.models[name].source
    key = f"models.{name}.source"
    if source.folder is not None:
        _variables_set(f"{key}.folder", source.folder)
        if not os.path.isfile(os.path.join(source.folder, "config.json")):
            raise InputError(
                f"config: {key}.folder: {source.folder} holds no config.json{_looked_in(source.folder)}; name a "
                "folder that save_pretrained has written."
            )
    if source.package is not None and package_folder(source.package) is None:
        raise InputError(f"config: {key}.package: there is no installed package {source.package}; install it with pip.")
    if source.gguf is not None:
        _variables_set(f"{key}.gguf", source.gguf)
        file = Path(*place_of(source.model_dump()))
        # What a package holds is reported by the job that fetches the model.
        if source.package is None or os.path.isfile(file):
            check_gguf(f"config: {key}.gguf", file)


def _check_task_source(config: Config, name: str) -> None:
    source, key, kind = config.tasks[name].source, f"tasks.{name}.source", KINDS[config.tasks[name].kind]
    # A kind that no model answers is not fine-tuned on: its training data are for probes.
    probed = ("training_file",) if kind.head is None else ()
    files = {part: file for part in ("file", "test_file", *probed) if (file := getattr(source, part)) is not None}
    for part, file in files.items():
        check_file(f"{key}.{part}", file)
        check_form(file, kind.form, kind.formats, f"config: {key}.{part}")
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
        kind, key = KINDS[config.tasks[name].kind], f"tasks.{name}.source.training_file"
        check_file(key, file)
        check_form(file, kind.form, kind.formats, f"config: {key}")


def check_probed(config: Config, models: Iterable[str]) -> None:
    """The models that probes read lie in one place."""
    check_all(*(partial(_check_in_one_place, config, name) for name in models))


def _check_in_one_place(config: Config, name: str) -> None:
    if config.models[name].memory is not None:
        raise InputError(
            f"config: models.{name}.memory: probes compare the model with a random network, which is drawn of a "
            "model in one place; leave this key out, or set probes.seeds: 0."
        )


def check_readings(config: Config) -> None:
    """No reading has the name of another column of the table of readings."""
    for name in config.readings:
        if name in ("ablation", "place", "claim"):
            raise InputError(f"config: readings.{name}: the table of readings has a column of this name; rename it.")


def check_baseline(config: Config) -> None:
    """One condition leaves all heads as they are."""
    if config.conditions and not any(map(changes_nothing, config.conditions.values())):
        raise InputError(
            "config: conditions: each of them changes heads, so that no drop can be measured; add one that changes "
            "none (baseline: {}), or give one that does something another name than baseline."
        )


def check_baselines(config: Config, conditions: Iterable[str], kinds: Iterable[Iterable[str]]) -> None:
    """Wherever one of these conditions changes heads, another applies that leaves all of them as they are.

    kinds: the types of each partition that some condition is evaluated on.
    """
    for types in kinds:
        applying = [name for name in conditions if set(types_of(config.conditions[name])) <= set(types)]
        changing = [name for name in applying if not changes_nothing(config.conditions[name])]
        if changing and len(changing) == len(applying):
            raise InputError(
                f"config: conditions.{changing[0]}: no drop can be measured for a partition into {', '.join(types)}, "
                "since each condition that changes nothing names other types; add one that names none (baseline: {})."
            )


def check_conditions(config: Config, conditions: Sequence[str], kinds: Sequence[Iterable[str]]) -> list[str]:
    """For each of these conditions, at least one partition has all the types that it names.

    kinds: the types of each partition.
    returns the conditions to be left out instead: those that name types of k = 4, where clustering has another k, and
        that nobody selects by name.
    """
    possible = {type_ for types in kinds for type_ in types}
    left_out = check_all(*(partial(_is_left_out, config, name, possible, kinds) for name in conditions))
    return list(compress(conditions, left_out))


def _is_left_out(config: Config, name: str, possible: set[str], kinds: Sequence[Iterable[str]]) -> bool:
    types = types_of(config.conditions[name])
    missing = set(types) - possible
    if missing and missing <= set(TYPES) and config.select.conditions is None:
        return True
    for type_ in types:
        if type_ not in possible:
            meant = " A head is layer-head, both counted from 1." if re.fullmatch(r"\d+-\d+", type_) else ""
            raise InputError(
                f'config: conditions.{name}: no partition has the type "{type_}".'
                f"{meant or nearest(type_, possible)} Types: {', '.join(sorted(possible))}. "
                "Name another, or leave the condition out with select.conditions."
            )
    if not any(set(types) <= set(kind) for kind in kinds):
        raise InputError(f"config: conditions.{name}: no one partition has all of {', '.join(types)}.")
    return False


def clusterings(config: Config, task: str) -> dict[str, tuple[str, int, Of]]:
    """Name of each partition that clustering makes on a task: its method, its k, and what heads are divided by."""
    clustering = config.clustering
    return {
        f"{task}-{clustering_name(method, k, of)}": (method, k, of)
        for of in dict.fromkeys(clustering.of)
        for method in clustering.methods
        for k in clustering.k
    }


def clustering_name(method: str, k: int, of: Of) -> str:
    """The name of a way of clustering: method and k, after `norms` where heads are divided by norms."""
    return f"{method}-k{k}" if of == "weights" else f"{of}-{method}-k{k}"


def parent_of(config: Config, model: str) -> str | None:
    """The model that this one was fine-tuned from."""
    finetuned = config.models[made_by(config, model)].source.finetuned
    return finetuned.base if finetuned else config.models[model].parent


def family_of(config: Config, model: str) -> str:
    """The family that a model counts to: that of its first ancestor, or the name of this ancestor."""
    parent = parent_of(config, model)
    if parent:
        return family_of(config, parent)
    made = made_by(config, model)
    return config.models[model].family or config.models[made].family or made


def made_by(config: Config, model: str) -> str:
    """The model of whose training a checkpoint was kept; of another model, itself."""
    checkpoint = config.models[model].source.checkpoint
    return checkpoint.of if checkpoint else model


def step_of(checkpoints: str, model: str) -> int | None:
    """The step in the name of a checkpoint; None for another name. checkpoints: their `checkpoint_of`."""
    found = re.fullmatch(re.escape(checkpoints).replace(r"\{step\}", "([0-9]+)", 1), model)
    return int(found[1]) if found and found.groups() else None


def development_name(checkpoints: str) -> str:
    """What the files about checkpoints are called: as their names without the step; checkpoints: as in `step_of`."""
    return re.sub(r"[-_.+]?(step)?\{step\}", "", checkpoints).lstrip("-_.+") or "steps"


def changes_nothing(condition: Mapping[str, str]) -> bool:
    """Whether a condition keeps all heads."""
    return all(operation_of(operation).change is None for operation in condition.values())


def types_of(condition: Iterable[str]) -> list[str]:
    """The types among the targets of a condition; the others are heads."""
    return [target for target in condition if head_of(target) is None]


def check_known(key: str, name: str, registry: Iterable[str]) -> None:
    """Refuse a name that its registry does not have."""
    if name not in registry:
        raise InputError(
            f'config: {key}: there is no "{name}".{nearest(name, registry)} Known: {", ".join(sorted(registry))}.'
        )


def check_entry(config: Config, registry: str, key: str, name: str) -> None:
    """Refuse the name of an entry that a registry does not have; where `null` took it away, name that key too."""
    _check_not_removed(config, registry, key, name)
    check_known(key, name, getattr(config, registry))


def _check_not_removed(config: Config, registry: str, key: str, name: str) -> None:
    if by := config.removed(registry).get(name):
        raise InputError(
            f'config: {key} names "{name}", which {by}: null takes away; name another there, or take the entry that '
            "names it away as well."
        )


def _check_left(config: Config, read: list[tuple[str, str]], partitions: list[tuple[str, str, str]]) -> None:
    """The selection leaves something to do.

    read: every model with each of its tasks; partitions: model, task and name of every one.
    """
    chosen = config.select
    models, tasks = chosen.models or config.models, chosen.tasks or config.tasks
    left = {(model, task) for model, task in read if model in models and task in tasks}
    if not left and not set(config.detectors.models) & set(models):
        raise InputError(
            "config: select.tasks: no selected model has one of these tasks; select other models or tasks."
        )
    wanted = [(model, task) for model, task, name in partitions if name in (chosen.partitions or [name])]
    parted = left.intersection(wanted)
    if chosen.partitions and not parted:
        raise InputError(
            "config: select.partitions: no selected model has one of these on a selected task; select other models, "
            "tasks or partitions."
        )
    if chosen.conditions and not any(config.models[model].evaluate == task for model, task in parted):
        raise InputError(
            "config: select.conditions: no selected model with a selected partition is evaluated on its task; select "
            "other models, tasks or partitions, or no condition ([])."
        )


def _has_features(config: Config, task: str) -> bool:
    return "samples" in KINDS[config.tasks[task].kind].keys


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
    if "label" in kind.columns and task.source.world is None and task.columns.label is None:
        raise InputError(f"config: {what} has no labels; name their column in tasks.{name}.columns.label.")


def _made_from(config: Config, model: str | None) -> list[str]:
    """The model and those that it is made from, as far as there are any."""
    models: list[str] = []
    while model in config.models and model not in models:
        models.append(model)
        source = config.models[model].source
        model = source.checkpoint.of if source.checkpoint else source.finetuned and source.finetuned.base
    return models


def _variables_set(key: str, path: str) -> None:
    unset = re.search(r"\$(\w+|\{\w+\})", path)
    if unset:
        raise InputError(f"config: {key}: the environment variable {unset[1].strip('{}')} is not set.")


def check_file(key: str, file: str) -> None:
    """Refuse a file that does not exist, and say where a relative path was looked for."""
    _variables_set(key, file)
    if not os.path.isfile(file):
        raise InputError(f"config: {key}: there is no file {file}{_looked_in(file)}.")


def _looked_in(path: str) -> str:
    """Where a relative path was looked for, for messages."""
    return "" if os.path.isabs(path) else f" in {os.getcwd()}, from which relative paths count"


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
