"""One line for a configuration that cannot be: the key, what is allowed there, what was probably meant."""

import difflib
import re
from collections.abc import Iterable
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Return ` Did you mean "…"?` for the closest of `allowed`, or nothing where none is close."""
    close = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.6)
    return f' Did you mean "{close[0]}"?' if close else ""


def sentence(error: ValidationError, root: type[BaseModel]) -> str:
    """Return one line about the first wrong key, and how many others there are.

    root: the model that was validated, to list the keys that it allows.
    """
    by_key: dict[tuple, list[dict]] = {}
    for problem in error.errors(include_url=False):
        by_key.setdefault(_location(problem), []).append(problem)
    (location, problems), others = next(iter(by_key.items())), len(by_key) - 1
    # One key has several problems where it may hold one of several kinds of value.
    text = _explain(location, problems[0], root)
    for problem in problems[1:]:
        text = f"{text.rstrip('.')}; or {_lower(problem['msg'])}."
    return text + (f" ({others} more wrong {'key' if others == 1 else 'keys'}.)" if others else "")


def _location(problem: dict) -> tuple[str, ...]:
    """Where the problem is, without the marks that pydantic adds for keys and branches of a union."""
    marks = r"\[key\]|constrained-.*|literal\[.*|int|str|function-.*"
    return tuple(str(part) for part in problem["loc"] if not re.fullmatch(marks, str(part)))


def _explain(location: tuple[str, ...], problem: dict, root: type[BaseModel]) -> str:
    key, parent = ".".join(location), ".".join(location[:-1])
    kind, found = problem["type"], problem["input"]
    if kind == "extra_forbidden":
        allowed = sorted(_model_at(location[:-1], root).model_fields)
        where = f"in {parent}" if parent else "at the top"
        close = nearest(location[-1], allowed)
        return f'unknown key "{location[-1]}" {where}.{close} Allowed: {", ".join(allowed)}.'
    if kind == "missing":
        return f'{parent or "the config"} needs the key "{location[-1]}".'
    if kind == "value_error":
        return f"{key}: {problem['ctx']['error']}."
    if kind == "literal_error":
        allowed = problem["ctx"]["expected"]
        close = nearest(str(found), re.findall(r"'([^']+)'", allowed))
        return f"{key}: {found!r} is not allowed here.{close} Allowed: {allowed}."
    if kind == "string_pattern_mismatch":
        return f"{key}: {found!r} does not match {problem['ctx']['pattern']}."
    if kind == "string_type" and "[key]" in problem["loc"]:
        return f'{parent}: the name {found!r} is not text; put it in quotes: "{found}".'
    if kind in ("model_type", "dict_type"):
        return f"{key}: a mapping of keys is needed; found {found!r}."
    return f"{key}: {_lower(problem['msg'])}; found {found!r}."


def _lower(message: str) -> str:
    return message[0].lower() + message[1:]


def _model_at(location: tuple[str, ...], root: type[BaseModel]) -> type[BaseModel]:
    """The model whose keys stand at `location`; a registry's names lead to the model of its entries."""
    annotation: Any = root
    for part in location:
        if get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
        else:
            annotation = annotation.model_fields[part].annotation
    return annotation
