"""Claims of papers, the quantities that they are judged on, and which claims hold, and how surely."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, partialmethod
from typing import Literal, NamedTuple

import numpy as np

from headtypes.core.files import derive_seed
from headtypes.core.statistics import ALPHA, FEW_UNITS, FEWEST_UNITS, Measured, holm, two_decimals
from headtypes.papers.paper import NoVerdictError, Published

HOLDS, FAILS, OPEN, NO_VERDICT = "holds", "fails", "open", "no verdict"
VERDICTS = (HOLDS, FAILS, OPEN, NO_VERDICT)
Side = Literal["above", "below"]

Third = Literal["first", "middle", "last"]
THIRDS: tuple[Third, ...] = ("first", "middle", "last")
PERMUTATIONS = 1999


def layers_of_third(third: Third, layers: int) -> list[int]:
    """Return the layers, from 0, whose middle is in a third of a model; raise `NoVerdictError` below three layers."""
    if layers < len(THIRDS):
        raise NoVerdictError("the model has fewer than three layers")
    return [layer for layer in range(layers) if THIRDS[(6 * layer + 3) // (2 * layers)] == third]


class Scale(NamedTuple):
    """The percentage in a quantity such as "score less 90 % of the baseline's", and values at other percentages.

    unit: the words after the number, here "% of the baseline's". number: the paper's percentage, here 90.
    measured: a function from any percentage, 0 to 100, to the quantity's value with this percentage.
    """

    unit: str
    number: int
    measured: Callable[[int], Measured]


@dataclass(frozen=True)
class Finding:
    """A value, and what the paper claims about it: that it is "above" or "below" (field `side`) the number `limit`.

    quantity, measured, unit: the value in words, the value with its interval, and the unit, such as "points", or "".
    reading: name of the reading of the paper under which the value is counted; "" if there is only one reading.
    scale: if `quantity` has a percentage ("A less 90 % of B"), `scale.measured(80)` is A less 80 % of B; else None.
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
        """HOLDS if the interval (or a value without one) is on the claimed side, FAILS if on the other, else OPEN.

        The verdict is also OPEN if the value is a mean of fewer than 8 units, or if its interval has no width.
        """
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

        It is 1 for a mean of fewer than 8 units or an interval without width; for other values without interval, NaN.
        """
        if not self.measured.decides:
            return 1.0
        return math.nan if self.measured.p_value is None else self.measured.p_value(self.limit)

    @property
    def same_for(self) -> str:
        """The limits at which the verdict would stay, such as "the same for limits below 3.20"; "" if not known."""
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
    """A value that a claim puts on one side of a limit; `above(limit)` or `below(limit)` returns the claim's `Finding`.

    label, measured, unit: the value in words, the value with its interval, and the unit, such as "points", or "".
    scale: a `Scale` if `label` has a percentage, as in "score less 90 % of the baseline's": `scale.measured(80)` is
        the value with 80 % in its place. None without a percentage.
    """

    label: str
    measured: Measured
    scale: Scale | None = None
    unit: str = ""

    def claimed(self, side: Side, limit: float) -> Finding:
        return Finding(self.label, self.measured, side, limit, scale=self.scale, unit=self.unit)

    above, below = partialmethod(claimed, "above"), partialmethod(claimed, "below")


def beside_permuted_layers(
    label: str, statistic: Callable[[np.ndarray], np.ndarray], by_layer: np.ndarray, unit: str = ""
) -> Quantity:
    """Return a statistic less its mean over permutations of the layers (chance), which also give the 95 % interval.

    by_layer: [..., layer] numbers, such as counts of heads. label, unit: the statistic in words, and its unit.
    statistic: a function from [..., layer] to a number, and from [permutation, ..., layer] to [permutation].
    """
    # Heads of one layer are alike, so that layers are permuted as wholes.
    rng = np.random.default_rng(derive_seed(0, "layers"))
    order = rng.permuted(np.tile(np.arange(by_layer.shape[-1]), (PERMUTATIONS, 1)), axis=1)
    chance = statistic(np.moveaxis(by_layer[..., order], -2, 0))
    measured = Measured.beyond_chance(float(statistic(by_layer)), chance)
    return Quantity(f"{label}, less what permutations of the layers give", measured, unit=unit)


@dataclass(frozen=True)
class Quantities:
    """The quantities of a model with a partition or a task; each paper has a subclass with methods for its claims.

    by_name: {name of a quantity, such as `share.dense`: value}. published: the paper's data.
    interval: a function from {name: weight} to the weighted sum with its interval; None if sums have no interval.
    missing: {name of an unknown quantity: reason why}. otherwise: the reason for an unknown name not in `missing`.
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
        """Return {rest of the name: value} of all quantities named `{kind}.{rest of the name}`."""
        start = f"{kind}."
        return {name[len(start) :]: measured.value for name, measured in self.by_name.items() if name.startswith(start)}

    def weighted_sum(self, weights: Mapping[str, float]) -> Measured:
        if self.interval is not None:
            return self.interval(weights)
        return Measured(sum(weight * self.by_name[name].value for name, weight in weights.items()))

    def quantity(self, name: str, label: str, measured: Measured | None = None, unit: str = "") -> Quantity:
        """Return the value under `name` in `by_name`, as a `Quantity`; raise `NoVerdictError` if there is none.

        label, unit: the quantity in words, and its unit, such as "points", or "". measured: a value to store first.
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


# A claim rests on the paper's words, on what follows from them, or on its tables alone; pages say so in these words.
Basis = Literal["stated", "inferred", "from_table"]
BASES: dict[Basis, str] = {"stated": "stated", "inferred": "inferred from the text", "from_table": "from the table"}


@dataclass(frozen=True)
class Claim:
    """A claim that a paper makes about its numbers, with a function that tests the claim.

    place: the section, and the table or figure, of the paper. text: the claim in our words.
    limit: words on how the limit of the test follows from the paper's wording or numbers.
    ask: a function of quantities that returns one finding, or several findings that all have to hold.
    about: the kind of data that decides the claim, such as "treebank" or "text".
    basis: what the claim rests on, a key of `BASES`: it is "stated" by the paper, "inferred" from its words, or shown
        by a table alone ("from_table"). wording: the paper's sentence that says so; "" for "from_table".
    types: the types of heads whose names the claim rests on.
    """

    id: str
    place: str
    text: str
    limit: str
    ask: Callable[[Quantities], Findings]
    about: str
    wording: str = ""
    basis: Basis = "stated"
    types: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.basis == "from_table") == bool(self.wording):
            raise ValueError(f"{self.id} needs the paper's words unless it is from a table, which has none")

    def find(self, quantities: Quantities) -> tuple[Finding, ...]:
        """Return what `ask` finds; raise `NoVerdictError` for a missing quantity or type, or a type's doubtful name.

        A name is doubtful if the heads of its type do not look where it says.
        """
        if lacking := [name for name in self.types if name not in quantities.types]:
            raise NoVerdictError(f"the partition lacks {join(lacking)}")
        if doubtful := [name for name in self.types if name in quantities.doubtful]:
            raise NoVerdictError(f"doubtful name: {join(doubtful)}")
        found = self.ask(quantities)
        return (found,) if isinstance(found, Finding) else tuple(found)


class Claims(list[Claim]):
    """A list of a paper's claims; about: the kind of data that all of these claims are judged on, such as "text".

    A call with the fields of a `Claim` appends it; a call without `ask` decorates the function that becomes its `ask`.
    """

    def __init__(self, about: str) -> None:
        super().__init__()
        self.about = about

    def __call__(self, id_: str, **said) -> Callable:
        if "ask" in said:
            self.append(Claim(id_, about=self.about, **said))
        return lambda ask: self(id_, ask=ask, **said)

    def at(self, place: str) -> Callable:
        return partial(self, place=place)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, "holds", "fails", "open" or "no verdict", with the reason and all findings, if any."""

    claim: Claim
    verdict: str
    reason: str
    findings: tuple[Finding, ...] = ()

    @property
    def deciding(self) -> int | None:
        """The index in `findings` of the finding that decides the verdict; None if there is no verdict.

        In a reading of the paper that fails, the failing finding with the smallest p-value decides; in a reading that
        holds, the finding with the largest p-value; in an open reading, the open finding with the largest p-value.
        Among several readings' deciding findings, the one with the largest p-value is taken. A missing p-value is 0.
        """
        p = np.nan_to_num([finding.p for finding in self.findings])
        of_readings = _of_readings(self.findings, _of_each(self.findings))
        chosen = [(min if verdict == FAILS else max)(made_by, key=p.__getitem__) for verdict, made_by in of_readings]
        return max(chosen, key=p.__getitem__, default=None)

    def at(self, level: float) -> str:
        """Return the claim's verdict if findings whose p-value is not below `level` (at most 0.05) count as open."""
        return _of_all(self.findings, _of_each(self.findings, level)) if self.findings else NO_VERDICT


def judge(claim: Claim, quantities: Quantities) -> Verdict:
    """Return the verdict on a claim for one model: "holds", "fails", "open", or, if a value is missing, "no verdict".

    claim: makes findings, each a value beside a limit. quantities: the model's values.
    The claim holds if all its findings hold, fails if one finding fails, and is open otherwise. If the paper can be
    read in several ways, the claim is open unless all readings give the same verdict.
    """
    try:
        findings = claim.find(quantities)
    except NoVerdictError as error:
        return Verdict(claim, NO_VERDICT, str(error))
    verdicts = _of_each(findings)
    verdict = _of_all(findings, verdicts)
    several = len({finding.reading for finding in findings}) > 1
    shown = (finding for finding, own in zip(findings, verdicts, strict=True) if several or own == verdict)
    return Verdict(claim, verdict, "; ".join(map(str, shown)), findings)


class Correction(NamedTuple):
    """The verdict on a claim, corrected for the number of claims.

    verdict: "holds", "fails", "open" or "no verdict", after correction; "" if the claim's basis (such as "stated") is
        not to be corrected, or if a finding (a quantity beside its limit) without a p-value decides the claim.
    p, p_holm: p-value of the deciding finding before and after correction; NaN if `verdict` is "" or "no verdict".
    """

    verdict: str
    p: float
    p_holm: float


def correct(verdicts: Sequence[Verdict], tested: Collection[str] = tuple(BASES)) -> list[Correction]:
    """Return a `Correction` for each of `verdicts`: the verdict, corrected for the number of tested findings (Holm).

    verdicts: the verdicts on all claims for one model with a partition or task.
    tested: kinds of claims to correct, keys of `BASES` such as "stated"; a verdict on another kind of claim becomes "".
    A finding (one value tested against a limit) counts as open if its corrected p-value is 0.05 or more.
    """
    p = [finding.p if verdict.claim.basis in tested else np.nan for verdict in verdicts for finding in verdict.findings]
    # With a probability of at least 0.95, no tested finding that an interval decided is wrong.
    corrected = iter(holm(p).tolist())
    corrections = []
    for verdict in verdicts:
        corrected_p = [next(corrected) for _ in verdict.findings]
        deciding = verdict.deciding
        if deciding is None or math.isnan(corrected_p[deciding]):
            corrections.append(Correction(NO_VERDICT if deciding is None else "", math.nan, math.nan))
            continue
        each = zip(_of_each(verdict.findings), corrected_p, strict=True)
        by_holm = _of_all(verdict.findings, [OPEN if p_holm >= ALPHA else own for own, p_holm in each])
        corrections.append(Correction(by_holm, verdict.findings[deciding].p, corrected_p[deciding]))
    return corrections


def _of_each(findings: Sequence[Finding], level: float = ALPHA) -> list[str]:
    # One finding that fails makes a claim fail, so that its p-value is multiplied by the number of findings.
    several = Counter(finding.reading for finding in findings)
    return [
        OPEN if (several[finding.reading] if finding.verdict == FAILS else 1) * finding.p >= level else finding.verdict
        for finding in findings
    ]


def _of_readings(findings: Sequence[Finding], verdicts: Sequence[str]) -> list[tuple[str, list[int]]]:
    # The verdict of each reading, with the indices of the findings that have it.
    of_readings = []
    for reading in dict.fromkeys(finding.reading for finding in findings):
        own = {number: verdicts[number] for number, finding in enumerate(findings) if finding.reading == reading}
        verdict = next(candidate for candidate in (FAILS, OPEN, HOLDS) if candidate in own.values())
        of_readings.append((verdict, [number for number in own if own[number] == verdict]))
    return of_readings


def _of_all(findings: Sequence[Finding], verdicts: Sequence[str]) -> str:
    found = {verdict for verdict, _ in _of_readings(findings, verdicts)}
    return found.pop() if len(found) == 1 else OPEN
