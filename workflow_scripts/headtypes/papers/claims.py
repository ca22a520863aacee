"""Which of a paper's claims hold: rules over quantities, judged on ours and on the published ones alike."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import Field

from headtypes.papers.published import Data, Published
from headtypes.papers.quantities import Measured, Quantities

HOLDS, FAILS, OPEN, NO_VERDICT = "holds", "fails", "open", "no verdict"
VERDICTS = (HOLDS, FAILS, OPEN, NO_VERDICT)


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
    """What a paper says its numbers show: rules of the kinds `RuleKind`, all of which have to hold."""

    id: str
    place: str
    text: str
    rules: list[RuleKind] = Field(min_length=1)

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
        """Place of the first rule that makes the verdict; None where there is no verdict."""
        return next((place for place, it in enumerate(self.findings) if it.verdict == self.verdict), None)


def judge(claim: Claim, quantities: Quantities, published: Published) -> Verdict:
    """Judge one claim: it fails where one of its rules does, is open where one is, and holds where all do.

    A claim gets no verdict where a quantity that it needs is missing, or where its own check finds a reason for none.
    """
    try:
        claim.check(quantities)
        findings = tuple(rule.find(quantities, published) for rule in claim.rules)
    except NoVerdictError as error:
        return Verdict(claim, NO_VERDICT, str(error))
    verdicts = {finding.verdict for finding in findings}
    verdict = next(candidate for candidate in (FAILS, OPEN, HOLDS) if candidate in verdicts)
    reason = "; ".join(str(finding) for finding in findings if finding.verdict == verdict)
    return Verdict(claim, verdict, reason, findings)


def join(words: Iterable[str]) -> str:
    """A list in words: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
