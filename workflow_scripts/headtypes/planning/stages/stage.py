"""A rule as far as planning knows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from headtypes.planning.config.sources import Strict
from headtypes.planning.plan import Plan

Computation = Literal["encoding", "forward", "divergence", "gradients", "training"]


@dataclass(frozen=True)
class Stage:
    """A rule's spec, and what of its jobs decides how much memory and time they take."""

    spec: Callable[..., dict]
    """From the plan and the rule's wildcards to the part of the configuration that the rule depends on."""
    computes: Computation | None = None
    """What its jobs do with texts: encode them; run a model over them, and perhaps compare its heads or take gradients;
    or train one."""
    reads: str | None = None
    """Name of the input that holds the texts."""
    passes: Callable[[Plan, Any, int], float] | None = None
    """How often a job reads all texts, by plan, wildcards and number of texts; None for once."""

    @property
    def name(self) -> str:
        """Name of the rule."""
        return self.spec.__name__

    @property
    def runs_model(self) -> bool:
        """Whether its jobs run a model, and so take a GPU where there is one."""
        return self.computes in ("forward", "divergence", "gradients", "training")

    def __call__(self, plan: Plan, *wildcards: str, **named: str) -> dict:
        """The spec of a job."""
        return self.spec(plan, *wildcards, **named)


def stage(
    computes: Computation | None = None,
    reads: str | None = None,
    passes: Callable[[Plan, Any, int], float] | None = None,
) -> Callable[[Callable[..., dict]], Stage]:
    """Make a stage of the function that gives its spec; the function is named as the rule."""
    return lambda spec: Stage(spec, computes, reads, passes)


def given(part: Strict) -> dict:
    """A part of the configuration as a dictionary, without the keys that are None."""
    return part.model_dump(exclude_none=True)


def share_of(questions: int | str, rows: int) -> float:
    """The share of the rows that is read if this many questions are drawn; 1 for "all"."""
    return 1 if questions == "all" else min(1, questions / max(rows, 1))
