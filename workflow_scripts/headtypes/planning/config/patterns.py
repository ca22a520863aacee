"""Entries of models that stand for many: a name with {seed} and the like, and under `over` what these are.

models:
  bert-{seed}: {source: {folder: models/seed-{seed}}, tasks: [text], over: {seed: 0-24}}
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product
from math import prod
from typing import Any

from headtypes.core.errors import InputError, nearest, shortened

# Far more than any study has.
_MOST_MODELS = 10_000
# ${NAME} is a variable of the environment.
_VARIABLE = re.compile(r"(?<!\$)\{(\w+)\}")
_RANGE = re.compile(r"(\d+)-(\d+)(?:/([1-9]\d*))?")
# Lists that name models, in which a pattern names all that it stands for.
_NAMING = (("select", "models"), ("detectors", "models"))

Value = int | float | str


def expanded(raw: dict[str, Any]) -> dict[str, Any]:
    """A configuration in which every pattern among the models is replaced by the models that it stands for.

    raw: as a file holds it; what is not as it should be elsewhere is left as it is.
    Raises `InputError` with one line that names the key of a pattern that says too much or too little.
    """
    models = raw.get("models")
    if not isinstance(models, Mapping):
        return raw
    entries: dict[str, Any] = {}
    of: dict[str, list[str]] = {}
    for key, entry in models.items():
        made = dict(_models(key, entry)) if _is_pattern(key, entry) else {key: entry}
        of[key] = list(made)
        for name in made:
            if name in entries:
                other = next(each for each, names in of.items() if name in names)
                raise InputError(
                    f"config: models.{key}: {other} gives a model the name {name}, too; rename one of them."
                )
        entries |= made
    patterns = {key: names for key, names in of.items() if names != [key]}
    return {**raw, "models": entries, **_named(raw, patterns)} if patterns else raw


def with_patterns(places: Mapping[str, str], raw: Mapping[str, Any]) -> dict[str, str]:
    """The places of keys, and of the keys of each model that a pattern stands for: those of the pattern.

    places: of each key of the files, a.b, where it stands. raw: as for `expanded`.
    """
    found = dict(places)
    models = raw.get("models")
    for key, entry in models.items() if isinstance(models, Mapping) else ():
        if not _is_pattern(key, entry):
            continue
        of_pattern = f"models.{key}"
        below = [
            (path.removeprefix(of_pattern), place)
            for path, place in places.items()
            if path == of_pattern or path.startswith(f"{of_pattern}.")
        ]
        # What cannot be replaced is a mistake of the pattern itself, which has its own place.
        with suppress(InputError):
            found |= {f"models.{name}{rest}": place for name, _ in _models(key, entry) for rest, place in below}
    return found


def _is_pattern(key: Any, entry: Any) -> bool:
    has_variable = isinstance(key, str) and _VARIABLE.search(key) is not None
    return has_variable or (isinstance(entry, Mapping) and "over" in entry)


def _models(key: Any, entry: Any) -> Iterator[tuple[str, Any]]:
    """The name and the entry of each model that a pattern stands for."""
    where = f"config: models.{key}"
    over = entry.get("over") if isinstance(entry, Mapping) else None
    if not isinstance(over, Mapping) or not over:
        raise InputError(f"{where}: a name with braces needs `over`, such as over: {{seed: 0-24}}.")
    values = {str(name): list(_values(f"{where}.over.{name}", given)) for name, given in over.items()}
    wanted = set(_VARIABLE.findall(str(key)))
    for name in values:
        if name not in wanted:
            raise InputError(
                f"{where}.over.{name}: all of these models would have one name; write {{{name}}} into the name."
            )
    if (number := prod(map(len, values.values()))) > _MOST_MODELS:
        raise InputError(f"{where}: it stands for {number:,} models, and at most {_MOST_MODELS:,} are allowed.")
    kept = {name: part for name, part in entry.items() if name != "over"}
    for chosen in product(*values.values()):
        known = dict(zip(values, chosen, strict=True))
        repeats = {"repeat_of": _filled(key, known | {"seed": "{seed}"}, where)} if "seed" in known else {}
        yield _filled(key, known, where), repeats | _filled(kept, known, where)


def _values(where: str, given: Any) -> Iterator[Value]:
    """The values that a variable takes: one, a range such as 0-24 or 0-1000/100, or a list of these."""
    several = given if isinstance(given, list) else [given]
    seen: set[str] = set()
    for each in several:
        if isinstance(each, bool) or not isinstance(each, Value):
            raise InputError(f"{where}: {shortened(str(each))} is neither a number nor text, such as 3 or 0-24.")
        for value in _range(where, each):
            if str(value) in seen:
                raise InputError(f"{where}: {value} is there twice; leave one out.")
            seen.add(str(value))
            yield value
    if not seen:
        raise InputError(f"{where}: the list is empty; name at least one value.")


def _range(where: str, given: Value) -> list[Value]:
    """The numbers of a range, with the zeros before them that its first one has; of another value, itself."""
    found = _RANGE.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return [given]
    first, last, step = found.groups()
    if int(first) > int(last):
        raise InputError(f"{where}: the range {given} ends before it begins; write {last}-{first}.")
    if int(last) - int(first) >= _MOST_MODELS * int(step or 1):
        raise InputError(f"{where}: the range {given} has more than {_MOST_MODELS:,} numbers.")
    numbers = range(int(first), int(last) + 1, int(step or 1))
    padded = first.startswith("0") and len(first) > 1
    return [f"{number:0{len(first)}}" for number in numbers] if padded else list(numbers)


def _filled(part: Any, known: Mapping[str, Value], where: str) -> Any:
    """A part of an entry with the values of the variables; what is one variable alone is its value, number or text."""
    if isinstance(part, Mapping):
        return {name: _filled(below, known, f"{where}.{name}") for name, below in part.items()}
    if isinstance(part, list):
        return [_filled(below, known, where) for below in part]
    if not isinstance(part, str):
        return part
    for name in _VARIABLE.findall(part):
        if name not in known:
            raise InputError(f"{where}: over does not say what {{{name}}} is.{nearest(name, known)}")
    alone = _VARIABLE.fullmatch(part)
    return known[alone[1]] if alone else _VARIABLE.sub(lambda found: str(known[found[1]]), part)


def _named(raw: Mapping[str, Any], patterns: Mapping[str, list[str]]) -> dict[str, Any]:
    """The sections with lists of models, in which each pattern is replaced by its models."""
    sections = {}
    for section, key in _NAMING:
        of_section = raw.get(section)
        if isinstance(of_section, Mapping) and isinstance(listed := of_section.get(key), list):
            names = [
                name for each in listed for name in (patterns.get(each, [each]) if isinstance(each, str) else [each])
            ]
            sections[section] = {**of_section, key: names}
    return sections
