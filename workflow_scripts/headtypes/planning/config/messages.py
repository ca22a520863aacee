"""What is wrong in a configuration: of each wrong key, what is allowed there and what was probably meant."""

import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from headtypes.core.errors import InputError, nearest

T = TypeVar("T")
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$"
SHA256 = r"^[0-9a-f]{64}$"
_IN_WORDS = {
    NAME: "a name consists of letters, digits and, after the first character, also _ . + -",
    SHA256: "64 hexadecimal digits in lower case are needed",
}
_UNKNOWN = ("extra_forbidden", "invalid_key")
_UNQUOTED = "; write it without quotes; if it was given by --config, put it into a file for --configfile instead"
# Where the value is text: what is expected, the text that is meant for it, and what to do then.
_FOR_TEXT = {
    # YAML reads 1e-4 as text.
    "float_type": ("a number", r"[-+.\d].*", "; write a decimal point, as in 1.0e-4"),
    # Snakemake reads everything in a mapping given by --config as text.
    "int_type": ("a whole number", r"[-+]?\d+", _UNQUOTED),
    "bool_type": ("true or false", "(?i)true|false", _UNQUOTED),
}
# Snakemake reads null on the command line as text, too.
_NULL = "; with --config, null is text and takes nothing away: put it into a file for --configfile instead"
# How each mistake begins, and the key after it, with {name} where it is that of many models.
MISTAKE = "config: "
_KEYS = r"[\w+{}-]+(?:\.[\w+{}-]+)*"
_KEY = re.compile(rf'{MISTAKE}(?:unknown key "(.+?)" (?:in ({_KEYS})|at the top)|({_KEYS}))')
# What precedes a mistake that is mended in one place, however many keys meet it.
_MENDED_ELSEWHERE = re.compile(
    rf"^{MISTAKE}\S+ (?=the environment variable |\S+ has no (?:labels|training data); )"
    r"|(?<=: )models\.\S+: .*(?= has \d+ layers of )"
)
_SHOWN = 80  # characters of a wrong value
_EXACT = 2**53  # A float below is the number that is written.


def sentences(error: ValidationError, root: type[BaseModel]) -> list[str]:
    """Return a line about each wrong key.

    root: the model that was validated, to list the keys that it allows.
    """
    by_key: dict[tuple, list[dict]] = {}
    # An unknown key comes first: it may be a misspelling of a key that another problem says is missing.
    for problem in sorted(error.errors(include_url=False), key=lambda problem: problem["type"] not in _UNKNOWN):
        by_key.setdefault(_keys(problem, root)[0], []).append(problem)
    return [_of_key(problems, root) for problems in by_key.values()]


def placed(message: str, places: Mapping[str, str]) -> str:
    """A message of which each mistake begins with `config: KEY`, with the file and line of each key.

    places: of the keys that the files have, nested ones as `a.b`; of another, that of what it would stand in.
    """
    return " ".join(_with_place(mistake, places) for mistake in mistakes_in(message))


def check_all(*checks: Callable[[], T]) -> list[T]:
    """What checks return that do not depend on one another; what is wrong is told at once, and nothing twice."""
    returned, mistakes = [], {}
    for check in checks:
        try:
            returned.append(check())
        except InputError as error:
            for mistake in mistakes_in(str(error)):
                mistakes.setdefault(_MENDED_ELSEWHERE.sub("", mistake), mistake)
    if mistakes:
        raise InputError(" ".join(mistakes.values()))
    return returned


def mistakes_in(message: str) -> list[str]:
    """Each mistake that a message tells, for a line of its own."""
    return re.split(f" (?={MISTAKE})", message)


def _with_place(mistake: str, places: Mapping[str, str]) -> str:
    if not (found := _KEY.match(mistake)):
        return mistake
    unknown, parent, key = found.groups()
    parts = (key or ".".join(filter(None, (parent, unknown)))).split(".")
    known = (places.get(".".join(parts[:length])) for length in range(len(parts), 0, -1))
    place = next(filter(None, known), None)
    return f"{mistake} [{place}]" if place else mistake


def _of_key(problems: list[dict], root: type[BaseModel]) -> str:
    # A key that may hold one of several kinds of value has a problem for each; first that which says what to write.
    problems = sorted(
        problems, key=lambda problem: problem["type"] == "literal_error" and _meant(problem["input"]) != ""
    )
    text = _explain(problems[0], root)
    for problem in problems[1:]:
        text = f"{text.rstrip('.')}; or {_lower(problem['msg'])}."
    return text


def _explain(problem: dict, root: type[BaseModel]) -> str:
    keys, holder = _keys(problem, root)
    key, parent = ".".join(keys) or "the whole", ".".join(keys[:-1])
    kind, value, found = problem["type"], problem["input"], _shown(problem["input"])
    if kind in _UNKNOWN:
        allowed = sorted(holder.model_fields)
        where = f"in {parent}" if parent else "at the top"
        return f'unknown key "{keys[-1]}" {where}.{nearest(keys[-1], allowed)} Allowed: {", ".join(allowed)}.'
    if kind == "missing":
        return f'{parent or "the config"} needs the key "{keys[-1]}".'
    if kind == "value_error":
        return f"{key}: {problem['ctx']['error']}."
    if kind == "literal_error":
        allowed = problem["ctx"]["expected"]
        close = nearest(str(value), re.findall(r"'([^']+)'", allowed))
        return f"{key}: {found} is not allowed here.{close} Allowed: {allowed}."
    if "[key]" in problem["loc"]:
        if kind == "string_type":
            # YAML reads yes, no, on and off as true and false, and how they were written is not known here.
            how = f': "{value}"' if not isinstance(value, bool) else ' as it is written, such as "yes" or "true"'
            return f"{parent}: the name {found} is not text; put it in quotes{how}."
        return f"{parent}: the name {found} cannot be used; {_wanted(problem)}."
    if kind == "string_pattern_mismatch":
        return f"{key}: {found} cannot be used; {_wanted(problem)}."
    advice = _NULL if value == "null" else ""
    if kind in _FOR_TEXT and isinstance(value, str) and not advice:
        expected, meant, advice = _FOR_TEXT[kind]
        if kind != "bool_type" and (number := _meant(value)):
            advice = f"; write {number}"
        elif not re.fullmatch(meant, value):
            return f"{key}: {expected} is expected; found {found}."
    if kind == "list_type" and not advice and not isinstance(value, dict | NoneType):
        advice = f"; write [{value}]"
    if kind in ("model_type", "dict_type"):
        return f"{key}: a mapping of keys is needed; found {found}{advice}."
    return f"{key}: {_lower(problem['msg'])}; found {found}{advice}."


def _keys(problem: dict, root: type[BaseModel]) -> tuple[tuple[str, ...], Any]:
    """The keys that lead to a problem, and the model or mapping that holds the last of them.

    The marks that pydantic adds for branches of a union and for problems of a key itself are left out.
    """
    keys, holder, current = [], None, root
    for part in problem["loc"]:
        if part == "[key]" and problem["type"] not in _UNKNOWN:
            continue
        if get_origin(current) is dict:
            below = get_args(current)[1]
        elif isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(part)
            below = _without_none(field.annotation) if field else None
        elif isinstance(part, int):
            below = None
        else:
            continue
        keys.append(str(part) if str(part).isprintable() else repr(part))
        holder, current = current, below
    return tuple(keys), holder


def _without_none(annotation: Any) -> Any:
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return kinds[0] if get_origin(annotation) is UnionType and len(kinds) == 1 else annotation


def _wanted(problem: dict) -> str:
    return _IN_WORDS.get(problem.get("ctx", {}).get("pattern"), _lower(problem["msg"]))


def _meant(value: Any) -> str:
    """The digits of a whole number such as 1e3, which YAML reads as text, with a decimal point, too; else nothing."""
    if not isinstance(value, str) or not re.fullmatch(r"(?i)\d+(\.\d*)?e\+?\d{1,2}", value):
        return ""
    return f"{float(value):.0f}" if float(value).is_integer() and float(value) < _EXACT else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _lower(message: str) -> str:
    return message[0].lower() + message[1:]
