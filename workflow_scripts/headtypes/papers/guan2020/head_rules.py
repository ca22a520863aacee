"""Rules about what heads look at and how they cluster, which no answer of a model decides."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from headtypes.papers.claims import Finding, NoVerdictError, Rule, join
from headtypes.papers.guan2020.values import PublishedValues
from headtypes.papers.guan2020.words import types_of
from headtypes.papers.quantities import Measured, Quantities
from headtypes.papers.thirds import THIRDS, Third, third_of


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
    third: Third

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The percentage of the type's heads in the third, less that of the other third that has more of them."""
        thirds = _by_thirds(_heads_by_layer(self.type, quantities))
        of_third, other = (sum(counts) for counts in _third_and_largest_other(thirds, self.third, sum))
        measured = Measured(100 * (of_third - other) / sum(map(sum, thirds.values())))
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


class MediumSpecialRule(Rule):
    """A type attends to special tokens more than the type `above`, and less than each of the types `below`."""

    kind: Literal["medium_special"]
    type: str
    above: str
    below: list[str]

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The smaller of the distances to the type above which, and to the types below which it should be."""
        special = quantities.of_kind("special")
        if not {self.type, self.above, *self.below} <= special.keys():
            raise NoVerdictError("attention to special tokens is not known by type")
        distances = [special[self.type] - special[self.above]]
        distances += [special[name] - special[self.type] for name in self.below]
        others = f"{self.above} (above it) and {join(self.below)} (below them)"
        words = f"percent of attention to special tokens, {self.type} beside {others}, the smallest difference"
        return Finding(words, Measured(min(distances)), "above", 0)


class ConsistentRule(Rule):
    """On more than `above` percent of the samples a head is nearest to its own cluster, on average over heads."""

    kind: Literal["consistent"]
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The percentage of the pairs of a head and a sample that are nearest to the head's cluster."""
        if "own_cluster" not in quantities:
            raise NoVerdictError("single samples were not compared with the clusters")
        words = "percent of the pairs of a head and a sample that are nearest to the head's cluster"
        return Finding(words, quantities["own_cluster"], "above", self.above)


class StabilityRule(Rule):
    """To more than `above` percent all clusterings of random halves into `k` clusters give the same cluster."""

    kind: Literal["stability"]
    k: int
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The range of the percentage over what is halved."""
        _check_number_of_types(quantities, published)
        stability = quantities.of_kind(f"stability.{self.k}").values()
        if not stability:
            raise NoVerdictError("stability was not measured")
        lowest, highest = min(stability), max(stability)
        measured = Measured(lowest) if lowest == highest else Measured(math.nan, lowest, highest)
        words = f"stability with {self.k} clusters, over what is halved"
        return Finding(words, measured, "above", self.above)


class AgreementRule(Rule):
    """The adjusted Rand index of the clusters of k-means and of a Gaussian mixture is above a limit."""

    kind: Literal["agreement"]
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The index."""
        _check_number_of_types(quantities, published)
        if "mixture_agreement" not in quantities:
            raise NoVerdictError("k-means was not compared with a Gaussian mixture")
        words = "adjusted Rand index of k-means and a Gaussian mixture"
        return Finding(words, quantities["mixture_agreement"], "above", self.above)


class KeptRule(Rule):
    """More than `above` percent of the heads are in the cluster in which they are in the model's parent."""

    kind: Literal["kept"]
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The percentage of the heads that keep their cluster."""
        if "kept" not in quantities:
            raise NoVerdictError("there is no parent to compare with")
        return Finding(
            "percent of the heads that are in their parent's cluster", quantities["kept"], "above", self.above
        )


class ChangedRule(Rule):
    """A larger share of the heads has changed its cluster in a third of the layers than in either of the others."""

    kind: Literal["changed"]
    third: Third

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The percentage of changed heads in the third, less that of the other third that has more of them."""
        if "kept" not in quantities:
            raise NoVerdictError("there is no parent to compare with")
        changed = {int(layer): percent for layer, percent in quantities.of_kind("changed").items()}
        thirds = _by_thirds([changed[layer] for layer in sorted(changed)])
        of_third, other = (_mean(it) for it in _third_and_largest_other(thirds, self.third, _mean))
        words = f"percent of changed heads in the {self.third} third of layers less the most in another third"
        return Finding(words, Measured(of_third - other), "above", 0)


class DistributionRule(Rule):
    """The types' numbers of heads by layer correlate above a limit between any two of the models."""

    kind: Literal["distribution"]
    models: list[str]
    types: list[str]
    above: float

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The smallest correlation over all pairs of models, over layers and types, each type's mean taken off."""
        models = _of_models(self.models, self.types, quantities)
        if len({len(layers) for of_model in models.values() for layers in of_model.values()}) > 1:
            raise NoVerdictError("the models have different numbers of layers")
        varied = {
            model: [count - _mean(layers) for layers in of_model.values() for count in layers]
            for model, of_model in models.items()
        }
        alike = {pair: _cosine(varied[pair[0]], varied[pair[1]]) for pair in combinations(models, 2)}
        least = min(alike, key=alike.__getitem__)
        words = f"correlation of the numbers of heads by layer and type, the least ({join(least)})"
        return Finding(words, Measured(alike[least]), "above", self.above)


class LastLayerRule(Rule):
    """Each of the models `more` has more heads of a type in its last layer than each of the models `than`."""

    kind: Literal["last_layer"]
    type: str
    more: list[str]
    than: list[str]

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The fewest heads among the models `more`, less the most among the models `than`."""
        models = _of_models([*self.more, *self.than], [self.type], quantities)
        last = {model: of_model[self.type][-1] for model, of_model in models.items()}
        difference = min(last[model] for model in self.more) - max(last[model] for model in self.than)
        words = f"{self.type} heads in the last layer: " + join(f"{model} {heads:g}" for model, heads in last.items())
        return Finding(
            f"{words}; the fewest of {join(self.more)} less the most of the others", Measured(difference), "above", 0
        )


def _check_number_of_types(quantities: Quantities, published: PublishedValues) -> None:
    types, wanted = types_of(quantities), len(published.shares.types)
    if len(types) != wanted:
        raise NoVerdictError(f"the partition has {len(types)} types, not {wanted}")


def _of_models(
    models: Sequence[str], types: Sequence[str], quantities: Quantities
) -> dict[str, dict[str, list[float]]]:
    """Number of heads of each type in each layer, by model and type, of models that stand beside the paper's."""
    if not quantities.of_kind("family"):
        raise NoVerdictError("the paper's models are compared where the one for SQuAD is judged")
    missing = [model for model in models if not quantities.of_kind(f"family.{model}")]
    if missing:
        raise NoVerdictError(f"no model stands beside {join(missing)}")
    for model in models:
        doubtful = [name for name in quantities.of_kind(f"family.{model}.doubtful") if name in types]
        if doubtful:
            raise NoVerdictError(f"doubtful name in {model}: {join(doubtful)}")
    return {
        model: {name: _heads_by_layer(name, quantities, f"family.{model}.heads") for name in types} for model in models
    }


def _by_thirds(by_layer: Sequence[float]) -> dict[Third, list[float]]:
    """Values of single layers by the third that the middle of the layer lies in."""
    thirds: dict[Third, list[float]] = {third: [] for third in THIRDS}
    if len(by_layer) < len(thirds):
        raise NoVerdictError("the model has fewer than three layers")
    for layer, value in enumerate(by_layer):
        thirds[third_of(layer, len(by_layer))].append(value)
    return thirds


def _third_and_largest_other(thirds: dict[Third, list[float]], third: Third, size) -> tuple[list[float], list[float]]:
    return thirds[third], max((values for name, values in thirds.items() if name != third), key=size)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """0 where one of them does not vary."""
    length = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _heads_by_layer(type_name: str, quantities: Quantities, kind: str = "heads") -> list[float]:
    """Number of heads of a type in each layer."""
    heads = {
        int(layer): count
        for layer, name, count in ((*rest.split(".", 1), n) for rest, n in quantities.of_kind(kind).items())
        if name == type_name
    }
    if not heads:
        raise NoVerdictError("the types of single heads are not known")
    return [heads[layer] for layer in sorted(heads)]
