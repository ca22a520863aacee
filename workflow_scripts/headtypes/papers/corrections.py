"""What is left of the verdicts on many claims once they are corrected for their number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headtypes.core.bootstrap import ALPHA
from headtypes.core.multiple import holm
from headtypes.papers.claims import NO_VERDICT, OPEN, Verdict, of_rules


@dataclass(frozen=True)
class Correction:
    """What is left of a verdict once it is corrected for the number of rules that were tested beside it.

    p, p_holm: of the rule that makes the verdict, before and after; NaN where it has no interval.
    """

    verdict: str
    p: float
    p_holm: float


def correct(verdicts: Sequence[Verdict]) -> list[Correction]:
    """Correct the verdicts on the claims of one subject by Holm's procedure, over all rules that have a p-value.

    A rule whose corrected p-value is not below 0.05 is open; the others stay as they are, and so do those without a
    p-value, of which nothing says how sure they are. So with probability 0.95 none of the rules that were decided by
    intervals is wrong.
    """
    p = np.array([finding.p for verdict in verdicts for finding in verdict.findings])
    corrected = iter(holm(p).tolist())
    corrections = []
    for verdict in verdicts:
        corrected_p = [next(corrected) for _ in verdict.findings]
        if verdict.deciding is None:
            corrections.append(Correction(NO_VERDICT, math.nan, math.nan))
            continue
        kept = [
            OPEN if p_holm >= ALPHA else finding.verdict
            for finding, p_holm in zip(verdict.findings, corrected_p, strict=True)
        ]
        deciding = verdict.deciding
        corrections.append(Correction(of_rules(kept), verdict.findings[deciding].p, corrected_p[deciding]))
    return corrections
