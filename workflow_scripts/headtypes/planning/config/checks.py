"""Checks that the entries of a configuration fit together; where they do not, one line names the key.

Every function raises `InputError`, which names all the mistakes that do not follow from one another. A check runs those
that it relies on first; `check_all` tells nothing twice.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import compress

from headtypes.analyses.types.names import TYPES
from headtypes.core.errors import InputError, nearest
from headtypes.planning.config.derived import (
    changes_nothing,
    clusterings,
    has_features,
    types_of,
)
from headtypes.planning.config.messages import check_all
from headtypes.planning.config.references import check_entry, check_known, check_not_removed
from headtypes.planning.config.schema import Config

# Types that a message lists, and the first of more.
_LISTED, _FIRST = 12, 4


def check_selection(config: Config) -> None:
    """Everything selected exists, and so do the models that are tested and the conditions with controls."""
    named = [
        (registry, f"select.{registry}", name)
        for registry in ("tasks", "models", "conditions")
        for name in getattr(config.select, registry) or ()
    ]
    named += [("models", "detectors.models", name) for name in config.detectors.models]
    # The demo's list is laid under experiments that take its conditions away.
    conditions = {*config.conditions, *config.removed("conditions")}
    check_all(
        *(partial(check_entry, config, *reference) for reference in named),
        *(partial(check_known, "controls.conditions", name, conditions) for name in config.controls.conditions or ()),
    )


def check_names(config: Config) -> None:
    """No file about one entry has the name of a file about another, or of the folder of results, in any case."""
    files = ("models", "tasks", "partitions", "conditions")
    check_all(
        *(partial(_check_case, registry, getattr(config, registry)) for registry in (*files, "readings")),
        *(partial(_check_files, registry, getattr(config, registry)) for registry in files),
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


def check_partitions(config: Config) -> None:
    """The user's partitions have names of their own, and features; and the selection leaves what it names.

    The models have been checked.
    """
    read = [(name, task) for name, model in config.models.items() for task in model.tasks]
    made = [(*it, name) for it in read if has_features(config, it[1]) for name in clusterings(config, it[1])]
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
    if not has_features(config, entry.task):
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
    check_not_removed(config, "partitions", "select.partitions", name)
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
    possible = list(dict.fromkeys(type_ for types in kinds for type_ in types))
    left_out = check_all(*(partial(_is_left_out, config, name, possible, kinds) for name in conditions))
    return list(compress(conditions, left_out))


def _is_left_out(config: Config, name: str, possible: Sequence[str], kinds: Sequence[Iterable[str]]) -> bool:
    types = types_of(config.conditions[name])
    missing = set(types) - set(possible)
    where = f"config: conditions.{name}"
    if missing and missing <= set(TYPES):
        if config.select.conditions is None:
            return True
        # The condition may be one of config.yaml's, which the user has not written.
        where = f"config: select.conditions: {name}"
    for type_ in types:
        if type_ not in possible:
            shown = ", ".join(possible)
            if len(possible) > _LISTED:
                shown = f"{', '.join(possible[:_FIRST])} and {len(possible) - _FIRST} more"
            meant = " A head is layer-head, both counted from 1." if re.fullmatch(r"\d+-\d+", type_) else ""
            raise InputError(
                f'{where}: no partition has the type "{type_}".'
                f"{meant or nearest(type_, possible)} Types: {shown}. "
                "Name another, or leave the condition out with select.conditions."
            )
    if not any(set(types) <= set(kind) for kind in kinds):
        raise InputError(f"config: conditions.{name}: no one partition has all of {', '.join(types)}.")
    return False


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
