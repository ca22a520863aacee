"""The kinds of rules that this paper's claims are made of. `words` lists the quantities that they read."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from headtypes.papers.claims import Finding, NoVerdictError, Rule, join
from headtypes.papers.guan2020.head_rules import (
    AgreementRule,
    ChangedRule,
    ConsistentRule,
    DistributionRule,
    KeptRule,
    LastLayerRule,
    LayersRule,
    MediumSpecialRule,
    ShareRule,
    SpreadRule,
    StabilityRule,
)
from headtypes.papers.guan2020.values import LevelName, PublishedValues
from headtypes.papers.guan2020.words import doubtful_of, name_operations
from headtypes.papers.quantities import Measured, Quantities


class LevelRule(Rule):
    """The exact match under a condition is above or below a level, which is a percentage of the baseline's."""

    kind: Literal["level"]
    condition: int
    level: LevelName

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """Exact match under the condition, less the level's percentage of the baseline's."""
        level, baseline = published.levels[self.level], published.baseline.id
        weights = {self.condition: 1.0, baseline: -level.percent / 100}
        measured = _weighted_score(weights, quantities, published)
        done = _name(self.condition, quantities, published)
        words = f"exact match with {done} less {level.percent:g} % of the baseline's"
        return Finding(words, measured, level.side, 0.0)


class DropRule(Rule):
    """A condition costs fewer points of exact match than a limit, or more."""

    kind: Literal["drop"]
    condition: int
    side: Literal["above", "below"]
    points: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The baseline's exact match less that under the condition."""
        weights = {published.baseline.id: 1.0, self.condition: -1.0}
        measured = _weighted_score(weights, quantities, published)
        words = f"drop of exact match with {_name(self.condition, quantities, published)}"
        return Finding(words, measured, self.side, self.points)


class CostlierRule(Rule):
    """A condition costs more exact match than the conditions `than`, each applied alone, cost in sum."""

    kind: Literal["costlier"]
    condition: int
    than: list[int]

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The condition's drop less the sum of the others' drops, in which the baseline may cancel out."""
        weights = {published.baseline.id: 1.0 - len(self.than), self.condition: -1.0, **dict.fromkeys(self.than, 1.0)}
        measured = _weighted_score(weights, quantities, published)
        done = _name(self.condition, quantities, published)
        others = join(f"that with {_name(other, quantities, published)}" for other in self.than)
        return Finding(f"drop of exact match with {done} less {others}", measured, "above", 0.0)


# Rules that a model's answers decide, so that their findings depend on how the paper's text on ablation is read.
OF_ANSWERS = (LevelRule, DropRule, CostlierRule)
AnyRule = Annotated[
    LevelRule
    | DropRule
    | CostlierRule
    | ShareRule
    | LayersRule
    | SpreadRule
    | MediumSpecialRule
    | ConsistentRule
    | StabilityRule
    | AgreementRule
    | KeptRule
    | ChangedRule
    | DistributionRule
    | LastLayerRule,
    Field(discriminator="kind"),
]


def _weighted_score(weights: Mapping[int, float], quantities: Quantities, published: PublishedValues) -> Measured:
    """A weighted sum of exact matches, whose interval a paired bootstrap gives.

    weights: by condition; a condition of weight 0 need not have been evaluated.
    """
    weights = {condition: weight for condition, weight in weights.items() if weight}
    ids = {condition: f"{condition}.exact_match" for condition in weights}
    if not any(f"{condition.id}.exact_match" in quantities for condition in published.conditions):
        raise NoVerdictError("the model was not evaluated on questions")
    missing = [_name(condition, quantities, published) for condition, id_ in ids.items() if id_ not in quantities]
    if missing:
        raise NoVerdictError(f"not evaluated: {join(missing)}")
    baseline = f"{published.baseline.id}.exact_match"
    if baseline in quantities and quantities[baseline].value == 0:
        raise NoVerdictError("the model answers no question correctly, even with all its heads")
    return quantities.weighted_sum({ids[condition]: weight for condition, weight in weights.items()})


def _name(condition: int, quantities: Quantities, published: PublishedValues) -> str:
    operations = next(it.operations for it in published.conditions if it.id == condition)
    return name_operations(operations, doubtful_of(quantities))
