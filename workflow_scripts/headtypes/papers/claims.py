"""Claims of papers, with their words and a function of quantities; which of them hold, and how surely.

A paper's claims stand in its folder:

    claim = Claims("heads")
    figure_3 = claim.at("section 4, Figure 3")

    figure_3(
        "vertical-last-layers",
        text="Vertical heads are mainly in the last layers.",
        wording="the paper's words that it follows from",
        limit="how the limit follows from them",
        ask=lambda model: model.in_third("vertical", "last").above(0),
    )
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from headtypes.core.statistics import ALPHA, holm
from headtypes.papers.quantities import (
    FAILS,
    HOLDS,
    NO_VERDICT,
    OPEN,
    Finding,
    Findings,
    NoVerdictError,
    Quantities,
    join,
)

# What a claim rests on, and how pages say so: the paper's words, what follows from them, or its figures alone.
Basis = Literal["stated", "inferred", "from_table"]
BASES: dict[Basis, str] = {
    "stated": "stated",
    "inferred": "inferred from the text",
    "from_table": "from the table",
}


@dataclass(frozen=True)
class Claim:
    """A claim that a paper makes of its numbers.

    id: its name in files and pages.
    place: the section, and the table or figure; text: the claim in our words.
    wording: the paper's sentence that it follows from; empty where its figures alone show it.
    limit: how the limits follow from the wording or figures.
    ask: a function of quantities that returns one finding, or several that all have to hold.
    about: the sort of data that decides it, such as the answers of a model, or a kind of task.
    basis: whether the paper says so, whether it follows from what it says, or whether only its figures show it.
    types: those whose names the claim rests on.
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
        """Return the findings. Raises `NoVerdictError` where a quantity or a type is missing, or a type's name
        doubtful.
        """
        if lacking := [name for name in self.types if name not in quantities.types]:
            raise NoVerdictError(f"the partition lacks {join(lacking)}")
        if doubtful := [name for name in self.types if name in quantities.doubtful]:
            raise NoVerdictError(f"doubtful name: {join(doubtful)}")
        found = self.ask(quantities)
        return (found,) if isinstance(found, Finding) else tuple(found)


class Claims(list[Claim]):
    """A paper's claims about one thing, in their order; called with the other fields of a `Claim`, it adds one more."""

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
    """The verdict on a claim (one of `VERDICTS`), the reason in words, and the findings, which decide."""

    claim: Claim
    verdict: str
    reason: str
    findings: tuple[Finding, ...] = ()

    @property
    def deciding(self) -> int | None:
        """Index of the finding that makes the verdict, None where there is no verdict.

        Of several it is the one with the largest p-value, and of those that fail, of which one is enough, that with the
        smallest; the first of equals. Of several readings it is that whose finding, chosen so, has the largest p-value.
        """
        p = np.nan_to_num([finding.p for finding in self.findings])
        verdicts, chosen = _of_each(self.findings), []
        for numbers in _by_reading(self.findings).values():
            verdict = _of_one_reading(verdicts[number] for number in numbers)
            sign = -1 if verdict == FAILS else 1
            made_by = [number for number in numbers if verdicts[number] == verdict]
            chosen.append(max(made_by, key=lambda number: sign * p[number]))
        return max(chosen, key=p.__getitem__, default=None)

    def at(self, level: float) -> str:
        """Return the verdict where p-values have to be below a level of at most 0.05."""
        return _of_all(self.findings, _of_each(self.findings, level)) if self.findings else NO_VERDICT


def judge(claim: Claim, quantities: Quantities) -> Verdict:
    """Judge one claim: it fails where one of its findings does, is open where one is, and holds where all do.

    Where the paper can be read in several ways, it does so under every reading, or is open.
    """
    try:
        findings = claim.find(quantities)
    except NoVerdictError as error:
        return Verdict(claim, NO_VERDICT, str(error))
    verdicts = _of_each(findings)
    verdict = _of_all(findings, verdicts)
    several = len(_by_reading(findings)) > 1
    shown = (finding for finding, own in zip(findings, verdicts, strict=True) if several or own == verdict)
    reason = "; ".join(map(str, shown))
    return Verdict(claim, verdict, reason, findings)


@dataclass(frozen=True)
class Correction:
    """A corrected verdict, empty where the finding that makes it has no interval.

    p, p_holm: its p-values before and after, NaN there.
    """

    verdict: str
    p: float
    p_holm: float


def correct(verdicts: Sequence[Verdict], tested: Collection[str] = tuple(BASES)) -> list[Correction]:
    """Correct the verdicts on the claims of one subject by Holm's procedure, over all findings that have a p-value.

    tested: the bases of claims that are; findings of others are described, without p.

    A finding whose corrected p-value is not below 0.05 is open. So with probability 0.95 none of the findings that were
    decided by intervals is wrong. Nothing says how sure those without a p-value are.
    """
    p = np.array([it.p if verdict.claim.basis in tested else np.nan for verdict in verdicts for it in verdict.findings])
    corrected = iter(holm(p).tolist())
    corrections = []
    for verdict in verdicts:
        corrected_p = [next(corrected) for _ in verdict.findings]
        deciding = verdict.deciding
        if deciding is None or math.isnan(corrected_p[deciding]):
            corrections.append(Correction(NO_VERDICT if deciding is None else "", math.nan, math.nan))
            continue
        kept = [
            OPEN if p_holm >= ALPHA else own
            for own, p_holm in zip(_of_each(verdict.findings), corrected_p, strict=True)
        ]
        by_holm = _of_all(verdict.findings, kept)
        corrections.append(Correction(by_holm, verdict.findings[deciding].p, corrected_p[deciding]))
    return corrections


def _of_each(findings: Sequence[Finding], level: float = ALPHA) -> list[str]:
    """Return the verdict on each finding of a claim, in their order.

    A claim fails where one of its findings does. So the p-value of a finding is multiplied by the number of findings
    before the finding fails, lest a true one fails by chance.
    """
    several = {number: len(numbers) for numbers in _by_reading(findings).values() for number in numbers}
    return [
        OPEN if (several[number] if finding.verdict == FAILS else 1) * finding.p >= level else finding.verdict
        for number, finding in enumerate(findings)
    ]


def _of_all(findings: Sequence[Finding], verdicts: Sequence[str]) -> str:
    of_readings = {
        _of_one_reading(verdicts[number] for number in numbers) for numbers in _by_reading(findings).values()
    }
    return of_readings.pop() if len(of_readings) == 1 else OPEN


def _of_one_reading(verdicts: Iterable[str]) -> str:
    verdicts = set(verdicts)
    return next(candidate for candidate in (FAILS, OPEN, HOLDS) if candidate in verdicts)


def _by_reading(findings: Sequence[Finding]) -> dict[str, list[int]]:
    readings: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        readings.setdefault(finding.reading, []).append(number)
    return readings
