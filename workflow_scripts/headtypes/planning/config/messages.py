"""Mistakes in a configuration, in sentences that name the key, and the file where it stands."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from headtypes.core.errors import InputError, nearest

# How each mistake begins.
_MISTAKE = "config: "
_SHOWN = 80  # characters of a wrong value
# Of pydantic's errors, the one that the parts of the configuration raise themselves.
UNKNOWN_KEY = "unknown_key"


class ConfigError(InputError):
    """Mistakes in a configuration, told at once.

    mistakes: the key, nested ones as `a.b`, and a sentence of each; the key is empty for the whole.
    places: file and line of each key; for a missing key, those of its parent.
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
    """Turn pydantic's errors into mistakes by key; raw: the validated values."""
    by_key: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False):
        by_key.setdefault(_key(problem, raw), []).append(_text(problem))
    told = {key: "; or ".join(texts) for key, texts in by_key.items()}
    return ConfigError((key, text if text[-1] in ".?" else f"{text}.") for key, text in told.items())


def _key(problem: dict, raw: Any) -> str:
    """Return the keys that lead to a problem, without the marks that pydantic adds for branches of a union."""
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
