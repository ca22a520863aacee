"""Reading a configuration: files laid over one another, patterns of models replaced, and mistakes told by their keys.

A name with {seed} and the like among the models is a pattern, and `over` says what it stands for:

models:
  bert-{seed}: {source: {folder: models/seed-{seed}}, tasks: [text], over: {seed: 0-24}}
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product
from typing import Any, NamedTuple, get_origin

import yaml
from pydantic import ValidationError

from headtypes.core.errors import InputError, nearest, one_line, shortened
from headtypes.core.files import StrPath, text_of
from headtypes.planning.config.schema import UNKNOWN_KEY, Config, Value

# The parts of a configuration whose keys are names of entries.
_REGISTRIES = tuple(name for name, field in Config.model_fields.items() if get_origin(field.annotation) is dict)
# How each mistake begins.
_MISTAKE = "config: "
_SHOWN = 80  # characters of a wrong value
# ${NAME} is a variable of the environment.
_VARIABLE = re.compile(r"(?<!\$)\{(\w+)\}")
_RANGE = re.compile(r"(\d+)-(\d+)(?:/([1-9]\d*))?")
# Models that one entry may stand for, and digits of a number in a range: more do not end, or cannot be read.
_MOST, _DIGITS = 10_000, 12
# Lists that name models, in which a pattern names all that it stands for.
_NAMING = (("select", "models"), ("detectors", "models"))


class ConfigError(InputError):
    """An error that reports all mistakes in a configuration, each with its key, a sentence and its place.

    mistakes: (key, sentence) of each mistake. Nested keys are joined as `a.b`; an empty key is the whole configuration.
    places: {key: file and line}. A missing key is reported at the place of the key above.
    """

    def __init__(self, mistakes: Iterable[tuple[str, str]], places: Mapping[str, str] | None = None):
        self.mistakes = list(dict.fromkeys(mistakes))
        super().__init__(" ".join(_line(key, text, places or {}) for key, text in self.mistakes))


def _line(key: str, text: str, places: Mapping[str, str]) -> str:
    parts = key.split(".")
    above = (places.get(".".join(parts[:length])) for length in range(len(parts), 0, -1))
    place = next(filter(None, above), None)
    return f"{_MISTAKE}{f'{key}: ' if key else ''}{text}{f' [{place}]' if place else ''}"


def mistakes_in(message: str) -> list[str]:
    return re.split(f" (?={_MISTAKE})", message)


def unknown(name: str, known: Iterable[str]) -> str:
    return f'there is no "{name}".{nearest(name, known)} Known: {", ".join(sorted(known))}.'


def explained(error: ValidationError, raw: Any) -> ConfigError:
    by_key: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False):
        by_key.setdefault(_key(problem, raw), []).append(_text(problem))
    told = {key: "; or ".join(texts) for key, texts in by_key.items()}
    return ConfigError((key, text if text[-1] in ".?" else f"{text}.") for key, text in told.items())


def _key(problem: dict, raw: Any) -> str:
    """Return the key in a configuration, `raw`, that pydantic's error is about, as `a.b`, less branches of unions."""
    keys, here = [], raw
    for part in problem["loc"]:
        is_index = isinstance(here, list) and isinstance(part, int) and part < len(here)
        if is_index or (isinstance(here, dict) and part in here):
            here = here[part]
            keys.append(str(part))
    lacking = [problem["loc"][-1]] if problem["type"] == "missing" else []
    return ".".join([*keys, *lacking, *problem.get("ctx", {}).get("keys", ())])


def _text(problem: dict) -> str:
    kind, value, text = problem["type"], problem["input"], problem["msg"][0].lower() + problem["msg"][1:]
    if kind == "missing":
        return "this key is missing"
    if kind == UNKNOWN_KEY:
        return text
    if kind == "value_error":
        return str(problem["ctx"]["error"])
    advice = ""
    if kind == "literal_error":
        advice = nearest(str(value), re.findall(r"'([^']+)'", problem["ctx"]["expected"])).replace(" D", ". D", 1)
    elif kind == "float_type" and isinstance(value, str) and re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", value):
        # YAML reads 1e-4 as text.
        advice = "; write a decimal point, as in 1.0e-4"
    elif kind == "int_type" and isinstance(value, str) and re.fullmatch(r"\d+", value):
        advice = "; write it without quotes, and into a file rather than behind --config"
    elif kind == "list_type" and not isinstance(value, dict | None):
        advice = f"; write [{value}]"
    elif kind in ("model_type", "dict_type"):
        text = "a mapping of keys is needed"
    shown = repr(value)
    return f"{text}; found {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'}{advice}"


def read_config(raw: dict[str, Any]) -> Config:
    """Return a configuration as a checked `Config`, in which a pattern such as bert-{seed} has become its models.

    Raises `ConfigError`, which names every wrong key, what is allowed there, and the closest allowed name.
    """
    raw = expanded(raw) if isinstance(raw, dict) else raw
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        raise explained(error, raw) from None


class Layers(NamedTuple):
    """The values of configuration files that were laid over one another, and the places where they stand.

    values: {key: value}, nested as in the files.
    places: {key, joined as a.b: the last file that gives the key, and the line}.
    """

    values: dict[str, Any]
    places: dict[str, str]


def laid_over(files: Iterable[StrPath], given: Mapping[str, Any] | None = None) -> Layers:
    """Return the values of configuration files, each file laid over those before it.

    files: paths of YAML or JSON files, the lowest first; given: values of the option --config, laid over all files.
    A key of several files keeps the position that it has in the first of them, which decides the order of rows in
    tables. A `null` removes a section, a registry (a section with names as keys, such as `models`) or an entry of one.
    """
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for file in map(str, files):
        values = _over(values, _read(file, places), file)
    return Layers(_over(values, given or {}, "--config"), places | dict.fromkeys(_keys(given or {}), "--config"))


def _over(below: Any, above: Mapping, where: str, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a copy of the mapping `below` with the mapping `above`, of the file `where`, laid over it, key by key.

    keys: path of keys from the top of the configuration to both mappings.
    """
    result = dict(below) if isinstance(below, Mapping) else {}
    for key, value in above.items():
        if isinstance(value, Mapping):
            result[key] = _over(result.get(key), value, where, (*keys, key))
        elif value is None and not keys and key in Config.model_fields:
            result.pop(key, None)
        elif value is None and len(keys) == 1 and keys[0] in _REGISTRIES:
            if key not in result:
                raise InputError(
                    f"{where}: {keys[0]}.{key}: null takes an entry away from what lies below, and there is none of "
                    f"this name.{nearest(str(key), map(str, result))}"
                )
            del result[key]
        else:
            result[key] = value
    return result


def _read(file: str, places: dict[str, str]) -> dict[str, Any]:
    try:
        loader = yaml.SafeLoader(text_of(file))
        if (node := loader.get_single_node()) is None:
            return {}
        _note(node, file, "", places)
        values = loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file} cannot be read as YAML ({one_line(error)}); correct it.") from None
    if not isinstance(values, dict):
        raise InputError(f"{file} holds no keys; name a file of the configuration.")
    return values


def _note(node: yaml.Node, file: str, path: str, places: dict[str, str]) -> None:
    """Add the file and line of each key of a YAML mapping, and of the mappings in it, to `places`.

    path: key of the mapping, as `a.b.`; empty for the whole file.
    """
    lines: dict[str, int] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        name, line = f"{path}{key.value}", key.start_mark.line + 1
        if name in lines:
            raise InputError(f"{file}, line {line}: the key {name} stands there twice, first in line {lines[name]}.")
        if isinstance(value, yaml.ScalarNode) and value.tag.endswith(":null") and not value.value:
            raise InputError(f"{file}, line {line}: nothing stands behind the key {name}; write a value, {{}} or null.")
        lines[name] = line
        places[name] = f"{min(os.path.relpath(file), file, key=len)}, line {line}"
        _note(value, file, f"{name}.", places)


def _keys(part: Mapping, path: str = "") -> Iterator[str]:
    for key, below in part.items():
        yield f"{path}{key}"
        yield from _keys(below, f"{path}{key}.") if isinstance(below, Mapping) else ()


def expanded(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a configuration with each pattern of models replaced by the models that it stands for.

    A pattern is an entry such as `bert-{seed}`, whose key `over` lists the values of {seed}. Raises `ConfigError` with
    the key of a pattern that cannot be expanded; other mistakes are left for `read_config`.
    """
    models = raw.get("models")
    if not isinstance(models, Mapping):
        return raw
    entries: dict[str, Any] = {}
    names: dict[str, list[str]] = {}
    for key, entry in models.items():
        has_variable = isinstance(key, str) and _VARIABLE.search(key) is not None
        is_pattern = has_variable or (isinstance(entry, Mapping) and "over" in entry)
        expansion = list(_models(key, entry)) if is_pattern else [(key, entry)]
        names[key] = [name for name, _ in expansion]
        for name, filled in expansion:
            if name in entries:
                raise ConfigError([(f"models.{key}", f"another entry gives a model the name {name}, too; rename one.")])
            entries[name] = filled
    patterns = {key: models for key, models in names.items() if models != [key]}
    return {**raw, "models": entries, **_named(raw, patterns)} if patterns else raw


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
    """Yield the values that a variable in a model's name takes.

    given: one value, a range such as 0-24 or 0-1000/100 (first-last/step), or a list of both. The numbers of a range
        have the leading zeros of its first number. where: key of the variable in the configuration.
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
    """Return a part of a model's entry with each {variable} replaced by its value in `known`.

    A text that is one variable alone becomes the value itself, and not text. where: key of the part, for messages.
    """
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
    """Return {section: contents} of the sections that list models, with each of `patterns` replaced by its models."""
    sections = {}
    for section, key in _NAMING:
        part = raw.get(section)
        if isinstance(part, Mapping) and isinstance(listed := part.get(key), list):
            named = (patterns.get(name, [name]) if isinstance(name, str) else [name] for name in listed)
            sections[section] = {**part, key: list(chain.from_iterable(named))}
    return sections
