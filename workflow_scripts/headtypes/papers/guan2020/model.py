"""The quantities of a model under a partition, and what this paper's claims ask of them.

In percent where nothing else is said:

| name | what |
| --- | --- |
| `{condition}.exact_match`, `{condition}.f1` | scores under the paper's condition of this number |
| `share.{type}` | heads that are of the type |
| `doubtful.{type}` | 1 where the type's name is doubtful; absent otherwise |
| `heads.{layer}.{type}` | number of heads; layers from 0 |
| `special.{type}` | attention of the type's heads to special tokens, their mean |
| `stability.{k}.{halves}` | heads (or pairs of a head and a sample) on which all clusterings of random halves agree |
| `gap` | the gap statistic of the clusters less that of a single one, with an interval by its standard errors |
| `own_cluster` | pairs of a head and a sample that are nearest to the head's cluster |
| `mixture_agreement.{covariance}` | adjusted Rand index of the clusters of k-means and of a mixture, 1 for equal ones |
| `kept` | heads in the cluster in which they are in the model's parent, clusters matched by their heads |
| `kept_beyond_chance` | the same less what permutations of the heads' types give, with an interval by these |
| `changed.{layer}` | heads of the layer that are in another one; layers from 0 |
| `family.{model}.heads...`, `family.{model}.doubtful...` | as above, of the models of the paper's Table 1 |
| `n_questions` | questions that the scores are means of |

Quantities of the family are those of other models of the run, and known for the model that stands beside `MAIN_MODEL`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from headtypes.papers.quantities import (
    THIRDS,
    Measured,
    NoVerdictError,
    Quantities,
    Quantity,
    Scale,
    Third,
    join,
    third_of,
)


class Model(Quantities):
    """Quantities of a model under a partition, with `published.Guan2020` as what is published.

    Every method raises `NoVerdictError` where what it needs is not known.
    """

    def known(self, name: str, reason: str) -> Measured:
        """The quantity of this name; reason: why it is not known where it is not."""
        if name not in self:
            raise NoVerdictError(reason)
        return self[name]

    def left(self, condition: int, percent: int) -> Quantity:
        """Exact match under a condition, less so many percent of the baseline's."""

        def beside(percent: int) -> Measured:
            return self._weighted_score({condition: 1.0, self._baseline: -percent / 100})

        label = f"exact match with {self._name(condition)} less {percent} % of the baseline's"
        return Quantity(label, beside(percent), scale=Scale("% of the baseline's", percent, beside))

    def drop(self, condition: int) -> Quantity:
        """Points of exact match that a condition costs."""
        measured = self._weighted_score({self._baseline: 1.0, condition: -1.0})
        return Quantity(f"drop of exact match with {self._name(condition)}", measured)

    def drop_beyond(self, condition: int, *others: int) -> Quantity:
        """A condition's drop less the sum of what others cost, each by itself, in which the baseline may cancel out."""
        weights = {self._baseline: 1.0 - len(others), condition: -1.0, **dict.fromkeys(others, 1.0)}
        named = join(f"that with {self._name(other)}" for other in others)
        measured = self._weighted_score(weights)
        return Quantity(f"drop of exact match with {self._name(condition)} less {named}", measured)

    def share_beside_others(self, type_name: str, extreme: Callable) -> Quantity:
        """A type's share less the largest (`max`) or smallest (`min`) of the other types."""
        shares = self.of_kind("share")
        others = [share for other, share in shares.items() if other != type_name]
        if type_name not in shares or not others:
            raise NoVerdictError("there are no other types to compare with")
        label = f"share of {type_name} less the {'largest' if extreme is max else 'smallest'} other share"
        return Quantity(label, Measured(shares[type_name] - extreme(others)))

    def in_third(self, type_name: str, third: Third) -> Quantity:
        """The percentage of a type's heads in a third of the layers, less that of the other third with more of them."""
        thirds = by_thirds(self.heads_by_layer(type_name))
        counts = {name: sum(heads) for name, heads in thirds.items()}
        measured = Measured(100 * beyond_others(counts, third) / sum(counts.values()))
        label = f"percent of {type_name} in the {third} third of layers less the most in another third"
        return Quantity(label, measured)

    def stability(self, k: int) -> Quantity:
        """The range of the stability with so many clusters, over what is halved."""
        self.check_number_of_types()
        stability = self.of_kind(f"stability.{k}").values()
        if not stability:
            raise NoVerdictError("stability was not measured")
        lowest, highest = min(stability), max(stability)
        measured = Measured(lowest) if lowest == highest else Measured(math.nan, lowest, highest)
        return Quantity(f"stability with {k} clusters, over what is halved", measured)

    def check_number_of_types(self) -> None:
        """Raise `NoVerdictError` where the partition has not as many types as the paper's."""
        wanted = len(self.published.shares.types)
        if len(self.types) != wanted:
            raise NoVerdictError(f"the partition has {len(self.types)} types, not {wanted}")

    def heads_by_layer(self, type_name: str, kind: str = "heads") -> list[float]:
        """Number of heads of a type in each layer."""
        heads = {
            int(layer): count
            for layer, name, count in ((*rest.split(".", 1), n) for rest, n in self.of_kind(kind).items())
            if name == type_name
        }
        if not heads:
            raise NoVerdictError("the types of single heads are not known")
        return [heads[layer] for layer in sorted(heads)]

    def of_family(self, models: Sequence[str], types: Sequence[str]) -> dict[str, dict[str, list[float]]]:
        """Number of heads in each layer, by model and type, of the models that stand beside those of Table 1."""
        if not self.of_kind("family"):
            raise NoVerdictError("the paper's models are compared where the one for SQuAD is judged")
        missing = [model for model in models if not self.of_kind(f"family.{model}")]
        if missing:
            raise NoVerdictError(f"no model stands beside {join(missing)}")
        for model in models:
            doubtful = [name for name in self.of_kind(f"family.{model}.doubtful") if name in types]
            if doubtful:
                raise NoVerdictError(f"doubtful name in {model}: {join(doubtful)}")
        return {model: {name: self.heads_by_layer(name, f"family.{model}.heads") for name in types} for model in models}

    @property
    def _baseline(self) -> int:
        return self.published.baseline.id

    def _weighted_score(self, weights: Mapping[int, float]) -> Measured:
        """A weighted sum of exact matches, whose interval a paired bootstrap gives.

        weights: by condition; a condition of weight 0 need not have been evaluated.
        """
        ids = {condition: f"{condition}.exact_match" for condition, weight in weights.items() if weight}
        if not any(f"{condition.id}.exact_match" in self for condition in self.published.conditions):
            raise NoVerdictError("the model was not evaluated on questions")
        missing = [self._name(condition) for condition, id_ in ids.items() if id_ not in self]
        if missing:
            raise NoVerdictError(f"not evaluated: {join(missing)}")
        baseline = f"{self._baseline}.exact_match"
        if baseline in self and self[baseline].value == 0:
            raise NoVerdictError("the model answers no question correctly, even with all its heads")
        return self.weighted_sum({id_: weights[condition] for condition, id_ in ids.items()})

    def _name(self, condition: int) -> str:
        operations = next(it.operations for it in self.published.conditions if it.id == condition)
        return name_operations(operations, self.doubtful)


def by_thirds(by_layer: Sequence[float]) -> dict[Third, list[float]]:
    """Values of single layers by the third that the middle of the layer lies in."""
    thirds: dict[Third, list[float]] = {third: [] for third in THIRDS}
    if len(by_layer) < len(thirds):
        raise NoVerdictError("the model has fewer than three layers")
    for layer, value in enumerate(by_layer):
        thirds[third_of(layer, len(by_layer))].append(value)
    return thirds


def beyond_others(values: Mapping[str, float], name: str) -> float:
    """The value of this name less the largest of another name."""
    return values[name] - max(value for other, value in values.items() if other != name)


def mean(values: Iterable[float]) -> float:
    """The sum divided by the number, in the order given."""
    values = list(values)
    return sum(values) / len(values)


def name_operations(operations: Mapping[str, str], doubtful: Sequence[str] = ()) -> str:
    """What a condition does, in words, such as "zero dense+vertical"; doubtful types in brackets."""
    types: dict[str, list[str]] = {}
    for name, operation in operations.items():
        types.setdefault(operation, []).append(bracket(name, doubtful))
    return ", ".join(f"{operation} {'+'.join(names)}" for operation, names in types.items()) or "baseline"


def bracket(name: str, doubtful: Sequence[str]) -> str:
    """A type's name, in brackets where it is doubtful."""
    return f"[{name}]" if name in doubtful else name
