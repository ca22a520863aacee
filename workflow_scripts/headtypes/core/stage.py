"""Declarations of rules, each a stage, and of the results that they write: where each lies, and what it holds.

A value that a job uses and its spec leaves out can change without the rule running again; what a rule reads from an
input file reaches it through that file. Some seeds bear a rule's earlier name (`draw_samples`), to draw the same.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, Literal, NamedTuple

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
    """A kind of result that a rule writes for some entries of the plan, such as models, in one format or several.

    path: pattern from the working directory: `{model}` is a wildcard, `{pdf,png}` means two. rule: the rule's name.
    of: function from a plan to the entries whose results the user gets; None if only other jobs need the result.
    about: what the result is, in a few words, for a user who gets a copy of the results.
    content: columns, units and shapes of the files, for the documentation; empty if another result's content has them.
        Pass it by keyword: then no job runs again if it changes.
    section: heading of the documentation under which the result is listed.
    name: the result's name among inputs and outputs of rules, as in `input.rows`; empty if a file in `rules/` names it.
    withheld: why the result is left out of copies (`commands/export.py`); empty for a result that is copied.
    """

    path: str
    rule: str
    about: str
    of: Callable[[Any], Iterable] | None = None
    content: str = ""
    section: str = ""
    name: str = ""
    withheld: str = ""

    @property
    def paths(self) -> list[str]:
        pieces = _CHOICE.split(self.path)
        choices = [piece.split(",") if number % 2 else [piece] for number, piece in enumerate(pieces)]
        return list(map("".join, product(*choices)))

    def has(self, path: str) -> bool:
        return any(fnmatchcase(path, "*" + _WILDCARD.sub("*", pattern)) for pattern in self.paths)


def wildcards_of(path: str, entry: Any) -> dict[str, str]:
    """Return {wildcard: value} for the wildcards in `path`, in order; entry: a plan entry or {wildcard: value}."""
    known = entry if isinstance(entry, dict) else entry.wildcards
    return {name: known[name] for name in _WILDCARD.findall(path)}


@dataclass(frozen=True)
class Other:
    """An input of a job: one file of another rule, such as the features of the heads that the job clusters.

    name: the input's name in the rule. result: the other rule's file, with the pattern of its path. find: function from
    plan and the job's wildcards to the plan's entry, say a clustering, that fills the pattern; to None for no file.
    """

    name: str
    result: Result
    find: Callable[..., Any]

    def __call__(self, plan: Plan, **wildcards: str) -> Any:
        entry = self.find(plan, **wildcards)
        return self.result.path.format(**entry.wildcards) if entry else []


@dataclass(frozen=True)
class Many(Other):
    """An input of a job: files of another rule for several entries of the plan, as {key of an entry: path of its file}.

    name: the input's name in the rule. result: what the other rule writes, with the pattern of the files' paths.
    find: function from the plan and the job's wildcards to the entries. by: name of the attribute with an entry's key.
    """

    by: str = "key"

    def __call__(self, plan: Plan, **wildcards: str) -> dict[Any, str]:
        entries = self.find(plan, **wildcards)
        return {getattr(entry, self.by): self.result.path.format(**entry.wildcards) for entry in entries}


class Given(NamedTuple):
    """An input that no job makes, such as a user's file. find: function from plan and wildcards to its path(s)."""

    name: str
    find: Callable[..., str | list[str]]


@dataclass(frozen=True)
class Stage:
    """A rule of the workflow: the config that it depends on, the function that its jobs call, and their inputs.

    spec: function from the plan and the rule's wildcards to the part of the configuration that the rule depends on.
    rule: name of the rule; empty if the rule has the name of the function `spec`.
    calls: function that jobs call, as `module:function` below `headtypes`, with inputs, spec, outputs and provenance.
    computes: kind of work with a model, such as "forward"; None for jobs that run no model and need no GPU.
    reads: name of the rule's input that holds the texts that the model reads.
    passes: function from plan, wildcards and number of texts to how often a job reads all texts; None for once.
    inputs: what jobs read: each is a `Result`, `Other`, `Many` or `Given`, or a function from the plan and the
        wildcards to a path, or to [] for no file. `rules/common.smk` makes the rule; its outputs are the `Result`s
        with the stage's name as `rule`. If `inputs` is empty, a file in `rules/` has the rule instead.
    benchmark: path of the rule's benchmark; empty for one beside the first result, with the rule's name.
    local: true if jobs run where Snakemake runs, not on a cluster's nodes. priority: larger ones start first.
    """

    spec: Callable[..., dict]
    calls: str
    computes: Computation | None = None
    reads: str | None = None
    passes: Callable[[Plan, Any, int], float] | None = None
    inputs: tuple[Result | Given | Callable, ...] = ()
    benchmark: str = ""
    local: bool = False
    priority: int = 0
    rule: str = ""

    @property
    def name(self) -> str:
        return self.rule or self.spec.__name__

    @property
    def named_inputs(self) -> dict[str, Result | Given | Callable]:
        return {getattr(read, "name", None) or read.__name__: read for read in self.inputs}

    @property
    def runs_model(self) -> bool:
        return self.computes is not None


def stage(computes: Computation | None = None, **fields: Any) -> Callable[[Callable[..., dict]], Stage]:
    """Return a decorator that makes a `Stage` with the decorated function as `spec`; arguments: its other fields."""
    return lambda spec: Stage(spec, computes=computes, **fields)


def of_inputs_alone(rule: str, **fields: Any) -> Stage:
    """Return the `Stage` of a rule that depends on input files alone: its spec is empty; fields: the other fields."""
    return Stage(lambda plan, *wildcards, **named: {}, rule=rule, **fields)


def given(part: BaseModel) -> dict:
    return part.model_dump(exclude_none=True)
