"""The tables of keys in docs/lookup/configuration.md, from the schema that editors read; `make docs` writes them."""

import json
import re
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.docs.schema import json_schema

HEAD = "| key | default | meaning |\n| --- | --- | --- |\n"
_ENTRIES = {
    "Tasks": {"": "Task", "source.": "TaskSource", "columns.": "Columns"},
    "Models": {
        "": "ModelEntry",
        "memory.": "Memory",
        "source.": "ModelSource",
        "source.finetuned.": "Finetuned",
        "source.trained.": "Trained",
    },
    "Partitions": {"": "PartitionEntry"},
    "Analyses of your own": {"": "AnalysisEntry"},
}
_SHOWN_BY_EXAMPLES = ("tasks", "models", "partitions", "analyses", "conditions", "select")


def with_keys(page: str) -> str:
    """The page with a row for every key; `ValueError` where a key has no description or a heading no table."""
    schema = json.loads(json_schema())
    tables = {
        heading: [row for prefix, part in parts.items() for row in _rows(schema["$defs"][part], prefix, parts)]
        for heading, parts in _ENTRIES.items()
    }
    others = {name: key for name, key in schema["properties"].items() if name not in _SHOWN_BY_EXAMPLES}
    sections = {f"{name}.": key["anyOf"][0]["$ref"][8:] for name, key in others.items() if "$ref" in key["anyOf"][0]}
    tables["Settings"] = [*_rows({"properties": others}, "", sections)]
    tables["Settings"] += [row for prefix, part in sections.items() for row in _rows(schema["$defs"][part], prefix, ())]
    for heading, rows in tables.items():
        table = rf"(?<=^## {heading}\n)((?:(?!## |\| key).*\n)*){re.escape(HEAD)}(?:\|.*\n)+"
        page, found = re.subn(table, lambda it, rows=rows: it[1] + HEAD + "".join(rows), page, flags=re.MULTILINE)
        if not found:
            raise ValueError(f"no table stands under {heading}")
    return page


def _rows(part: dict[str, Any], prefix: str, parts: Container[str]) -> Iterator[str]:
    for name, key in part["properties"].items():
        meaning = " ".join(key.get("description", "").split())
        if meaning:
            yield f"| `{prefix}{name}` | {_values(key)} | {meaning} |\n"
        elif f"{prefix}{name}." not in parts:
            raise ValueError(f"{prefix}{name} has no description")


def _values(key: dict[str, Any]) -> str:
    """The default, and what else may stand there if all that may is a few words."""
    default = key.get("default")
    first = "" if default is None else f"`{_written(default)}`"
    others = [f"`{_written(it)}`" for it in _words(key) if it != default and [it] != default]
    return ", or ".join(filter(None, (first, ", ".join(others))))


def _written(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n").removesuffix("\n...")


def _words(key: dict[str, Any]) -> Iterator[Any]:
    yield from (*key.get("enum", ()), *([key["const"]] if "const" in key else ()))
    for inner in (*key.get("anyOf", ()), *([key["items"]] if "items" in key else ())):
        yield from _words(inner)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(with_keys(file.read_text(encoding="utf-8")), encoding="utf-8")
