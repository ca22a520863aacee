"""The files of a configuration: no key twice, and entries in the order in which they stand there."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from headtypes.base.errors import InputError


def in_order_of_files(config: Mapping[str, Any], files: Iterable[str | Path]) -> dict[str, Any]:
    """Put the keys of every mapping into the order of the files: those of the first file, then those of the next.

    Snakemake puts the keys of the last file first, so that naming an existing entry there would move its rows in every
    table.

    config: as Snakemake merged it; keys that are in no file come last. Raises `InputError` as `read_keys` does.
    """
    return _ordered(config, [read_keys(file) for file in files])


def read_keys(file: str | Path) -> dict[str, Any]:
    """Read the keys of a YAML or JSON file, nested as they stand there, without its values.

    Raises `InputError` where a mapping has a key twice, of which YAML keeps the last in silence.
    """
    with open(file, encoding="utf-8") as text:
        return _keys(yaml.compose(text, Loader=yaml.SafeLoader), Path(file), "")


def _keys(node: yaml.Node | None, file: Path, where: str) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        return {}
    keys, lines = {}, {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        path = f"{where}.{name}" if where else name
        if name in keys:
            raise InputError(f"{file}, line {line}: the key {path} stands there twice, first in line {lines[name]}.")
        keys[name], lines[name] = _keys(value, file, path), line
    return keys


def _ordered(values: Mapping[str, Any], orders: list[dict[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys([name for order in orders for name in order if name in values] + list(values))
    return {
        name: _ordered(values[name], [order.get(name, {}) for order in orders])
        if isinstance(values[name], Mapping)
        else values[name]
        for name in names
    }
