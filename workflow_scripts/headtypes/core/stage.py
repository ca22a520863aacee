"""Declarations of rules, each a stage, and of the results that they write: where each lies, and what it holds.

A value that a job uses and its spec leaves out can change without the rule running again; what a rule reads from an
input file reaches it through that file. Some seeds bear a rule's earlier name (`draw_samples`), to draw the same.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, Literal

from pydantic import BaseModel

# `headtypes.planning.plan.Plan`, which is in a later room and so not imported.
Plan = Any
Computation = Literal["forward", "divergence", "gradients", "training"]
WEIGHTS = "the weights of a model"
TEXT = "text of a corpus"
ARTICLES = "titles of a corpus's articles"
PICTURED = "pictures of a corpus's words"

_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_WILDCARD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Result:
    """A result that a rule writes for each of some plan entries: one file, or one file in each of several formats.

    path: pattern of the files' paths; rule: the rule's name; of: function from a plan to the entries with this result.
    All other fields are texts: descriptions for the documentation, and the result's name among the inputs of jobs.
    """

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
    """The name by which jobs find it among their inputs, and the rules of `rules/analyses.smk` write it."""
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
        return any(fnmatchcase(path, "*" + _WILDCARD.sub("*", pattern)) for pattern in self.paths)


@dataclass(frozen=True)
class Stage:
    """A rule of the workflow: the function that returns its spec, the function that its jobs call, and its inputs.

    The spec is the part of the configuration that a job depends on, as a dict. The other fields, for estimates of
    memory and time, say what a job does with a model, which input holds the texts, and how often it reads them.
    """

    spec: Callable[..., dict]
    """From the plan and the rule's wildcards to the part of the configuration that the rule depends on."""
    calls: str
    """The function that its jobs call, `module:function` below `headtypes`, with inputs, spec, outputs, provenance."""
    computes: Computation | None = None
    """What its jobs do with a model: run it over texts, and perhaps compare its heads or take gradients; or train it.
    None for jobs that run none, and need no GPU."""
    reads: str | None = None
    """Name of the input that holds the texts."""
    passes: Callable[[Plan, Any, int], float] | None = None
    """How often a job reads all texts, by plan, wildcards and number of texts; None for once."""
    inputs: tuple[Result | Callable, ...] = ()
    """What its jobs read, where `rules/analyses.smk` makes the rule: results, and functions from the plan and the
    wildcards to a path, or to [] where there is none. It writes all results that are declared as those of the rule.
    Jobs find either by its name."""

    @property
    def name(self) -> str:
        return self.spec.__name__

    @property
    def named_inputs(self) -> dict[str, Result | Callable]:
        return {read.name if isinstance(read, Result) else read.__name__: read for read in self.inputs}

    @property
    def runs_model(self) -> bool:
        return self.computes is not None


def stage(computes: Computation | None = None, **fields: Any) -> Callable[[Callable[..., dict]], Stage]:
    """Return a decorator that makes a rule's `Stage` from a function that has the rule's name and returns its spec.

    computes: what the rule's jobs do with a model, None for nothing; fields: other fields of `Stage`.
    """
    return lambda spec: Stage(spec, computes=computes, **fields)


def of_inputs_alone(rule: str, **fields: Any) -> Stage:
    """Return the `Stage` of a rule whose jobs depend on input files alone, as most figures do; the spec is empty."""

    def nothing(plan: Plan, *wildcards: str, **named: str) -> dict:
        return {}

    nothing.__name__ = rule
    return Stage(nothing, **fields)


def given(part: BaseModel) -> dict:
    return part.model_dump(exclude_none=True)
