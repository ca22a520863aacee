"""Which of a paper's claims hold: rules over quantities, judged on ours and on the published ones alike."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import Field, model_validator

from headtypes.papers.published import Data, Published
from headtypes.papers.quantities import Measured, Quantities

HOLDS, FAILS, OPEN, NO_VERDICT = "holds", "fails", "open", "no verdict"
VERDICTS = (HOLDS, FAILS, OPEN, NO_VERDICT)

# What a claim rests on, and how a reader is told: the paper's words, what follows from them, or its figures alone.
Basis = Literal["stated", "inferred", "from_table"]
BASES: dict[Basis, str] = {
    "stated": "stated",
    "inferred": "inferred from the text",
    "from_table": "from the table",
}


@dataclass(frozen=True)
class Finding:
    """A rule's quantity, in words and as a number, and the side of a limit on which the paper claims it to be."""

    quantity: str
    measured: Measured
    side: Literal["above", "below"]
    limit: float

    @property
    def verdict(self) -> str:
        """HOLDS or FAILS where the whole interval is on one side of the limit, else OPEN."""
        # Rounded, so that a value at the limit stays there in spite of floating-point errors.
        low, high = (round(end, 9) for end in self.measured.ends)
        if self.side == "above":
            return HOLDS if low > self.limit else FAILS if high <= self.limit else OPEN
        return HOLDS if high < self.limit else FAILS if low >= self.limit else OPEN

    @property
    def p(self) -> float:
        """The p-value of the limit, below 0.05 exactly where an interval is not open; NaN where there is none."""
        return math.nan if self.measured.p_value is None else self.measured.p_value(self.limit, self.side)

    def __str__(self) -> str:
        """One line that says what was found and what is claimed."""
        return f"{self.quantity}: {self.measured}; claimed {self.side} {self.limit:g}"


class NoVerdictError(Exception):
    """The quantities do not decide a rule or a claim; the message is the reason."""


class Rule(Data):
    """One condition of a claim; the rules of a paper are of several kinds, told apart by their field `kind`."""

    def find(self, quantities: Quantities, published: Published) -> Finding:
        """Measure the quantity that the rule is about.

        published: the paper's data, for names and levels. Raises `NoVerdictError` where a quantity is not known.
        """
        raise NotImplementedError


RuleKind = TypeVar("RuleKind", bound=Rule)


class Claim(Data, Generic[RuleKind]):
    """What a paper says its numbers show: rules of the kinds `RuleKind`, all of which have to hold.

    basis: whether the paper says so, whether it follows from what it says, or whether only its figures show it.
    place: the section, and the table or figure; text: the claim in our words.
    words: those of the paper that the claim and its limits follow from; empty where its figures alone show it.
    limit: how the limits follow from the words or figures.
    """

    id: str
    basis: Basis
    place: str
    text: str
    words: str = ""
    limit: str
    rules: list[RuleKind] = Field(min_length=1)

    @model_validator(mode="after")
    def _rests_on_words(self) -> "Claim":
        if (self.basis == "from_table") == bool(self.words):
            raise ValueError(f"{self.id} needs the paper's words unless it is from a table, which has none")
        return self

    def check(self, quantities: Quantities) -> None:
        """Raise `NoVerdictError` where the claim cannot be judged on these quantities, whatever its rules are."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim (one of `VERDICTS`), the reason in words, and the findings of its rules, which decide."""

    claim: Claim
    verdict: str
    reason: str
    findings: tuple[Finding, ...] = ()

    @property
    def deciding(self) -> int | None:
        """Place of the rule that makes the verdict, None where there is no verdict.

        Of several it is the one with the largest p-value, which has to hold as the others do, and of those that fail
        that with the smallest, since one is enough; the first of equals.
        """
        places = [place for place, it in enumerate(self.findings) if it.verdict == self.verdict]
        sign = -1 if self.verdict == FAILS else 1
        by_place = {place: self.findings[place].p for place in places}
        return max(places, key=lambda place: 0 if math.isnan(by_place[place]) else sign * by_place[place], default=None)


def judge(claim: Claim, quantities: Quantities, published: Published) -> Verdict:
    """Judge one claim: it fails where one of its rules does, is open where one is, and holds where all do.

    A claim gets no verdict where a quantity that it needs is missing, or where its own check finds a reason for none.
    """
    try:
        claim.check(quantities)
        findings = tuple(rule.find(quantities, published) for rule in claim.rules)
    except NoVerdictError as error:
        return Verdict(claim, NO_VERDICT, str(error))
    verdict = of_rules(finding.verdict for finding in findings)
    reason = "; ".join(str(finding) for finding in findings if finding.verdict == verdict)
    return Verdict(claim, verdict, reason, findings)


def of_rules(verdicts: Iterable[str]) -> str:
    """The verdict on a claim from those on its rules."""
    verdicts = set(verdicts)
    return next(candidate for candidate in (FAILS, OPEN, HOLDS) if candidate in verdicts)


def join(words: Iterable[str]) -> str:
    """A list in words: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
