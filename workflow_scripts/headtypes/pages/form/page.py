"""The page on which a file of the configuration is filled in: its schema, and the values that it begins with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError, shortened
from headtypes.pages.rendering import embedded, render

# From here on, a script cannot tell a number from the next.
_LARGEST = 2**53
_HERE = Path(__file__).parent
_SOURCES = {
    "html": [_HERE.parent / "base.html", _HERE / "page.html"],
    "css": [_HERE.parent / "summary" / "page.css", _HERE / "page.css"],
    "js": [_HERE.parent / "tables.js", _HERE / "yaml.js", _HERE / "schema.js", _HERE / "page.js"],
}


def page_of(schema: Mapping[str, Any], config: Mapping[str, Any], name: str, first_line: str = "") -> str:
    """The page as HTML.

    schema: the JSON schema of a file of the configuration; config: the keys that are given; name: of the file that they
    are from, which is also the name of the file that is downloaded; first_line: a comment that the YAML begins with.
    Raises `InputError` for a value that a script cannot hold, such as a date.
    """
    data = {"schema": schema, "config": _packed(config, name), "name": name, "first": first_line}
    values = {"title": "A config, key by key", "name": name, "filled": bool(config), "data": embedded(data)}
    return render(values, _SOURCES, {"config": name})


def _packed(value: Any, where: str) -> Any:
    """A value as JSON, a mapping as {"": its keys and values}: a script's objects would put keys like 1 first."""
    if isinstance(value, Mapping):
        return {"": [(str(key), _packed(each, f"{where}: {key}")) for key, each in value.items()]}
    if isinstance(value, list):
        return [_packed(each, where) for each in value]
    if value is None or isinstance(value, str) or (isinstance(value, (int, float)) and abs(value) < _LARGEST):
        return value
    raise InputError(
        f"{where}: the form cannot hold {shortened(str(value))}; write a number below 2^53, or text in quotes."
    )
