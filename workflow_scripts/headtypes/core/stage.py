"""A rule as planning knows it: the part of the configuration that it depends on, and what its jobs compute.

A value that a job uses and its spec leaves out can change without the rule running again; what a rule reads from an
input file reaches it through that file. Some seeds bear a rule's earlier name (`draw_samples`), to draw the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from headtypes.core.results import Result

# `headtypes.planning.plan.Plan`, which is in a later room and so not imported.
Plan = Any
Computation = Literal["forward", "divergence", "gradients", "training"]


@dataclass(frozen=True)
class Stage:
    """The spec of a rule, and what determines the memory and time of its jobs."""

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


def stage(computes: Computation | None = None, **named: Any) -> Callable[[Callable[..., dict]], Stage]:
    """Make a stage of the function that gives its spec, which is named as the rule; given: the other fields."""
    return lambda spec: Stage(spec, computes=computes, **named)


def of_inputs_alone(rule: str, **named: Any) -> Stage:
    """Make the stage of a rule that depends on its inputs alone, as most figures do."""

    def nothing(plan: Plan, *wildcards: str, **named: str) -> dict:
        return {}

    nothing.__name__ = rule
    return Stage(nothing, **named)


def given(part: BaseModel) -> dict:
    return part.model_dump(exclude_none=True)
