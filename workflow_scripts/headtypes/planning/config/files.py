"""The files of a configuration: what `null` takes away, no key twice, and entries in the order of the files.

Snakemake reads them by itself, so that what its reader makes of a number can be told from their text alone.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

import yaml

from headtypes.core.errors import InputError, nearest, one_line, shortened
from headtypes.core.files import StrPath
from headtypes.planning.config.schema import Config

# The parts of a configuration whose keys are names of entries.
REGISTRIES = tuple(name for name, field in Config.model_fields.items() if get_origin(field.annotation) is dict)
# Far more than any configuration holds, also where its aliases (*name) stand for much.
_MOST_NODES = 100_000
# The keys of a mapping by name; {} for a value that is not a mapping, None for a `null` that is written out.
Keys = dict[str, "Keys | None"]


@dataclass(frozen=True)
class LaidOver:
    """A configuration whose files are laid over one another.

    values:  its keys and values.
    removed: by registry, each entry that was taken away, with the key whose `null` did it.
    places:  of each key, a.b, the file that gives it last, and the line there.
    """

    values: dict[str, Any]
    removed: dict[str, dict[str, str]]
    places: dict[str, str]


def laid_over(config: Mapping[str, Any], files: Iterable[StrPath], given: Mapping[str, Any] | None = None) -> LaidOver:
    """Take away what `null` takes away, and put the keys of every mapping into the order of the files.

    In every file but the lowest, a `null` that is written out takes an entry of a registry, or a whole registry or
    section, away from what lies below. Snakemake keeps it as a value instead, and puts the keys of the last file first,
    so that naming an existing entry there would move its rows in every table.

    config: as Snakemake merged it; keys that are in no file come last.
    files:  the lowest first.
    given:  what --config says, which lies over all files.
    Raises `InputError` as `read_keys` does, and where `null` stands for an entry that is not there.
    """
    places: dict[str, str] = {}
    layers = [(str(file), read_keys(file, places)) for file in files] + [("--config", _keys_of(given or {}))]
    places |= dict.fromkeys(_leaves(layers[-1][1]), "--config")
    everything: Keys = {}
    kept: Keys = {}
    removed: dict[str, dict[str, str]] = {}
    for height, (where, keys) in enumerate(layers):
        _add(everything, keys)
        _add(kept, _without_null(keys, kept, removed, where) if height else keys)
    return LaidOver(
        values=_ordered(config, kept, everything),
        removed={
            registry: {name: key for name, key in names.items() if name not in kept.get(registry, {})}
            for registry, names in removed.items()
        },
        places=places,
    )


def merged(files: Iterable[StrPath]) -> dict[str, Any]:
    """The values of files, the lowest first, merged as Snakemake does it; raises `InputError` where one has none."""
    values: dict[str, Any] = {}
    for file in files:
        read_keys(file)
        try:
            over = yaml.safe_load(Path(file).read_text(encoding="utf-8")) or {}
        except ValueError as error:
            raise InputError(f"{file} cannot be read as YAML ({one_line(error)}); correct it.") from error
        if not isinstance(over, dict):
            raise InputError(f"{file} holds no keys, but {shortened(repr(over))}; name another file.")
        values = _over(values, over)
    return values


def _over(below: Any, above: Any) -> Any:
    if not isinstance(above, Mapping):
        return above
    below = below if isinstance(below, Mapping) else {}
    return {**below, **{key: _over(below.get(key), value) for key, value in above.items()}}


def read_keys(file: StrPath, places: dict[str, str] | None = None) -> Keys:
    """Read the keys of a YAML or JSON file, nested as they stand there, without its values.

    places: gets the file and line of each key, as in `LaidOver`.

    Raises `InputError` where a mapping has a key twice, of which YAML keeps the last in silence; where YAML reads a
    number otherwise than it looks; where an alias (*name) stands for what it is in, or all of them for too much; and
    where JSON is not YAML, as with tabs.
    """
    with open(file, encoding="utf-8") as text:
        try:
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise InputError(f"{file}{yaml_problem(error)} JSON is YAML, too, if it has no tabs.") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{file} cannot be read as YAML ({one_line(error)}).") from None
    if node is not None and _size(node, Path(file), {}) > _MOST_NODES:
        raise InputError(f"{file} holds more than {_MOST_NODES:,} values, with what its aliases (*name) stand for.")
    return _keys(node, Path(file), "", {} if places is None else places) or {}


def _from_here(file: Path) -> str:
    """A file as a reader finds it, who need not be where `--directory` leads: in full, unless it lies below that."""
    path = os.path.relpath(file)
    return str(file.absolute()) if path.startswith("..") else path


def yaml_problem(error: yaml.YAMLError) -> str:
    """What is wrong in a file that is no YAML, to follow its name, with the line where it is known."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = ", ".join(filter(None, (getattr(error, name, None) for name in ("context", "problem"))))
    return (
        f"{f', line {mark.line + 1},' if mark else ''} cannot be read as YAML ({what or one_line(error)}); correct it."
    )


def _size(node: yaml.Node, file: Path, sizes: dict[yaml.Node, int | None]) -> int:
    """The number of values in a node, whose numbers are checked; sizes: those that are known, None of those around."""
    if node not in sizes:
        sizes[node] = None
        if isinstance(node, yaml.ScalarNode):
            _check_number(node, file)
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        each = (part for pair in parts for part in (pair if isinstance(pair, tuple) else (pair,)))
        sizes[node] = 1 + sum(_size(part, file, sizes) for part in each)
    if sizes[node] is None:
        line = node.start_mark.line + 1
        raise InputError(f"{file}, line {line}: an alias (*name) stands in what it stands for, without end; remove it.")
    return sizes[node]


def _check_number(node: yaml.ScalarNode, file: Path) -> None:
    """Refuse numbers with leading zeros (octal) and with colons (to the base of 60), which nobody means by them."""
    kind = {"tag:yaml.org,2002:int": int, "tag:yaml.org,2002:float": float}.get(node.tag)
    digits = node.value.replace("_", "").lstrip("+-").lower()
    # What says of itself that it is hexadecimal, binary, infinite or no number is read so.
    if kind is None or digits.startswith(("0x", "0b", ".")):
        return
    value = yaml.SafeLoader("").construct_object(node)
    if ":" in digits or kind(digits) != abs(value):
        raise InputError(
            f"{file}, line {node.start_mark.line + 1}: YAML reads {shortened(node.value)} as {value}; write the number "
            "that you mean without leading zeros and colons, or text in quotes."
        )


def _keys(node: yaml.Node | None, file: Path, where: str, places: dict[str, str]) -> Keys | None:
    # A key with nothing behind it is null in YAML, too, but more likely a mistake.
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null" and node.value:
        return None
    if not isinstance(node, yaml.MappingNode):
        return {}
    keys, lines = {}, {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        path = f"{where}.{name}" if where else name
        if name in keys:
            raise InputError(f"{file}, line {line}: the key {path} stands there twice, first in line {lines[name]}.")
        keys[name], lines[name] = _keys(value, file, path, places), line
        places[path] = f"{_from_here(file)}, line {line}"
    return keys


def _keys_of(values: Any) -> Keys | None:
    if isinstance(values, Mapping):
        return {str(key): _keys_of(value) for key, value in values.items()}
    return None if values is None else {}


def _without_null(keys: Keys, kept: Keys, removed: dict[str, dict[str, str]], where: str) -> Keys:
    """The keys of a file without those whose `null` takes something away, which is done to what is kept."""
    left: Keys = {}
    for name, below in keys.items():
        if below is None and name in Config.model_fields:
            entries = kept.pop(name, {})
            if name in REGISTRIES:
                removed.setdefault(name, {}).update(dict.fromkeys(entries, name))
        elif below is not None and name in REGISTRIES:
            for entry in [entry for entry, of_entry in below.items() if of_entry is None]:
                entries = kept.setdefault(name, {})
                if entry not in entries:
                    raise InputError(
                        f"{where}: {name}.{entry}: null takes an entry away from what lies below, and there is none of "
                        f"this name.{nearest(entry, entries)}"
                    )
                del entries[entry]
                removed.setdefault(name, {})[entry] = f"{name}.{entry}"
            left[name] = {entry: of_entry for entry, of_entry in below.items() if of_entry is not None}
        else:
            left[name] = below
    return left


def _add(tree: Keys, keys: Keys | None) -> None:
    for name, below in (keys or {}).items():
        _add(tree.setdefault(name, {}), below)


def _leaves(keys: Keys | None, path: str = "") -> Iterator[str]:
    for name, below in (keys or {}).items():
        yield from _leaves(below, f"{path}{name}.") if below else [f"{path}{name}"]


def _ordered(values: Mapping[str, Any], kept: Keys, everything: Keys) -> dict[str, Any]:
    """The values whose keys are kept, in their order, then those that are in no file."""
    names = [*(name for name in kept if name in values), *(name for name in values if name not in everything)]
    return {
        name: _ordered(values[name], kept.get(name, {}), everything.get(name, {}))
        if isinstance(values[name], Mapping)
        else values[name]
        for name in names
    }
