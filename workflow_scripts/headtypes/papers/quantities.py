"""The numbers that claims are judged on, ours and published ones alike, and what a claim finds of one."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import FEW_UNITS, FEWEST_UNITS, Evidence, Measured, pulls_on, two_decimals
from headtypes.papers.paper import Published

HOLDS, FAILS, OPEN, NO_VERDICT = "holds", "fails", "open", "no verdict"
VERDICTS = (HOLDS, FAILS, OPEN, NO_VERDICT)
Side = Literal["above", "below"]
# A function of statistics, on all units or on all but each of them, that gives a number for each.
Measure = Callable[[Any], np.ndarray]

Third = Literal["first", "middle", "last"]
THIRDS: tuple[Third, ...] = ("first", "middle", "last")
PERMUTATIONS = 1999


@dataclass(frozen=True)
class Ranked:
    """A measure of several numbers, [..., number], of which the `rank`-th largest is claimed (from -1, the smallest).

    rank: or a function of how many numbers there are.
    """

    several: Measure
    rank: int | Callable[[int], int]

    def __call__(self, evidence: Any) -> np.ndarray:
        values = np.sort(self.several(evidence), axis=-1)
        rank = self.rank_among(values.shape[-1])
        return values[..., -rank if rank > 0 else -1 - rank]

    def rank_among(self, number: int) -> int:
        return self.rank(number) if callable(self.rank) else self.rank


def single(measure: Measure) -> Measure:
    """Return what is measured of single units: of ranked numbers each by itself."""
    return measure.several if isinstance(measure, Ranked) else measure


def measured_by(
    measure: Measure,
    whole: Any,
    without: Any,
    over: str,
    own: Any = None,
    sizes: np.ndarray | None = None,
    reach: tuple[float, float] | None = None,
) -> Measured:
    """Return what a measure gives, with its interval over units.

    whole, without, own: statistics on all units, on all but each, and on each alone, if it is known; sizes, reach: as
        of `Evidence`.
    """
    several = single(measure)
    values, pulls = np.atleast_1d(several(whole)), pulls_on(several(without)).reshape(-1, np.size(several(whole)))
    of_units = pulls if own is None else several(own).reshape(pulls.shape)
    found = [
        Evidence(of_units[:, number], sizes, reach, value=float(value), pulls=pulls[:, number])
        for number, value in enumerate(values)
    ]
    if isinstance(measure, Ranked):
        return Measured.ranked(found, measure.rank_among(len(found)), over)
    return Measured.by(found[0], over)


class NoVerdictError(Exception):
    """The quantities do not decide a claim; the message is the reason."""


def layers_of_third(third: Third, layers: int) -> list[int]:
    """List the layers (from 0) whose middle lies in this third of all `layers`.

    Raises `NoVerdictError` for a model of fewer than three layers.
    """
    if layers < len(THIRDS):
        raise NoVerdictError("the model has fewer than three layers")
    return [layer for layer in range(layers) if THIRDS[(6 * layer + 3) // (2 * layers)] == third]


@dataclass(frozen=True)
class Scale:
    """The meaning of a limit from 0 to 100, where the quantity has the limit in it.

    unit: in words; number: the limit; measured: the quantity with another number in its place.
    """

    unit: str
    number: int
    measured: Callable[[int], Measured]


@dataclass(frozen=True)
class Finding:
    """A quantity, in words and as a number, and the side of a limit on which the paper claims it to be.

    reading: what is counted, where the paper leaves it open (`in_each_reading`); unit: of the number, if it has one.
    scale:   of a quantity that has its limit in it, such as a score less a percentage of another one.
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
        """HOLDS or FAILS where the whole interval is on one side of the limit, else OPEN."""
        if not self.measured.decides:
            return OPEN
        # Rounded, so that a value at the limit stays there in spite of floating-point errors.
        low, high = (round(end, 9) for end in self.measured.ends)
        if self.side == "above":
            return HOLDS if low > self.limit else FAILS if high <= self.limit else OPEN
        return HOLDS if high < self.limit else FAILS if low >= self.limit else OPEN

    @property
    def p(self) -> float:
        """The p-value of the limit, below 0.05 exactly where an interval decides; NaN without one."""
        if not self.measured.decides:
            return 1.0
        return math.nan if self.measured.p_value is None else self.measured.p_value(self.limit)

    @property
    def same_for(self) -> str:
        """In words the other limits with the same verdict; empty where something is compared with 0."""
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
        """Say for which numbers from 0 to 100 around this one the verdict would be the same."""

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
    f"†: where units count as fewer than {FEW_UNITS} of equal size, or fewer differ, the interval is of 99 %; "
    f"‡: where as fewer than {FEWEST_UNITS}, there is none, and the claim is open."
)
Findings = Finding | Sequence[Finding]


def in_each_reading(readings: Mapping[str, Findings]) -> list[Finding]:
    """List the findings where the paper leaves open what is counted, by the reading: all have to decide alike."""
    return [
        replace(finding, reading=reading)
        for reading, found in readings.items()
        for finding in ([found] if isinstance(found, Finding) else found)
    ]


@dataclass(frozen=True)
class Quantity:
    """The subject of a claim, in words and as a number; scale, unit: as in `Finding`."""

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
    """Return a statistic of numbers by layer, [..., layer], less its mean where layers are permuted.

    Heads of a layer are alike, so that layers are permuted with all their heads. The statistic also takes
    [permutation, ..., layer].
    """
    rng = np.random.default_rng(derive_seed(0, "layers"))
    order = rng.permuted(np.tile(np.arange(by_layer.shape[-1]), (PERMUTATIONS, 1)), axis=1)
    chance = statistic(np.moveaxis(by_layer[..., order], -2, 0))
    measured = Measured.beyond_chance(float(statistic(by_layer)), chance)
    return Quantity(f"{label}, less what permutations of the layers give", measured, unit=unit)


@dataclass(frozen=True)
class Quantities:
    """The quantities of one subject, such as a model under one partition or on one task.

    A paper derives a class of its own, with a method for each kind of quantity that its claims ask for.

    by_name: each quantity by its name, such as `share.dense`; one that is not known is absent.
    interval: a weighted sum of quantities, {name: weight}, with its interval over units of all of them; None where
        there are no such units, and the sum of the values decides alone.
    missing: why a quantity is not known, by its name; otherwise: why any other is not.
    published: the paper's data, for names and limits.
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
        """Return the values whose names begin with `kind` and a dot, by the rest of their names, in their order."""
        start = f"{kind}."
        return {name[len(start) :]: it.value for name, it in self.by_name.items() if name.startswith(start)}

    def weighted_sum(self, weights: Mapping[str, float]) -> Measured:
        if self.interval is not None:
            return self.interval(weights)
        return Measured(sum(weight * self.by_name[name].value for name, weight in weights.items()))

    def quantity(self, name: str, label: str, measure: Measure | None = None, unit: str = "") -> Quantity:
        """Return the quantity of this name for a claim. Raises `NoVerdictError` where it is not known.

        measure: computes the quantity from statistics when a claim first asks for it; the value stays in `by_name`.
            None for a quantity that is known whatever is claimed.
        """
        if measure is not None and name not in self.by_name:
            self.by_name[name] = self.measured(measure)
        if name not in self.by_name:
            raise NoVerdictError(self.missing.get(name, self.otherwise))
        return Quantity(label, self.by_name[name], unit=unit)

    def measured(self, measure: Measure) -> Measured:
        """Apply a measure to the evidence that a paper's class holds. Errors as in `quantity`."""
        raise NoVerdictError(self.otherwise)

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(self.of_kind("share"))

    @property
    def doubtful(self) -> tuple[str, ...]:
        return tuple(self.of_kind("doubtful"))


def join(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
