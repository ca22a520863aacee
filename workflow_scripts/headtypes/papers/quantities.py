"""The numbers that claims are judged on, ours and published ones alike, and what a claim finds of one."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from headtypes.core.statistics import ALPHA, bounds, effective_units, p_of_ranked, p_of_side, ranked_bounds
from headtypes.papers.paper import Published

HOLDS, FAILS, OPEN, NO_VERDICT = "holds", "fails", "open", "no verdict"
VERDICTS = (HOLDS, FAILS, OPEN, NO_VERDICT)
Side = Literal["above", "below"]
# A function of evidence, such as means over all segments or over resamples of them, that gives a number for each.
Measure = Callable[[Any], np.ndarray]

Third = Literal["first", "middle", "last"]
THIRDS: tuple[Third, ...] = ("first", "middle", "last")

_EQUAL_TO_CHANCE = 1e-6
# Times how much a p-value is taken over fewer units than these; over fewer than the first, none is small enough.
STRICTER = {8: math.inf, 20: 5, 50: 2}


@dataclass(frozen=True)
class Ranked:
    """A measure of several numbers, [..., number], of which the `rank`-th largest is claimed (from -1, the smallest).

    rank: or a function of how many numbers there are. On resamples, see `statistics.ranked_bounds`.
    """

    several: Measure
    rank: int | Callable[[int], int]

    def __call__(self, evidence: Any) -> np.ndarray:
        """[...] the number of that rank."""
        values = np.sort(self.several(evidence), axis=-1)
        rank = self.rank_among(values.shape[-1])
        return values[..., -rank if rank > 0 else -1 - rank]

    def rank_among(self, number: int) -> int:
        """The rank, where there are so many numbers."""
        return self.rank(number) if callable(self.rank) else self.rank


def resampled(measure: Measure) -> Measure:
    """What is measured on resamples: of ranked numbers each by itself."""
    return measure.several if isinstance(measure, Ranked) else measure


def _two(value: float) -> str:
    """With two decimals, rounded from the nine digits of the CSV files, so that a number has one form everywhere."""
    return f"{float(f'{value:.9g}'):z.2f}"


class NoVerdictError(Exception):
    """The quantities do not decide a claim; the message is the reason."""


def layers_of_third(third: Third, layers: int) -> list[int]:
    """The layers (from 0) whose middle lies in a third of so many. Raises `NoVerdictError` for fewer than three."""
    if layers < len(THIRDS):
        raise NoVerdictError("the model has fewer than three layers")
    return [layer for layer in range(layers) if THIRDS[(6 * layer + 3) // (2 * layers)] == third]


@dataclass(frozen=True)
class Measured:
    """A value and the interval that it lies in, or the value alone (low and high are NaN).

    value: NaN where there is only a range: a number that can be read in several ways.
    p_value: of a limit and the side of it on which the value is claimed to be (`statistics.p_of_side`); None without
        one.
    over: what the interval and the p-values are over, such as articles.
    units: how many of these of equal size they count as (`statistics.effective_units`).
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: Callable[[float, str], float] | None = field(default=None, compare=False, repr=False)
    over: str = ""
    units: float = math.inf

    @classmethod
    def drawn(cls, value: float, means: np.ndarray, sizes: np.ndarray, over: str) -> "Measured":
        """With the interval and p-values of resampled means; sizes: of the drawn units, as in `statistics.bounds`."""
        low, high = map(float, bounds(means, sizes))

        def p_value(limit: float, side: str) -> float:
            return float(p_of_side(means, sizes, limit, side))

        return cls(value, low, high, p_value, over, effective_units(sizes))

    @classmethod
    def with_error(cls, value: float, error: float, freedom: float = math.inf, over: str = "") -> "Measured":
        """A value with this standard error, by Student's t with these degrees of freedom; infinitely many: normal."""

        def p_value(limit: float, side: str) -> float:
            return 2 * float(stdtr(freedom, -abs(value - limit) / error))

        half = error * float(-stdtrit(freedom, ALPHA / 2))
        return cls(value, value - half, value + half, p_value, over)

    @classmethod
    def without_difference(cls, value: float, units: float, most: float, over: str) -> "Measured":
        """Of units that are all alike: as many more might differ as none of so many does by chance, by `most` each.

        The bootstrap's interval has no width there, and its p-value is as small as it can be, on the limit, too.
        """
        half = most * (1 - ALPHA ** (1 / units))

        def p_value(limit: float, side: str) -> float:
            return max(0.0, 1 - abs(limit - value) / most) ** units

        return cls(value, value - half, value + half, p_value, over, units)

    @classmethod
    def beyond_chance(cls, value: float, chance: np.ndarray) -> "Measured":
        """A value less what permutations give on average, with an interval and p-value of no difference from them.

        chance: [permutation]. The ends are the value less the quantiles of these, which 0 lies between where more than
            5 percent of these give as much; the p-value is of both sides and of the limit 0, which alone is to be asked
            for.
        """
        low, high = value - np.quantile(chance, [1 - ALPHA / 2, ALPHA / 2])
        tails = ((1 + (sign * chance >= sign * value).sum()) / (1 + len(chance)) for sign in (1, -1))
        both_sides = float(min(1, 2 * min(tails)))
        if both_sides >= ALPHA:
            # Counts are often equal, and an interval that ends at the limit would decide.
            low, high = min(low, -_EQUAL_TO_CHANCE), max(high, _EQUAL_TO_CHANCE)
        own = float(value - chance.mean())
        return cls(own, float(low), float(high), lambda limit, side: both_sides, "permutations")

    @classmethod
    def drawn_for(cls, measure: Measure, value: float, means: np.ndarray, sizes: np.ndarray, over: str) -> "Measured":
        """As `drawn`, from what `resampled` of a measure gives, [resample], or of a ranked one [resample, number]."""
        if not isinstance(measure, Ranked):
            return cls.drawn(value, means, sizes, over)
        rank = measure.rank_among(means.shape[-1])
        low, high = ranked_bounds(means, sizes, rank)

        def p_value(limit: float, side: str) -> float:
            return p_of_ranked(means, sizes, limit, side, rank)

        return cls(value, float(low), float(high), p_value, over, effective_units(sizes))

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; without one, the value twice."""
        return (self.value, self.value) if math.isnan(self.low) else (self.low, self.high)

    def __str__(self) -> str:
        """The value with its interval and what this is over, or the range, with two decimals."""
        value = "" if math.isnan(self.value) else _two(self.value)
        over = f", over {self.over}" if self.over else ""
        interval = "" if math.isnan(self.low) else f"{_two(self.low)} to {_two(self.high)}{over}"
        return f"{value} ({interval})" if value and interval else value or interval


@dataclass(frozen=True)
class Scale:
    """What a limit is a number of, from 0 to 100, where the quantity has the limit in it.

    unit: in words; number: the limit; measured: the quantity with another number in its place.
    """

    unit: str
    number: int
    measured: Callable[[int], Measured]


@dataclass(frozen=True)
class Finding:
    """A quantity, in words and as a number, and the side of a limit on which the paper claims it to be.

    reading: what is counted, where the paper leaves it open (`in_each_reading`).
    scale:   of a quantity that has its limit in it, such as a score less a percentage of another one.
    """

    quantity: str
    measured: Measured
    side: Side
    limit: float
    reading: str = ""
    scale: Scale | None = field(default=None, compare=False, repr=False)

    @property
    def verdict(self) -> str:
        """HOLDS or FAILS where the whole interval is on one side of the limit, and p small enough, else OPEN."""
        if self.times > 1 and self.p >= ALPHA:
            return OPEN
        # Rounded, so that a value at the limit stays there in spite of floating-point errors.
        low, high = (round(end, 9) for end in self.measured.ends)
        if self.side == "above":
            return HOLDS if low > self.limit else FAILS if high <= self.limit else OPEN
        return HOLDS if high < self.limit else FAILS if low >= self.limit else OPEN

    @property
    def p(self) -> float:
        """The p-value of the limit, below 0.05 exactly where a verdict with an interval is not open; NaN without one.

        Over few units it is `times` as large: where few of them account for most of a mean, or few differ, the mean
        lies above the 95 % interval in up to 9 of 100 trials with 9 to 16 units and in up to 7 with 20 to 48, and above
        that of 99 % in up to 4 with 9 to 16; with 6 units in 9 and more.
        """
        if math.isinf(self.times):
            return 1.0
        if self.measured.p_value is None:
            return math.nan
        return min(1.0, self.times * self.measured.p_value(self.limit, self.side))

    @property
    def times(self) -> float:
        """What the p-value is multiplied by over so many units: 1, or more over few; infinite over too few."""
        return next((times for units, times in STRICTER.items() if self.measured.units < units), 1)

    @property
    def same_for(self) -> str:
        """In words the other limits with the same verdict; empty where something is compared with 0."""
        if self.scale is not None:
            return self._same_on_scale(self.scale)
        low, high = self.measured.ends
        if self.limit == 0 or math.isnan(low) or self.times > 1:
            return ""
        if self.verdict == OPEN:
            return f"open for limits from {_two(low)} to {_two(high)}"
        end, over = (low, "below") if (self.verdict == HOLDS) == (self.side == "above") else (high, "above")
        return f"the same for limits {over} {_two(end)}"

    def _same_on_scale(self, scale: Scale) -> str:
        """In words the numbers from 0 to 100 around this one for which the verdict would be the same."""

        def differs(other: int) -> bool:
            return replace(self, measured=scale.measured(other)).verdict != self.verdict

        first = bisect_left(range(scale.number), True, key=lambda other: not differs(other))
        last = scale.number + bisect_left(range(scale.number + 1, 101), True, key=differs)
        return f"{'open' if self.verdict == OPEN else 'the same'} for limits from {first} to {last} {scale.unit}"

    def __str__(self) -> str:
        """One line that says what was found and what is claimed."""
        same = f" ({self.same_for})" if self.same_for else ""
        few = ""
        if self.times > 1:
            told = "too few to tell" if math.isinf(self.times) else f"p times {self.times}"
            few = f" (as few as {self.measured.units:.1f} equal {self.measured.over}: {told})"
        return f"{self.quantity}: {self.measured}; claimed {self.side} {self.limit:g}{same}{few}"


Findings = Finding | Sequence[Finding]


def in_each_reading(readings: Mapping[str, Findings]) -> list[Finding]:
    """What is found where the paper leaves open what is counted, by the reading: all have to decide alike."""
    return [
        replace(finding, reading=reading)
        for reading, found in readings.items()
        for finding in ([found] if isinstance(found, Finding) else found)
    ]


@dataclass(frozen=True)
class Quantity:
    """What a claim is about, in words and as a number; scale: as in `Finding`."""

    label: str
    measured: Measured
    scale: Scale | None = None

    def above(self, limit: float) -> Finding:
        """What is found of the claim that it is above a limit."""
        return Finding(self.label, self.measured, "above", limit, scale=self.scale)

    def below(self, limit: float) -> Finding:
        """What is found of the claim that it is below a limit."""
        return Finding(self.label, self.measured, "below", limit, scale=self.scale)


@dataclass(frozen=True)
class Quantities:
    """What is known of one subject, such as a model under one partition or on one task.

    A paper derives a class of its own, with a method for each kind of quantity that its claims ask for.

    by_name: each quantity by its name, such as `share.dense`; what is not known is absent.
    interval: a weighted sum of quantities, {name: weight}, with its interval, from samples drawn together for all of
        them, exact for a claim where these hardly differ; None where there are no such draws, and the sum of the values
        decides alone.
    missing: why a quantity is not known, by its name; otherwise: why any other is not.
    published: the paper's data, for names and limits.
    """

    by_name: dict[str, Measured]
    interval: Callable[[Mapping[str, float], bool], Measured] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = "it was not measured"
    published: Published | None = None

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

    def weighted_sum(self, weights: Mapping[str, float], for_claim: bool = True) -> Measured:
        """The sum of quantities times their weights, with its interval where there is one."""
        if self.interval is not None:
            return self.interval(weights, for_claim)
        return Measured(sum(weight * self.by_name[name].value for name, weight in weights.items()))

    def quantity(self, name: str, label: str, measure: Measure | None = None) -> Quantity:
        """The quantity of this name for a claim. Raises `NoVerdictError` where it is not known.

        measure: how it is made of evidence and resamples of it, when it is asked for first, from when on it is among
            `by_name`; None for what is known whatever is claimed.
        """
        if measure is not None and name not in self.by_name:
            self.by_name[name] = self.measured(measure)
        if name not in self.by_name:
            raise NoVerdictError(self.missing.get(name, self.otherwise))
        return Quantity(label, self.by_name[name])

    def measured(self, measure: Measure) -> Measured:
        """What a measure gives on the evidence that a paper's class holds. Errors as of `quantity`."""
        raise NoVerdictError(self.otherwise)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the partition."""
        return tuple(self.of_kind("share"))

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The types whose name is doubtful."""
        return tuple(self.of_kind("doubtful"))


def join(words: Iterable[str]) -> str:
    """A list in words: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
