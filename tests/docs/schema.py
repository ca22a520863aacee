"""The JSON schema of a file of the configuration, from its models, for editors; `make schema` writes it."""

import ast
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from headtypes.planning import config
from headtypes.planning.code import is_text


def json_schema() -> str:
    """The schema. What a file lacks may stand in one that it is laid over: no key is required, and null takes away."""
    schema, described = config.Config.model_json_schema(), dict(_described())
    for name, part in [("Config", schema), *schema["$defs"].items()]:
        for key, text in described.get(name, {}).items():
            part["properties"][key] = dict(sorted({"description": text, **part["properties"][key]}.items()))
    return json.dumps(_laid_over(schema), indent=1) + "\n"


def _described() -> Iterator[tuple[str, dict[str, str]]]:
    """What stands below the attributes of each class; pydantic would look for it whenever the module is loaded."""
    for part in ast.parse(inspect.getsource(config)).body:
        if isinstance(part, ast.ClassDef):
            texts = {
                key.target.id: inspect.cleandoc(below.value.value)
                for key, below in pairwise(part.body)
                if isinstance(key, ast.AnnAssign) and is_text(below)
            }
            yield part.name, texts


def _laid_over(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_laid_over(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _laid_over(value) for key, value in schema.items() if key != "required"}
    for name in found.get("properties", {}):
        found["properties"][name] = _or_null(found["properties"][name])
    if isinstance(found.get("additionalProperties"), dict):
        found["additionalProperties"] = _or_null(found["additionalProperties"])
    return found


def _or_null(schema: dict) -> dict:
    shown = {key: schema.pop(key) for key in ("title", "description", "default") if key in schema}
    return {**shown, "anyOf": [schema, {"type": "null"}]}


if __name__ == "__main__":
    print(json_schema(), end="")
