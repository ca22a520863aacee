"""Entries of models that stand for many: a name with {seed} and the like, and under `over` what these are.

models:
  bert-{seed}: {source: {folder: models/seed-{seed}}, tasks: [text], over: {seed: 0-24}}
"""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import chain, product
from typing import Any

from headtypes.core.errors import shortened
from headtypes.planning.config.messages import ConfigError

# ${NAME} is a variable of the environment.
_VARIABLE = re.compile(r"(?<!\$)\{(\w+)\}")
_RANGE = re.compile(r"(\d+)-(\d+)(?:/([1-9]\d*))?")
# Models that one entry may stand for, and digits of a number in a range: more do not end, or cannot be read.
_MOST, _DIGITS = 10_000, 12
# Lists that name models, in which a pattern names all that it stands for.
_NAMING = (("select", "models"), ("detectors", "models"))

Value = int | float | str


def expanded(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration in which every pattern among the models is replaced by its models.

    raw: as a file holds it; anything else that is wrong in it is left as it is.
    Raises `ConfigError` with the key of a pattern that says too much or too little.
    """
    models = raw.get("models")
    if not isinstance(models, Mapping):
        return raw
    entries: dict[str, Any] = {}
    names: dict[str, list[str]] = {}
    for key, entry in models.items():
        expansion = list(_models(key, entry)) if _is_pattern(key, entry) else [(key, entry)]
        names[key] = [name for name, _ in expansion]
        for name, filled in expansion:
            if name in entries:
                raise ConfigError([(f"models.{key}", f"another entry gives a model the name {name}, too; rename one.")])
            entries[name] = filled
    patterns = {key: models for key, models in names.items() if models != [key]}
    return {**raw, "models": entries, **_named(raw, patterns)} if patterns else raw


def _is_pattern(key: Any, entry: Any) -> bool:
    has_variable = isinstance(key, str) and _VARIABLE.search(key) is not None
    return has_variable or (isinstance(entry, Mapping) and "over" in entry)


def _models(key: Any, entry: Any) -> Iterator[tuple[str, Any]]:
    where = f"models.{key}"
    over = entry.get("over") if isinstance(entry, Mapping) else None
    if not isinstance(over, Mapping) or not over:
        raise ConfigError([(where, "a name with braces needs `over`, such as over: {seed: 0-24}.")])
    values = {str(name): list(_values(f"{where}.over.{name}", given)) for name, given in over.items()}
    for name in values.keys() - set(_VARIABLE.findall(str(key))):
        raise ConfigError([(f"{where}.over.{name}", f"write {{{name}}} into the name, which all would share.")])
    if not all(values.values()):
        raise ConfigError([(f"{where}.over", "a list is empty; name at least one value.")])
    if math.prod(map(len, values.values())) > _MOST:
        raise ConfigError([(f"{where}.over", f"these are more than {_MOST} models; name fewer.")])
    kept = {name: part for name, part in entry.items() if name != "over"}
    for chosen in product(*values.values()):
        known = dict(zip(values, chosen, strict=True))
        repeats = {"repeat_of": _filled(key, known | {"seed": "{seed}"}, where)} if "seed" in known else {}
        yield _filled(key, known, where), repeats | _filled(kept, known, where)


def _values(where: str, given: Any) -> Iterator[Value]:
    """Yield the values that a variable takes: one, a range such as 0-24 or 0-1000/100, or a list of these.

    The numbers of a range have the zeros before them that its first one has.
    """
    for value in given if isinstance(given, list) else [given]:
        if isinstance(value, bool) or not isinstance(value, Value):
            raise ConfigError([(where, f"{value!r} is neither a number nor text, such as 3 or 0-24.")])
        if not isinstance(value, str) or not (match := _RANGE.fullmatch(value)):
            yield value
            continue
        first, last, step = match.groups()
        is_readable = max(map(len, (first, last, step or ""))) <= _DIGITS
        if not is_readable or len(numbers := range(int(first), int(last) + 1, int(step or 1))) > _MOST:
            raise ConfigError([(where, f"the range {shortened(value)} is too long; name at most {_MOST} models.")])
        if not numbers:
            raise ConfigError([(where, f"the range {value} ends before it begins; write {last}-{first}.")])
        padded = first.startswith("0") and len(first) > 1
        yield from (f"{number:0{len(first)}}" for number in numbers) if padded else numbers


def _filled(part: Any, known: Mapping[str, Value], where: str) -> Any:
    """Fill the variables of a part of an entry; one variable alone becomes its value, number or text."""
    if isinstance(part, Mapping):
        return {name: _filled(below, known, f"{where}.{name}") for name, below in part.items()}
    if isinstance(part, list):
        return [_filled(below, known, where) for below in part]
    if not isinstance(part, str):
        return part
    for name in _VARIABLE.findall(part):
        if name not in known:
            raise ConfigError([(where, f"over does not say what {{{name}}} is.")])
    alone = _VARIABLE.fullmatch(part)
    return known[alone[1]] if alone else _VARIABLE.sub(lambda found: str(known[found[1]]), part)


def _named(raw: Mapping[str, Any], patterns: Mapping[str, list[str]]) -> dict[str, Any]:
    """Replace each pattern by its models in the sections with lists of models."""
    sections = {}
    for section, key in _NAMING:
        part = raw.get(section)
        if isinstance(part, Mapping) and isinstance(listed := part.get(key), list):
            named = (patterns.get(name, [name]) if isinstance(name, str) else [name] for name in listed)
            sections[section] = {**part, key: list(chain.from_iterable(named))}
    return sections
