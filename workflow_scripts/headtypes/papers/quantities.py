"""The numbers that claims are judged on, ours and published ones alike, and what a claim finds of one."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from headtypes.core.files import derive_seed
from headtypes.core.statistics import FEW_UNITS, FEWEST_UNITS, Measured, two_decimals
from headtypes.papers.paper import Published

HOLDS, FAILS, OPEN, NO_VERDICT = "holds", "fails", "open", "no verdict"
VERDICTS = (HOLDS, FAILS, OPEN, NO_VERDICT)
Side = Literal["above", "below"]

Third = Literal["first", "middle", "last"]
THIRDS: tuple[Third, ...] = ("first", "middle", "last")
PERMUTATIONS = 1999


class NoVerdictError(Exception):
    """Raised if quantities do not decide a claim; the message is the reason."""


def layers_of_third(third: Third, layers: int) -> list[int]:
    """Return the layers, from 0, whose middle is in a third of `layers` layers; `NoVerdictError` below three layers."""
    if layers < len(THIRDS):
        raise NoVerdictError("the model has fewer than three layers")
    return [layer for layer in range(layers) if THIRDS[(6 * layer + 3) // (2 * layers)] == third]


@dataclass(frozen=True)
class Scale:
    """A number inside a quantity that acts as the limit, such as 90 in "score less 90 % of the baseline's, above 0".

    unit: the words after the number, such as "% of the baseline's". number: the paper's number, from 0 to 100.
    measured: a function that returns the value of the quantity with another number in the place of `number`.
    """

    unit: str
    number: int
    measured: Callable[[int], Measured]


@dataclass(frozen=True)
class Finding:
    """A quantity and the side of a limit on which the paper claims the quantity to be.

    quantity: the quantity in words. unit: unit of its value, such as "points", or empty.
    reading: name of the reading of the paper under which the quantity is counted; empty if there is only one reading.
    scale: the number inside the quantity that acts as the limit; None if there is no such number.
    """

    quantity: str
    measured: Measured
    side: Side
    limit: float
    reading: str = ""
    unit: str = ""
    scale: Scale | None = field(default=None, compare=False, repr=False)

    @property
    def verdict(self) -> str:
        """HOLDS or FAILS if the whole interval, or a value without one, lies on one side of the limit, else OPEN."""
        if not self.measured.decides:
            return OPEN
        # Rounded, so that a value at the limit stays there in spite of floating-point errors.
        low, high = (round(end, 9) for end in self.measured.ends)
        if self.side == "above":
            return HOLDS if low > self.limit else FAILS if high <= self.limit else OPEN
        return HOLDS if high < self.limit else FAILS if low >= self.limit else OPEN

    @property
    def p(self) -> float:
        """The two-sided p-value of the hypothesis that the true value equals `limit`.

        The p-value is NaN for a value without an interval, and 1 if units are too few or the interval has no width.
        """
        if not self.measured.decides:
            return 1.0
        return math.nan if self.measured.p_value is None else self.measured.p_value(self.limit)

    @property
    def same_for(self) -> str:
        """The limits for which the verdict would be the same, in words, such as "the same for limits below 3.20".

        The text is empty for a limit of 0 without `scale`, and for a value that no interval decides.
        """
        if self.scale is not None:
            return self._same_on_scale(self.scale)
        low, high = self.measured.ends
        if self.limit == 0 or math.isnan(self.measured.low) or not self.measured.decides:
            return ""
        if self.verdict == OPEN:
            return f"open for limits from {two_decimals(low)} to {two_decimals(high)}"
        end, over = (low, "below") if (self.verdict == HOLDS) == (self.side == "above") else (high, "above")
        return f"the same for limits {over} {two_decimals(end)}"

    def _same_on_scale(self, scale: Scale) -> str:
        def differs(other: int) -> bool:
            return replace(self, measured=scale.measured(other)).verdict != self.verdict

        first = bisect_left(range(scale.number), True, key=lambda other: not differs(other))
        last = scale.number + bisect_left(range(scale.number + 1, 101), True, key=differs)
        return f"{'open' if self.verdict == OPEN else 'the same'} for limits from {first} to {last} {scale.unit}"

    def __str__(self) -> str:
        same = f" ({self.same_for})" if self.same_for else ""
        few, units = "", self.measured.units
        if units < FEW_UNITS:
            few = " ‡" if units < FEWEST_UNITS else " †"
        return f"{self.quantity}: {self.measured}; claimed {self.side} {self.limit:g}{same}{few}"


# What the signs behind a finding say, once for all of them.
FEW = (
    f"†: fewer than {FEW_UNITS} units (as if of equal size), or fewer that differ: the interval is of 99 %. "
    f"‡: fewer than {FEWEST_UNITS}: there is no interval, and the claim is open."
)
Findings = Finding | Sequence[Finding]


def in_each_reading(readings: Mapping[str, Findings]) -> list[Finding]:
    """Return all findings in one list, each with the name of its reading. readings: {name: one finding or several}."""
    return [
        replace(finding, reading=reading)
        for reading, found in readings.items()
        for finding in ([found] if isinstance(found, Finding) else found)
    ]


@dataclass(frozen=True)
class Quantity:
    """A measured value that a claim compares with a limit.

    label: the value in words. unit: unit of the value, such as "points", or empty.
    scale: a number in `label` that acts as the limit, such as 90 in "score less 90 % of the baseline's"; None without.
    """

    label: str
    measured: Measured
    scale: Scale | None = None
    unit: str = ""

    def above(self, limit: float) -> Finding:
        return Finding(self.label, self.measured, "above", limit, scale=self.scale, unit=self.unit)

    def below(self, limit: float) -> Finding:
        return Finding(self.label, self.measured, "below", limit, scale=self.scale, unit=self.unit)


def beside_permuted_layers(
    label: str, statistic: Callable[[np.ndarray], np.ndarray], by_layer: np.ndarray, unit: str = ""
) -> Quantity:
    """Return a statistic of numbers by layer, less its mean under random permutations of the layers.

    The difference has a 95 % interval, from quantiles of the statistic under the permutations. Heads of one layer are
    alike, so layers are permuted as wholes. label, unit: the statistic in words, and its unit.
    by_layer: [..., layer] numbers, such as counts of heads [layer], or [type, layer].
    statistic: a function that must take both `by_layer`, and return a number, and all permutations of it at once,
        [permutation, ..., layer], and return [permutation].
    """
    rng = np.random.default_rng(derive_seed(0, "layers"))
    order = rng.permuted(np.tile(np.arange(by_layer.shape[-1]), (PERMUTATIONS, 1)), axis=1)
    chance = statistic(np.moveaxis(by_layer[..., order], -2, 0))
    measured = Measured.beyond_chance(float(statistic(by_layer)), chance)
    return Quantity(f"{label}, less what permutations of the layers give", measured, unit=unit)


@dataclass(frozen=True)
class Quantities:
    """The quantities of a model with a partition or a task; each paper's subclass has methods that its claims ask for.

    by_name: each known quantity by its name, such as `share.dense`.
    interval: a function from {name: weight} to the weighted sum of quantities, with its interval over units. None if
        quantities have no common units; a sum then has no interval.
    missing: {name of a quantity: reason why it is not known}; otherwise: the reason for names not in `missing`.
    """

    by_name: dict[str, Measured]
    interval: Callable[[Mapping[str, float]], Measured] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = "it was not measured"
    published: Published | None = None

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def __getitem__(self, name: str) -> Measured:
        return self.by_name[name]

    def of_kind(self, kind: str) -> dict[str, float]:
        """Return {rest of the name: value} of all quantities whose names begin with `kind` and a dot."""
        start = f"{kind}."
        return {name[len(start) :]: it.value for name, it in self.by_name.items() if name.startswith(start)}

    def weighted_sum(self, weights: Mapping[str, float]) -> Measured:
        if self.interval is not None:
            return self.interval(weights)
        return Measured(sum(weight * self.by_name[name].value for name, weight in weights.items()))

    def quantity(self, name: str, label: str, measured: Measured | None = None, unit: str = "") -> Quantity:
        """Return the quantity that is called `name`, for a claim. Raises `NoVerdictError` if it is not known.

        name: key in `by_name`. measured: a value to store under this key first; None for a value that is there.
        label: the quantity in words. unit: unit of the value, such as "points", or empty.
        """
        if measured is not None:
            self.by_name[name] = measured
        if name not in self.by_name:
            raise NoVerdictError(self.missing.get(name, self.otherwise))
        return Quantity(label, self.by_name[name], unit=unit)

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(self.of_kind("share"))

    @property
    def doubtful(self) -> tuple[str, ...]:
        return tuple(self.of_kind("doubtful"))


def join(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
