"""The files of a configuration, laid over one another: what `null` takes away, and no key twice."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_origin

import yaml

from headtypes.core.errors import InputError, nearest, one_line
from headtypes.core.files import StrPath
from headtypes.core.texts import text_of
from headtypes.planning.config.schema import Config

# The parts of a configuration whose keys are names of entries.
_REGISTRIES = tuple(name for name, field in Config.model_fields.items() if get_origin(field.annotation) is dict)


class Layers(NamedTuple):
    """A configuration whose files are laid over one another.

    values: its keys and values; places: of each key, a.b, the file that gives it last, and the line there.
    """

    values: dict[str, Any]
    places: dict[str, str]


def laid_over(files: Iterable[StrPath], given: Mapping[str, Any] | None = None) -> Layers:
    """Lay files over one another, the lowest first, and what --config says over all of them.

    A key keeps the position of the file that has it first, so that naming an entry again moves no row of a table. A
    `null` takes a section, a registry or an entry of a registry away from what lies below.
    Raises `InputError` where a file is no YAML, has a key twice or one with nothing behind it, or where `null` stands
    for an entry that is not there.
    """
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for file in map(str, files):
        values = _over(values, _read(file, places), file)
    return Layers(_over(values, given or {}, "--config"), places | dict.fromkeys(_keys(given or {}), "--config"))


def _over(below: Any, above: Mapping, where: str, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a mapping with another laid over it; keys: those that lead to both."""
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
    """Read the keys and values of a YAML or JSON file, and note the place of each key in `places`."""
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
    """Note where each key of a mapping stands."""
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
