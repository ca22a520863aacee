"""A result that a rule writes, declared once: where it lies, what it is, and whether it may be given away."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

WEIGHTS = "the weights of a model"
TEXT = "text of a corpus"
ARTICLES = "titles of a corpus's articles"
PICTURED = "pictures of a corpus's words"

_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_WILDCARD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Result:
    """Files that one rule writes for each of some entries of the plan."""

    path: str
    """Relative to the working directory; `{model}` and the like are wildcards, `{pdf,png}` stands for either."""
    rule: str
    about: str
    """What it is, in a few words, for those to whom results are given."""
    of: Callable[[Any], Iterable] | None = None
    """From a plan to the entries that have it, whose `wildcards` fill in the path; None for what a job alone needs."""
    content: str = ""
    """What is in it, for the documentation: columns, units, shapes; empty if the row of another result says it. As a
    keyword, it is no part of a job's code (`planning.code`)."""
    section: str = ""
    """The heading of the documentation under which it is listed."""
    name: str = ""
    """Its name in rules and for functions that read it (`paths.NAME`); empty if one rule alone knows its path."""
    withheld: str = ""
    """Why it is not given away (`commands/export.py`); empty if it is."""

    @property
    def paths(self) -> list[str]:
        pieces = _CHOICE.split(self.path)
        choices = [piece.split(",") if number % 2 else [piece] for number, piece in enumerate(pieces)]
        return list(map("".join, product(*choices)))

    def wildcards(self, entry: Any) -> dict[str, str]:
        known = entry if isinstance(entry, dict) else entry.wildcards
        return {name: known[name] for name in dict.fromkeys(_WILDCARD.findall(self.paths[0]))}

    def has(self, path: str) -> bool:
        """Tell whether a path, perhaps with a prefix, is that of one of its files."""
        return any(fnmatchcase(path, "*" + _WILDCARD.sub("*", pattern)) for pattern in self.paths)
