"""What is known of a model's heads and layers, ours and published alike: the statistics that claims are about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from headtypes.papers.claims import NoVerdictError
from headtypes.papers.clark2019.values import Behaviour
from headtypes.papers.thirds import Third, third_of

# Each statistic in words, as tables and reasons have it; `gradient.{kind}` is about the kind of the attended token.
WORDS = {
    "self": "attention to the token itself",
    "previous": "attention to the previous token",
    "next": "attention to the next token",
    "cls": "attention to [CLS]",
    "sep": "attention to [SEP]",
    "punctuation": "attention to periods and commas",
    "first": "attention to the first token",
    "special": "attention to [CLS], [SEP], periods and commas",
    "sep_to_sep": "attention of [SEP] to [SEP]",
    "other_to_sep": "attention of other tokens to [SEP]",
    "entropy": "entropy (nats)",
    "entropy_cls": "entropy from [CLS] (nats)",
    "peak": "largest weight of a row",
    "offset_heads": "heads that look at the next or previous token",
    "gradient.cls": "gradient for attention to [CLS]",
    "gradient.sep": "gradient for attention to [SEP]",
    "gradient.punctuation": "gradient for attention to periods and commas",
    "gradient.other": "gradient for attention to other tokens",
    "gradient.all": "gradient for attention to all tokens",
    "gradient_ratio.cls": "gradient for attention to [CLS] / to all tokens",
    "gradient_ratio.sep": "gradient for attention to [SEP] / to all tokens",
    "gradient_ratio.punctuation": "gradient for attention to periods and commas / to all tokens",
    "gradient_ratio.other": "gradient for attention to other tokens / to all tokens",
}
_UNKNOWN = "the paper gives no such value"


@dataclass(frozen=True)
class Statistics:
    """Statistics of heads and layers; [...] are resamples, or nothing.

    heads:   by statistic, [..., layer, head].
    layers:  by statistic, [..., layer]: means over the heads of a layer; of `offset_heads` their number.
    uniform: entropy of attention that is spread evenly over all that a token may look at, in nats, [..., layer]; None
        where it is not known.
    missing: why a statistic is not known, where it could have been.
    segments: number of segments that each resample has.
    """

    heads: Mapping[str, np.ndarray]
    layers: Mapping[str, np.ndarray]
    uniform: np.ndarray | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    segments: int = 0

    def of_heads(self, name: str) -> np.ndarray:
        """[..., layer, head] a statistic. Raises `NoVerdictError` where it is not known."""
        return self._known(self.heads, name)

    def of_layers(self, name: str) -> np.ndarray:
        """[..., layer] a statistic. Raises `NoVerdictError` where it is not known."""
        return self._known(self.layers, name)

    def of_third(self, name: str, third: Third) -> np.ndarray:
        """[...] the mean of a statistic over a third of the layers. Raises `NoVerdictError` where it is not known."""
        by_layer = self.of_layers(name)
        layers = by_layer.shape[-1]
        if layers < 3:
            raise NoVerdictError("the model has fewer than three layers")
        return by_layer[..., [layer for layer in range(layers) if third_of(layer, layers) == third]].mean(axis=-1)

    def _known(self, values: Mapping[str, np.ndarray], name: str) -> np.ndarray:
        if name not in values:
            raise NoVerdictError(self.missing.get(name, _UNKNOWN))
        return values[name]


def limit_of(behaviour: Behaviour, uniform: np.ndarray | None) -> np.ndarray:
    """The limit of a behaviour, [..., layer] or [1].

    It moves with the entropy of uniform attention where it was set for one, since longer inputs have larger entropies.

    uniform: in nats, [..., layer]; None for that of the released figures.
    """
    if behaviour.uniform is None or uniform is None:
        return np.array([behaviour.above])
    return behaviour.above / behaviour.uniform * uniform


def shows(behaviour: Behaviour, statistics: Statistics) -> np.ndarray:
    """[..., layer, head] bool: whether a head shows a behaviour. Raises `NoVerdictError` where that is not known."""
    return statistics.of_heads(behaviour.statistic) > limit_of(behaviour, statistics.uniform)[..., None]


def behaviours_of(rules: Sequence[Behaviour], statistics: Statistics) -> np.ndarray:
    """[layer, head] str: the behaviour of each head as Figure 6 marks it, empty where it has none.

    A later rule overrides an earlier one; one whose statistic is not known marks no head.
    """
    known = [rule for rule in rules if rule.statistic in statistics.heads]
    shape = next(iter(statistics.heads.values())).shape
    marked = np.full(shape, "", dtype=object)
    for rule in known:
        marked[shows(rule, statistics)] = rule.name
    return marked
