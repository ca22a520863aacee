"""Models that differ in a random seed alone: what is found of a claim on average over them, and how surely."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import t

from headtypes.core.statistics import ALPHA
from headtypes.papers.claims import Verdict, verdict_of
from headtypes.papers.quantities import NO_VERDICT, Finding, Measured, join

# Of fewer models, too many intervals miss the mean where seeds fall into two groups: theirs stand alone.
FEWEST = 5
# Half of a 95 % interval of a normal distribution, in standard errors.
_HALF = -t.ppf(ALPHA / 2, math.inf)
_NO_BRACKETS = str.maketrans("", "", "[]")


def judged_together(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim over models, from those on it in each: the mean over models of what was found is judged.

    Models without a verdict, or without a finding, are left out of its mean; none is judged over fewer than `FEWEST`.
    """
    claim = verdicts[0].claim
    judged = [verdict for verdict in verdicts if verdict.findings]
    if len(judged) < FEWEST:
        reasons = Counter(verdict.reason for verdict in verdicts if not verdict.findings)
        said = "; ".join(f"{reason} ({number} of {len(verdicts)} models)" for reason, number in reasons.items())
        return Verdict(claim, NO_VERDICT, said)
    matched = _matched([verdict.findings for verdict in judged])
    if min(map(len, matched)) < FEWEST:
        return Verdict(claim, NO_VERDICT, "it asks for other findings in each of the models")
    return verdict_of(claim, tuple(_mean(findings, len(verdicts)) for findings in matched))


def counted(verdicts: Sequence[Verdict]) -> str:
    """The verdicts on single models in words."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    return f"in single models: {join(f'{verdict} in {number}' for verdict, number in counts.items())}"


def mean_over(several: Sequence[Measured]) -> Measured:
    """The mean over models, with an interval for other seeds and other inputs.

    several: the same quantity of each of at least two models, with or without an interval over inputs.

    The variance of the mean is that between models, by their number, and the mean of the variances over inputs, which
    the models' intervals give: models answer the same questions, so that these do not average out. What scatters by
    model and question is in both, so that the variance is at least the true one, as in the bootstrap that draws models
    and questions (Owen 2007, The pigeonhole bootstrap). Student's t, with the degrees of freedom of Satterthwaite
    (1946). Without an interval where neither varies.
    """
    values = np.array([it.value for it in several])
    between = values.var(ddof=1) / len(values)
    within = np.nan_to_num([((it.high - it.low) / (2 * _HALF)) ** 2 for it in several]).mean()
    value, variance = float(values.mean()), between + within
    if not variance > 0:
        return Measured(value)
    freedom = (len(values) - 1) * (variance / between) ** 2 if between > 0 else math.inf
    error, over = math.sqrt(variance), " and ".join(filter(None, ("models", several[0].over)))
    return replace(Measured.with_error(value, error, freedom, over), units=min(it.units for it in several))


def _matched(of_models: Sequence[Sequence[Finding]]) -> list[list[Finding]]:
    """The findings that several models have in common, matched by what they are about, since a model may lack one.

    Where a model's findings differ in their words alone, words tell them apart; else these need not be the same, since
    they may name what was found in one model.
    """

    def asked(finding: Finding) -> tuple:
        return finding.side, finding.limit, finding.reading

    by_words = any(len(set(map(asked, findings))) < len(findings) for findings in of_models)
    matched: dict[tuple, list[Finding]] = {}
    for findings in of_models:
        for it in findings:
            # The name of a type that is doubtful in one model is in brackets there.
            words = it.quantity.translate(_NO_BRACKETS) if by_words else None
            matched.setdefault((*asked(it), words), []).append(it)
    return list(matched.values())


def _mean(findings: Sequence[Finding], models: int) -> Finding:
    """One finding over models."""
    labels = list(dict.fromkeys(it.quantity for it in findings))
    label = labels[0] if len(labels) == 1 else f"{labels[0]} (in the first model)"
    of = f"{len(findings)} models" if len(findings) == models else f"the {len(findings)} of {models} models that decide"
    return replace(findings[0], quantity=f"{label}, mean of {of}", measured=mean_over([it.measured for it in findings]))
