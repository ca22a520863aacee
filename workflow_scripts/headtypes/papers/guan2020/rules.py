"""The kinds of rules that this paper's claims are made of. `words` lists the quantities that they read."""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from headtypes.papers.claims import Finding, NoVerdictError, Rule, join
from headtypes.papers.guan2020.values import LevelName, PublishedValues
from headtypes.papers.guan2020.words import METRICS, doubtful_of, name_operations, types_of
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
        measured = _weighted_score(weights, "exact_match", quantities, published)
        done = _name(self.condition, quantities, published)
        words = f"exact match with {done} less {level.percent:g} % of the baseline's"
        return Finding(words, measured, level.side, 0.0)


class DropRule(Rule):
    """A condition costs fewer points than `below`."""

    kind: Literal["drop"]
    condition: int
    metric: Literal["exact_match", "f1"]
    below: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The baseline's score less that under the condition."""
        weights = {published.baseline.id: 1.0, self.condition: -1.0}
        measured = _weighted_score(weights, self.metric, quantities, published)
        words = f"drop of {METRICS[self.metric]} with {_name(self.condition, quantities, published)}"
        return Finding(words, measured, "below", self.below)


class CostlierRule(Rule):
    """A condition costs more exact match than the conditions `than`, each applied alone, cost in sum."""

    kind: Literal["costlier"]
    condition: int
    than: list[int]

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The condition's drop less the sum of the others' drops, in which the baseline may cancel out."""
        weights = {published.baseline.id: 1.0 - len(self.than), self.condition: -1.0, **dict.fromkeys(self.than, 1.0)}
        measured = _weighted_score(weights, "exact_match", quantities, published)
        done = _name(self.condition, quantities, published)
        others = join(f"that with {_name(other, quantities, published)}" for other in self.than)
        return Finding(f"drop of exact match with {done} less {others}", measured, "above", 0.0)


class ShareRule(Rule):
    """A type has the most or the fewest heads."""

    kind: Literal["share"]
    type: str
    extreme: Literal["largest", "smallest"]

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The type's share less the largest or smallest of the other types."""
        shares = quantities.of_kind("share")
        others = [share for other, share in shares.items() if other != self.type]
        if self.type not in shares or not others:
            raise NoVerdictError("there are no other types to compare with")
        other, side = (max(others), "above") if self.extreme == "largest" else (min(others), "below")
        words = f"share of {self.type} less the {self.extreme} other share"
        return Finding(words, Measured(shares[self.type] - other), side, 0)


class LayersRule(Rule):
    """A type has more heads in a third of the layers than in either of the others."""

    kind: Literal["layers"]
    type: str
    third: Literal["first", "middle", "last"]

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The percentage of the type's heads in the third, less that of the other third that has more of them."""
        heads = _heads_by_layer(self.type, quantities)
        thirds = dict.fromkeys(("first", "middle", "last"), 0.0)
        if len(heads) < len(thirds):
            raise NoVerdictError("the model has fewer than three layers")
        for layer, count in enumerate(heads):
            # The third that the middle of the layer lies in.
            thirds[list(thirds)[(6 * layer + 3) // (2 * len(heads))]] += count
        other = max(count for third, count in thirds.items() if third != self.third)
        measured = Measured(100 * (thirds[self.third] - other) / sum(thirds.values()))
        words = f"percent of {self.type} in the {self.third} third of layers less the most in another third"
        return Finding(words, measured, "above", 0)


class SpreadRule(Rule):
    """More than `above` percent of the layers have a head of the type."""

    kind: Literal["spread"]
    type: str
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The percentage of layers that have a head of the type."""
        heads = _heads_by_layer(self.type, quantities)
        measured = Measured(100 * sum(count > 0 for count in heads) / len(heads))
        return Finding(f"percent of the layers that have {self.type} heads", measured, "above", self.above)


class StabilityRule(Rule):
    """Clusterings of random halves into `k` types agree on more than `above` percent of the heads."""

    kind: Literal["stability"]
    k: int
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The range of the percentage over the readings of what is halved and what agreement is meant."""
        types, stability = types_of(quantities), quantities.of_kind("stability")
        if len(types) != self.k:
            raise NoVerdictError(f"the partition has {len(types)} types, not {self.k}")
        if not stability:
            raise NoVerdictError("stability was not measured")
        lowest, highest = min(stability.values()), max(stability.values())
        measured = Measured(lowest) if lowest == highest else Measured(math.nan, lowest, highest)
        return Finding("stability, over its readings", measured, "above", self.above)


class BestKRule(Rule):
    """Of the numbers of clusters tried, `k` has the largest silhouette."""

    kind: Literal["best_k"]
    k: int

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The silhouette of k clusters less the largest of the others."""
        k, silhouettes = self.k, {int(number): value for number, value in quantities.of_kind("silhouette").items()}
        if not {k - 1, k, k + 1} <= silhouettes.keys():
            raise NoVerdictError(f"not all of {k - 1}, {k} and {k + 1} clusters were tried")
        other = max((number for number in silhouettes if number != k), key=silhouettes.__getitem__)
        words = f"silhouette of {k} clusters ({silhouettes[k]:.3f}) less that of {other} ({silhouettes[other]:.3f})"
        return Finding(words, Measured(silhouettes[k] - silhouettes[other]), "above", 0)


class KeptRule(Rule):
    """More than `above` percent of the heads have the type that they have in the model's parent."""

    kind: Literal["kept"]
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The percentage of the heads that keep their type."""
        if "kept" not in quantities:
            raise NoVerdictError("there is no parent to compare with")
        if doubtful := quantities.of_kind("parent.doubtful"):
            raise NoVerdictError(f"doubtful name in the parent: {join(doubtful)}")
        return Finding("percent of the heads with their parent's type", quantities["kept"], "above", self.above)


AnyRule = Annotated[
    LevelRule | DropRule | CostlierRule | ShareRule | LayersRule | SpreadRule | StabilityRule | BestKRule | KeptRule,
    Field(discriminator="kind"),
]
# Rules that a model's answers decide, so that their findings depend on how the paper's text on ablation is read.
OF_ANSWERS = (LevelRule, DropRule, CostlierRule)


def _weighted_score(
    weights: Mapping[int, float], metric: str, quantities: Quantities, published: PublishedValues
) -> Measured:
    """A weighted sum of mean scores, whose interval a paired bootstrap gives.

    weights: by condition; a condition of weight 0 need not have been evaluated.
    """
    weights = {condition: weight for condition, weight in weights.items() if weight}
    ids = {condition: f"{condition}.{metric}" for condition in weights}
    if not any(f"{condition.id}.{metric}" in quantities for condition in published.conditions):
        raise NoVerdictError("the model was not evaluated on questions")
    missing = [_name(condition, quantities, published) for condition, id_ in ids.items() if id_ not in quantities]
    if missing:
        raise NoVerdictError(f"not evaluated: {join(missing)}")
    baseline = f"{published.baseline.id}.{metric}"
    if baseline in quantities and quantities[baseline].value == 0:
        raise NoVerdictError("the model answers no question correctly, even with all its heads")
    return quantities.weighted_sum({ids[condition]: weight for condition, weight in weights.items()})


def _name(condition: int, quantities: Quantities, published: PublishedValues) -> str:
    operations = next(it.operations for it in published.conditions if it.id == condition)
    return name_operations(operations, doubtful_of(quantities))


def _heads_by_layer(type_name: str, quantities: Quantities) -> list[float]:
    """Number of heads of a type in each layer."""
    heads = {
        int(layer): count
        for layer, name, count in ((*rest.split(".", 1), n) for rest, n in quantities.of_kind("heads").items())
        if name == type_name
    }
    if not heads:
        raise NoVerdictError("the types of single heads are not known")
    return [heads[layer] for layer in sorted(heads)]
