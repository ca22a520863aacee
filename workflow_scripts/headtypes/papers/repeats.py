"""Models that differ in a random seed alone: what is true of most trainings, and means over those that were made."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from headtypes.core.statistics import ALPHA
from headtypes.papers.claims import Verdict
from headtypes.papers.quantities import NO_VERDICT, OPEN, Finding, Measured, join

# Fewer models agree in more than 5 % of trials even where each verdict is right and half of all trainings differ.
FEWEST = 5
# Half of a 95 % interval of a normal distribution, in standard errors.
_HALF = -ndtri(ALPHA / 2)


def judged_together(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a claim about most trainings, from those on it in each of several models.

    It holds where it does in each of the n models that have a verdict, fails where it does in each, and is open else.
    If it is true of no more than half of all trainings, it is true of all n with a probability of at most 2^-n. Else
    there is one in which it holds wrongly, with a probability of p / 2, whatever the models have in common: so p has to
    be small enough for 2^-n + p / 2 to be at most 5 %.

    findings: the means over models, which decide nothing; none where models are asked for different ones.
    """
    claim = verdicts[0].claim
    judged = [verdict for verdict in verdicts if verdict.findings]
    if len(judged) < FEWEST:
        reasons = Counter(verdict.reason for verdict in verdicts if not verdict.findings)
        said = "; ".join(f"{reason} ({number} of {len(verdicts)} models)" for reason, number in reasons.items())
        return Verdict(claim, NO_VERDICT, said)
    level = min(ALPHA, 2 * (ALPHA - 0.5 ** len(judged)))
    counts = Counter(verdict.at(level) for verdict in verdicts)
    decided = set(counts) - {NO_VERDICT}
    reason = join(f"{verdict} in {number}" for verdict, number in counts.items())
    reason = f"in single models, by p below {level:g}: {reason}"
    asked = {tuple((found.side, found.limit, found.reading) for found in verdict.findings) for verdict in judged}
    matched = zip(*(verdict.findings for verdict in judged), strict=True) if len(asked) == 1 else ()
    return Verdict(claim, decided.pop() if len(decided) == 1 else OPEN, reason, tuple(map(_mean, matched)))


def mean_over_models(several: Sequence[Measured]) -> Measured:
    """Return the mean over models, with an interval for other seeds and other inputs, by which nothing is judged.

    several: the same quantity of each of at least two models, with or without an interval over inputs.

    The variance of the mean is that between models, by their number, and the mean of the variances over inputs, which
    the models' intervals give: models answer the same questions, so that these do not average out. Scatter by model and
    question is in both, so that the variance is at least the true one, as in the bootstrap that draws models and
    questions
    (Owen 2007, The pigeonhole bootstrap). Student's t, with the degrees of freedom of Satterthwaite (1946). Where few
    seeds are of a regime of their own, the mean lies beyond it more often than in 5 % of trials. Without an interval
    where
    neither varies.
    """
    values = np.array([measured.value for measured in several])
    between = values.var(ddof=1) / len(values)
    within = np.nan_to_num([((measured.high - measured.low) / (2 * _HALF)) ** 2 for measured in several]).mean()
    value, variance = float(values.mean()), between + within
    if not variance > 0:
        return Measured(value)
    freedom = (len(values) - 1) * (variance / between) ** 2 if between > 0 else math.inf
    over = " and ".join(filter(None, ("models", several[0].over)))
    return replace(Measured.with_error(value, math.sqrt(variance), freedom, over), p_value=None)


def _mean(findings: Sequence[Finding]) -> Finding:
    words = {finding.quantity for finding in findings}
    quantity = findings[0].quantity + ("" if len(words) == 1 else " (in the first model)")
    return replace(
        findings[0], quantity=quantity, measured=mean_over_models([finding.measured for finding in findings])
    )
