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
from collections import Counter
from collections.abc import Callable, Collection, Sequence
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

# What a claim rests on, and how pages say so: the paper's words, what follows from them, or its tables alone.
Basis = Literal["stated", "inferred", "from_table"]
BASES: dict[Basis, str] = {
    "stated": "stated",
    "inferred": "inferred from the text",
    "from_table": "from the table",
}


@dataclass(frozen=True)
class Claim:
    """A claim that a paper makes about its numbers, with a function that tests the claim.

    id: name of the claim in files and on pages. place: the section, and the table or figure, of the paper.
    text: the claim in our words. wording: the paper's sentence that the claim follows from; empty for a table alone.
    limit: how the limit of the test follows from the paper's wording or numbers.
    ask: a function of quantities that returns one finding, or several findings that all have to hold.
    about: the kind of data that decides the claim, such as "treebank" or "text".
    basis: whether the paper states the claim, the claim follows from its text, or only a table shows the claim.
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
        """Return the findings of the claim.

        quantities: the measured quantities of one model with a partition or task.
        Raises `NoVerdictError` if a quantity or a type is missing, or if the name of a type is doubtful.
        """
        if lacking := [name for name in self.types if name not in quantities.types]:
            raise NoVerdictError(f"the partition lacks {join(lacking)}")
        if doubtful := [name for name in self.types if name in quantities.doubtful]:
            raise NoVerdictError(f"doubtful name: {join(doubtful)}")
        found = self.ask(quantities)
        return (found,) if isinstance(found, Finding) else tuple(found)


class Claims(list[Claim]):
    """A list of a paper's claims about one kind of data; a call of the list appends a `Claim`.

    about: the kind of data, such as "treebank" or "text". A call takes the id of the claim and, by name, the other
    fields of `Claim` but for `about`. A call without `ask` returns a decorator for the function `ask`.
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
    """The verdict on a claim: "holds", "fails", "open" or "no verdict".

    reason: why, in words. findings: all findings of the claim; empty if there is no verdict.
    """

    claim: Claim
    verdict: str
    reason: str
    findings: tuple[Finding, ...] = ()

    @property
    def deciding(self) -> int | None:
        """The index, in `findings`, of the finding that makes the verdict; None if there is no verdict.

        In a reading whose verdict is FAILS, the failing finding with the smallest p-value decides. In any other
        reading, the finding with the largest p-value decides, among the findings that have the verdict of the reading.
        Among several readings, the deciding finding with the largest p-value is taken. A missing p-value counts as 0,
        and the first finding wins a tie.
        """
        p = np.nan_to_num([finding.p for finding in self.findings])
        of_readings = _of_readings(self.findings, _of_each(self.findings))
        chosen = [(min if verdict == FAILS else max)(made_by, key=p.__getitem__) for verdict, made_by in of_readings]
        return max(chosen, key=p.__getitem__, default=None)

    def at(self, level: float) -> str:
        """Return the verdict on the claim if every finding with a p-value of at least `level` (at most 0.05) is open.

        The p-value of a finding that fails is first multiplied by the number of findings in its reading. A finding
        without a p-value keeps its verdict.
        """
        return _of_all(self.findings, _of_each(self.findings, level)) if self.findings else NO_VERDICT


def judge(claim: Claim, quantities: Quantities) -> Verdict:
    """Return the verdict on a claim.

    A claim fails if one of its findings fails, is open if a finding is open and none fails, and holds if all findings
    hold. If the paper can be read in several ways, a claim is open unless every reading gives the same verdict. A claim
    has no verdict if a quantity that the claim needs is not known.
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


@dataclass(frozen=True)
class Correction:
    """A verdict after correction for the number of claims; "" if the finding that decides has no p-value.

    p, p_holm: p-value of the deciding finding before and after the correction; NaN without one.
    """

    verdict: str
    p: float
    p_holm: float


def correct(verdicts: Sequence[Verdict], tested: Collection[str] = tuple(BASES)) -> list[Correction]:
    """Return one `Correction` for each verdict, by Holm's procedure over all findings that have a p-value.

    verdicts: the verdicts on all claims about one model with a partition or task.
    tested: values of `Claim.basis`; claims with another basis are not corrected, and get NaN.
    A finding whose corrected p-value is not below 0.05 is open. With a probability of at least 0.95, no finding that an
    interval decided is wrong. Findings without a p-value keep their verdicts, of which no error rate is known.
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
    """Return HOLDS, FAILS or OPEN for each finding of one claim; OPEN if its p-value is not below `level`.

    A claim fails if one of its findings fails. The p-value of a finding that fails is therefore multiplied by the
    number of findings in its reading, so that a true claim does not fail by chance.
    """
    several = Counter(finding.reading for finding in findings)
    return [
        OPEN if (several[finding.reading] if finding.verdict == FAILS else 1) * finding.p >= level else finding.verdict
        for finding in findings
    ]


def _of_readings(findings: Sequence[Finding], verdicts: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Return for each reading its verdict, and the indices of its findings that have this verdict (`verdicts`)."""
    of_readings = []
    for reading in dict.fromkeys(finding.reading for finding in findings):
        own = {number: verdicts[number] for number, finding in enumerate(findings) if finding.reading == reading}
        verdict = next(candidate for candidate in (FAILS, OPEN, HOLDS) if candidate in own.values())
        of_readings.append((verdict, [number for number in own if own[number] == verdict]))
    return of_readings


def _of_all(findings: Sequence[Finding], verdicts: Sequence[str]) -> str:
    found = {verdict for verdict, _ in _of_readings(findings, verdicts)}
    return found.pop() if len(found) == 1 else OPEN
