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
| `kept_beyond_chance` | the same less what permutations of the types within layers give, with an interval by these |
| `changed.{layer}` | heads of the layer that are in another one; layers from 0 |
| `family.{model}.heads...`, `family.{model}.doubtful...` | as above, of the models of the paper's Table 1 |
| `n_questions` | questions that the scores are means of |

Quantities of the family are those of other models of the run, and known for the model that stands beside `MAIN_MODEL`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from headtypes.core.seeds import derive_seed
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

OTHERS = "others"  # types that a layout does not name
_PERMUTATIONS = 1999


class Model(Quantities):
    """Quantities of a model under a partition; methods raise `NoVerdictError` where what they need is not known."""

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

    def score(self, condition: int) -> Quantity:
        """Exact match under a condition."""
        return Quantity(f"exact match with {self._name(condition)}", self._weighted_score({condition: 1.0}))

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

    def in_third(self, type_name: str, third: Third) -> Quantity:
        """Percent of a type's heads in a third of the layers, less the most in another, less what permutations give."""
        layout = self.layout([type_name])

        def beyond(layouts: np.ndarray) -> np.ndarray:
            thirds = by_thirds(layouts[..., 0, :])
            return 100 * beyond_others(thirds, third) / thirds.sum(axis=-1)

        label = f"percent of {type_name} in the {third} third of layers less the most in another third"
        return beside_permutations(label, beyond, np.stack(list(layout.values())))

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

    def layout(self, types: Sequence[str], kind: str = "heads") -> dict[str, list[int]]:
        """Number of heads in each layer, of each of the types and, unless these are all, of the `OTHERS`."""
        by_type: dict[str, Counter[int]] = defaultdict(Counter)
        for rest, count in self.of_kind(kind).items():
            layer, name = rest.split(".", 1)
            by_type[name if name in types else OTHERS][int(layer)] += int(count)
        if not set(types) <= by_type.keys():
            raise NoVerdictError("the types of single heads are not known")
        named = [*types, *by_type.keys() - set(types)]
        return {name: [by_type[name][layer] for layer in sorted(by_type[name])] for name in named}

    def of_family(self, models: Sequence[str], types: Sequence[str]) -> dict[str, dict[str, list[int]]]:
        """The layouts, by model, of those that stand beside the models of Table 1."""
        if not self.of_kind("family"):
            raise NoVerdictError("the paper's models are compared where the one for SQuAD is judged")
        missing = [model for model in models if not self.of_kind(f"family.{model}")]
        if missing:
            raise NoVerdictError(f"no model stands beside {join(missing)}")
        for model in models:
            doubtful = [name for name in self.of_kind(f"family.{model}.doubtful") if name in types]
            if doubtful:
                raise NoVerdictError(f"doubtful name in {model}: {join(doubtful)}")
        return {model: self.layout(types, f"family.{model}.heads") for model in models}

    @property
    def _baseline(self) -> int:
        return self.published.baseline.id

    def _weighted_score(self, weights: Mapping[int, float]) -> Measured:
        """A weighted sum of exact matches, by condition; one of weight 0 need not have been evaluated."""
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
        operations = next(stated.operations for stated in self.published.conditions if stated.id == condition)
        return name_operations(operations, self.doubtful)


def beside_permutations(label: str, statistic: Callable[..., np.ndarray], *layouts: np.ndarray) -> Quantity:
    """A statistic of layouts less what permutations of the types over the heads give, in each of them by itself.

    layouts: numbers of heads, [type, layer], which the statistic also takes as [permutation, type, layer].
    """
    rng = np.random.default_rng(derive_seed(0, "layouts"))
    chance = statistic(*(_permuted(layout, rng) for layout in layouts))
    return Quantity(f"{label}, less what permutations give", Measured.beyond_chance(float(statistic(*layouts)), chance))


def _permuted(layout: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Layouts with the same numbers of heads by type and by layer, [permutation, type, layer]."""
    types, layers = layout.shape
    type_of = np.repeat(np.arange(types), layout.sum(axis=1))
    layer_of = np.repeat(np.arange(layers), layout.sum(axis=0))
    drawn = rng.permuted(np.broadcast_to(type_of, (_PERMUTATIONS, type_of.size)), axis=1)
    # [permutation, type, head] by [head, layer]
    return np.eye(types, dtype=int)[drawn].swapaxes(1, 2) @ np.eye(layers, dtype=int)[layer_of]


def by_thirds(by_layer: np.ndarray) -> np.ndarray:
    """Sums over the layers of each third, [..., third], by that in which the middle of the layer lies."""
    by_layer = np.asarray(by_layer)
    layers = by_layer.shape[-1]
    if layers < len(THIRDS):
        raise NoVerdictError("the model has fewer than three layers")
    of_layer = np.array([third_of(layer, layers) for layer in range(layers)])
    return np.stack([by_layer[..., of_layer == third].sum(axis=-1) for third in THIRDS], axis=-1)


def beyond_others(thirds: np.ndarray, third: Third) -> np.ndarray:
    """The value of a third, [..., third], less the largest of another one."""
    number = THIRDS.index(third)
    return thirds[..., number] - np.delete(thirds, number, axis=-1).max(axis=-1)


def name_operations(operations: Mapping[str, str], doubtful: Sequence[str] = ()) -> str:
    """What a condition does, in words, such as "zero dense+vertical"; doubtful types in brackets."""
    types: dict[str, list[str]] = {}
    for name, operation in operations.items():
        types.setdefault(operation, []).append(bracket(name, doubtful))
    return ", ".join(f"{operation} {'+'.join(names)}" for operation, names in types.items()) or "baseline"


def bracket(name: str, doubtful: Sequence[str]) -> str:
    """A type's name, in brackets where it is doubtful."""
    return f"[{name}]" if name in doubtful else name
