"""The numbers that claims are judged on, ours and published ones alike."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Measured:
    """A value and the interval that it lies in, or the value alone (low and high are NaN).

    The value is NaN where there is only a range: a number that can be read in several ways.

    p_value: by a limit and the side of it ("above" or "below") on which the value is claimed to be, the p-value that
        fits the interval, as `bootstrap.p_of_side` finds it; None where there is none.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: Callable[[float, str], float] | None = field(default=None, compare=False, repr=False)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; without one, the value twice."""
        return (self.value, self.value) if math.isnan(self.low) else (self.low, self.high)

    def __str__(self) -> str:
        """The value with its interval, or the range, with two decimals."""
        value = "" if math.isnan(self.value) else f"{self.value:z.2f}"
        interval = "" if math.isnan(self.low) else f"{self.low:z.2f} to {self.high:z.2f}"
        return f"{value} ({interval})" if value and interval else value or interval


@dataclass(frozen=True)
class Quantities:
    """What is known of one subject, such as a model under one partition or on one task.

    by_name: each quantity by its name, which the paper's module chooses, such as `share.dense`; what is not known is
        absent.
    interval: the value and interval of a weighted sum of quantities, {name: weight}, from samples drawn together for
        all of them; None where there are no such draws, and the sum of the values decides alone. A quantity that is
        no weighted sum of others is measured with its interval where quantities are collected, under its own name.
    missing: why a quantity is not known, by its name, where there is a reason to give.
    """

    by_name: Mapping[str, Measured]
    interval: Callable[[Mapping[str, float]], Measured] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        """Whether the quantity of this name is known."""
        return name in self.by_name

    def __getitem__(self, name: str) -> Measured:
        """The quantity of this name. Raises `KeyError` where it is not known."""
        return self.by_name[name]

    def of_kind(self, kind: str) -> dict[str, float]:
        """The values whose names begin with `kind` and a dot, by the rest of their names, in their order."""
        start = f"{kind}."
        return {name[len(start) :]: it.value for name, it in self.by_name.items() if name.startswith(start)}

    def weighted_sum(self, weights: Mapping[str, float]) -> Measured:
        """The sum of quantities times their weights, with its interval where there is one."""
        if self.interval is not None:
            return self.interval(weights)
        return Measured(sum(weight * self.by_name[name].value for name, weight in weights.items()))
