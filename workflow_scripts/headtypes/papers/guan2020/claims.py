"""Which of a paper's claims hold for a model: rules over numbers, judged on ours or on the published ones."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headtypes.papers.guan2020.published import (
    BestKRule,
    Claim,
    CostlierRule,
    DropRule,
    KeptRule,
    LayersRule,
    LevelRule,
    Reference,
    Rule,
    ShareRule,
    SpreadRule,
    StabilityRule,
)

HOLDS, FAILS, OPEN, NO_VERDICT = "holds", "fails", "open", "no verdict"
VERDICTS = (HOLDS, FAILS, OPEN, NO_VERDICT)
METRICS = {"exact_match": "exact match", "f1": "F1"}


@dataclass(frozen=True)
class Measured:
    """A quantity and the interval that it lies in, or the quantity alone (low and high are NaN).

    The value is NaN where there is only a range: a figure that can be read in several ways.
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; without one, the value twice."""
        return (self.value, self.value) if math.isnan(self.low) else (self.low, self.high)

    def __str__(self) -> str:
        """The value with its interval, or the range, with two decimals."""
        value = "" if math.isnan(self.value) else f"{self.value:z.2f}"
        interval = "" if math.isnan(self.low) else f"{self.low:z.2f} to {self.high:z.2f}"
        return f"{value} ({interval})" if value and interval else value or interval


@dataclass(frozen=True)
class Evidence:
    """The numbers of one model and partition, as far as there are any.

    types, doubtful: types of the partition, and those of them whose name is doubtful.
    scores: exact match and F1 in percent, by the paper's number of a condition.
    interval: of a weighted sum of the scores under several conditions: `interval({condition: weight}, metric)`;
        without it, the sum itself decides.
    shares: percent of the heads that are of a type; heads: their number in each layer.
    stability: percent, by the reading of what is meant.
    silhouettes: by the number of clusters.
    kept: percent of the heads that have the type they have in the model's parent.
    doubtful_in_parent: types whose name is doubtful there.
    """

    types: Sequence[str]
    doubtful: Sequence[str] = ()
    scores: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    interval: Callable[[Mapping[int, float], str], Measured] | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    heads: Mapping[str, Sequence[int]] = field(default_factory=dict)
    stability: Mapping[str, float] = field(default_factory=dict)
    silhouettes: Mapping[int, float] = field(default_factory=dict)
    kept: float | None = None
    doubtful_in_parent: Sequence[str] = ()

    def weighted_sum(self, weights: Mapping[int, float], metric: str) -> Measured:
        """The sum of the conditions' scores times their weights, with its interval where there is one."""
        if self.interval is not None:
            return self.interval(weights, metric)
        return Measured(sum(weight * self.scores[each][metric] for each, weight in weights.items()))


@dataclass(frozen=True)
class Finding:
    """A rule's quantity, as text and as number, and the side of a limit on which it should be."""

    quantity: str
    measured: Measured
    side: str
    limit: float

    @property
    def verdict(self) -> str:
        """HOLDS or FAILS where the whole interval is on one side of the limit, else OPEN."""
        # What differs from the limit by no more than the rounding of floats lies on it.
        low, high = (round(end, 9) for end in self.measured.ends)
        if self.side == "above":
            return HOLDS if low > self.limit else FAILS if high <= self.limit else OPEN
        return HOLDS if high < self.limit else FAILS if low >= self.limit else OPEN

    def __str__(self) -> str:
        """One line that says what was found and what is claimed."""
        return f"{self.quantity}: {self.measured}; claimed {self.side} {self.limit:g}"


@dataclass(frozen=True)
class Verdict:
    """What becomes of a claim, one of `VERDICTS`; why, in words; and the findings on its rules, which decide."""

    claim: Claim
    verdict: str
    reason: str
    findings: tuple[Finding, ...] = ()

    @property
    def deciding(self) -> int | None:
        """Place of the first rule that makes the verdict; None where there is no verdict."""
        return next((place for place, each in enumerate(self.findings) if each.verdict == self.verdict), None)


class _NoVerdictError(Exception):
    """The evidence says nothing of a rule; the message is the reason."""


def judge(claim: Claim, evidence: Evidence, reference: Reference) -> Verdict:
    """Judge one claim: it fails where one of its rules does, is open where one is, and holds where all do.

    A claim gets no verdict where a type whose name it rests on is missing or doubtful, or a number is missing.
    """
    missing = [name for name in claim.types if name not in evidence.types]
    doubtful = [name for name in claim.types if name in evidence.doubtful]
    if missing:
        return Verdict(claim, NO_VERDICT, f"the partition lacks {join(missing)}")
    if doubtful:
        return Verdict(claim, NO_VERDICT, f"doubtful name: {join(doubtful)}")
    try:
        findings = tuple(find(rule, evidence, reference) for rule in claim.rules)
    except _NoVerdictError as error:
        return Verdict(claim, NO_VERDICT, str(error))
    found = {finding.verdict for finding in findings}
    verdict = next(each for each in (FAILS, OPEN, HOLDS) if each in found)
    reason = "; ".join(str(finding) for finding in findings if finding.verdict == verdict)
    return Verdict(claim, verdict, reason, findings)


def find(rule: Rule, evidence: Evidence, reference: Reference) -> Finding:
    """Measure the quantity that a rule is about."""
    match rule:
        case LevelRule() | DropRule() | CostlierRule():
            return _find_in_scores(rule, evidence, reference)
        case ShareRule(type=name, extreme=extreme):
            return _find_in_shares(name, extreme, evidence.shares)
        case LayersRule() | SpreadRule():
            return _find_in_layers(rule, evidence.heads)
        case StabilityRule(k=k, above=limit):
            if len(evidence.types) != k:
                raise _NoVerdictError(f"the partition has {len(evidence.types)} types, not {k}")
            if not evidence.stability:
                raise _NoVerdictError("stability was not measured")
            lowest, highest = (choose(evidence.stability.values()) for choose in (min, max))
            measured = Measured(lowest) if lowest == highest else Measured(math.nan, lowest, highest)
            return Finding("stability, over its readings", measured, "above", limit)
        case BestKRule(k=k):
            return _find_in_silhouettes(k, evidence.silhouettes)
        case KeptRule(above=limit):
            if evidence.kept is None:
                raise _NoVerdictError("there is no parent to compare with")
            if evidence.doubtful_in_parent:
                raise _NoVerdictError(f"doubtful name in the parent: {join(evidence.doubtful_in_parent)}")
            return Finding("percent of the heads with their parent's type", Measured(evidence.kept), "above", limit)


def published_evidence(reference: Reference, stability: Iterable[float]) -> Evidence:
    """The paper's own numbers; of layers, of other numbers of clusters and of parents it gives none.

    stability: the figures of its Table 1 that stand beside the model at hand.
    """
    return Evidence(
        types=tuple(reference.shares.types),
        scores={each.id: {"exact_match": each.exact_match, "f1": each.f1} for each in reference.conditions},
        shares={name: share.percent for name, share in reference.shares.types.items()},
        stability={f"published {number}": figure for number, figure in enumerate(stability, start=1)},
    )


def name_operations(operations: Mapping[str, str], doubtful: Sequence[str] = ()) -> str:
    """What a condition does, in words, such as "zero dense+vertical"; doubtful types in brackets."""
    types: dict[str, list[str]] = {}
    for name, operation in operations.items():
        types.setdefault(operation, []).append(bracket(name, doubtful))
    return ", ".join(f"{operation} {'+'.join(names)}" for operation, names in types.items()) or "baseline"


def bracket(name: str, doubtful: Sequence[str]) -> str:
    """A type's name, in brackets where it is doubtful."""
    return f"[{name}]" if name in doubtful else name


def join(words: Iterable[str]) -> str:
    """A list in words: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _find_in_scores(rule: LevelRule | DropRule | CostlierRule, evidence: Evidence, reference: Reference) -> Finding:
    """Every quantity is a weighted sum of mean scores, so that a paired bootstrap gives its interval."""
    names = {each.id: name_operations(each.operations, evidence.doubtful) for each in reference.conditions}
    baseline = reference.published_condition({}).id
    metric, side, limit = "exact_match", "above", 0.0
    match rule:
        case LevelRule(condition=condition, level=name):
            level = reference.levels[name]
            side, weights = level.side, {condition: 1.0, baseline: -level.percent / 100}
            quantity = f"exact match with {names[condition]} less {level.percent:g} % of the baseline's"
        case DropRule(condition=condition, metric=metric, below=limit):
            side, weights = "below", {baseline: 1.0, condition: -1.0}
            quantity = f"drop of {METRICS[metric]} with {names[condition]}"
        case CostlierRule(condition=condition, than=than):
            weights = {baseline: 1.0 - len(than), condition: -1.0, **dict.fromkeys(than, 1.0)}
            others = join(f"that with {names[other]}" for other in than)
            quantity = f"drop of exact match with {names[condition]} less {others}"
    weights = {each: weight for each, weight in weights.items() if weight}
    if not evidence.scores:
        raise _NoVerdictError("the model was not evaluated on questions")
    missing = [names[each] for each in weights if each not in evidence.scores]
    if missing:
        raise _NoVerdictError(f"not evaluated: {join(missing)}")
    if baseline in evidence.scores and evidence.scores[baseline][metric] == 0:
        raise _NoVerdictError("the model answers nothing even with all its heads")
    return Finding(quantity, evidence.weighted_sum(weights, metric), side, limit)


def _find_in_shares(name: str, extreme: str, shares: Mapping[str, float]) -> Finding:
    others = [share for other, share in shares.items() if other != name]
    if name not in shares or not others:
        raise _NoVerdictError("there are no other types to compare with")
    other, side = (max(others), "above") if extreme == "largest" else (min(others), "below")
    return Finding(f"share of {name} less the {extreme} other share", Measured(shares[name] - other), side, 0)


def _find_in_layers(rule: LayersRule | SpreadRule, heads_of: Mapping[str, Sequence[int]]) -> Finding:
    name = rule.type
    if name not in heads_of:
        raise _NoVerdictError("the types of single heads are not known")
    heads = heads_of[name]
    if isinstance(rule, SpreadRule):
        value = Measured(100 * sum(count > 0 for count in heads) / len(heads))
        return Finding(f"percent of the layers that have {name} heads", value, "above", rule.above)
    thirds = dict.fromkeys(("first", "middle", "last"), 0)
    if len(heads) < len(thirds):
        raise _NoVerdictError("the model has fewer than three layers")
    for layer, count in enumerate(heads):
        # The third that the middle of the layer lies in.
        thirds[list(thirds)[(6 * layer + 3) // (2 * len(heads))]] += int(count)
    other = max(count for third, count in thirds.items() if third != rule.third)
    value = Measured(100 * (thirds[rule.third] - other) / sum(thirds.values()))
    return Finding(f"percent of {name} in the {rule.third} third of layers less the next most", value, "above", 0)


def _find_in_silhouettes(k: int, silhouettes: Mapping[int, float]) -> Finding:
    if not {k - 1, k, k + 1} <= silhouettes.keys():
        raise _NoVerdictError(f"not all of {k - 1}, {k} and {k + 1} clusters were tried")
    other = max((number for number in silhouettes if number != k), key=silhouettes.__getitem__)
    quantity = f"silhouette of {k} clusters ({silhouettes[k]:.3f}) less that of {other} ({silhouettes[other]:.3f})"
    return Finding(quantity, Measured(silhouettes[k] - silhouettes[other]), "above", 0)
