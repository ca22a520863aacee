"""Statistics of heads and layers on a text, ours and the paper's, and which behaviours of heads they show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.analyses.surface.measure import COLUMNS, Surface
from headtypes.attention.reducers import Of
from headtypes.core.statistics import mean_of_known
from headtypes.papers.clark2019.published import Behaviour, Clark2019
from headtypes.papers.paper import NoVerdictError

# Each statistic in words, as tables and reasons have it; `gradient.{kind}` is about the kind of the attended token.
_ATTENDED = {"cls": "[CLS]", "sep": "[SEP]", "punctuation": "periods and commas", "other": "other tokens"}
LABELS = {
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
    "norms.sep": "attention to [SEP] by norms",
    "offset_heads": "heads that look at the next or previous token",
    **{f"gradient.{kind}": f"gradient for attention to {label}" for kind, label in _ATTENDED.items()},
    "gradient.all": "gradient for attention to all tokens",
    **{f"gradient_ratio.{kind}": f"gradient for attention to {of} / to all tokens" for kind, of in _ATTENDED.items()},
}
# The column of surface patterns that each statistic of heads is, and whether of weights or norms.
COLUMN_OF: dict[str, tuple[str, Of]] = {name: (name, "weights") for name in COLUMNS} | {"norms.sep": ("sep", "norms")}
# Heads of the model that the paper counts them in.
BERT_BASE = 144


@dataclass(frozen=True)
class Statistics:
    """Statistics of heads and layers, over all segments, or of each segment with a leading axis `segment`.

    heads: {name of a statistic, such as "sep": [..., layer, head]}.
    layers: {name: [..., layer]}, means over heads; `offset_heads` counts heads that look at the next or previous token.
    uniform: [..., layer] entropy, in nats, of attention spread evenly over all tokens that a token can see.
    missing: {name of an unknown statistic: reason why}. otherwise: the reason for an unknown name not in `missing`.
    """

    heads: Mapping[str, np.ndarray]
    layers: Mapping[str, np.ndarray]
    uniform: np.ndarray | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = "the paper gives no such value"

    def of_heads(self, name: str) -> np.ndarray:
        return self._known(self.heads, name)

    def of_layers(self, name: str) -> np.ndarray:
        return self._known(self.layers, name)

    def ratio(self, above: str, below: str) -> np.ndarray:
        """Return, [layer], the statistic of layers named `above` divided by the one named `below`.

        If this object has the statistics of each segment, return [segment, layer]: r + (above - r * below) /
        mean(below). Means are over segments, and r = mean(above) / mean(below) is also the mean of the result.
        """
        above, below = self.of_layers(above), self.of_layers(below)
        if above.ndim == 1:
            return above / below
        mean = mean_of_known(below)
        # The ratio of the means and its linear change with each segment.
        whole = mean_of_known(above) / mean
        return whole + (above - whole * below) / mean

    def _known(self, values: Mapping[str, np.ndarray], name: str) -> np.ndarray:
        if name not in values:
            raise NoVerdictError(self.missing.get(name, self.otherwise))
        return values[name]


def limit_of(behaviour: Behaviour, statistics: Statistics) -> np.ndarray:
    """Return the limit above which a head shows a behaviour.

    A fixed limit is [1]. A limit in proportion to the entropy of uniform attention is scaled from this entropy on the
    paper's text to the entropy in `statistics`: [layer], or [segment, layer] if `statistics` has each segment's values.
    """
    if behaviour.uniform is None:
        return np.array([behaviour.above])
    return behaviour.above / behaviour.uniform * statistics.uniform


def shows(behaviour: Behaviour, whole: Statistics) -> np.ndarray:
    """Return whether each head shows a behaviour, [layer, head] bool; `whole` has the statistics on all segments."""
    return whole.of_heads(behaviour.statistic) > limit_of(behaviour, whole)[..., None]


def behaviours_of(rules: Sequence[Behaviour], statistics: Statistics) -> np.ndarray:
    """Return the name of the behaviour that each head shows, such as "broad", [layer, head] str; "" for none.

    rules: the behaviours; a head that shows several gets the last. One whose statistic is not known is skipped.
    """
    marked = np.full(next(iter(statistics.heads.values())).shape, "", dtype=object)
    for rule in rules:
        if rule.statistic in statistics.heads:
            marked[shows(rule, statistics)] = rule.name
    return marked


def whole_statistics(surface: Surface, gradients: Gradients | None, published: Clark2019) -> Statistics:
    """Return a model's statistics on all segments, from attention (`surface`) and gradients (None if not measured).

    published: the paper's data, with limits above which a head counts as looking at the next or previous token.
    """
    heads = {name: surface.mean(*which) for name, which in COLUMN_OF.items() if which[1] in surface.read}
    missing = {"norms.sep": "norms were not read (clustering.of, divided_by)"} if surface.norms is None else {}
    missing |= _missing(heads)
    heads = {name: values for name, values in heads.items() if name not in missing}
    layers = {name: values.mean(axis=-1) for name, values in heads.items()}
    if "offset_heads" not in missing:
        rules = [rule for rule in published.behaviours if rule.statistic in ("previous", "next")]
        layers["offset_heads"] = np.any([shows(rule, Statistics(heads, {})) for rule in rules], axis=0).sum(axis=-1)
    for index, kind in enumerate(ATTENDED):
        if gradients is None:
            missing[f"gradient.{kind}"] = "gradients were not measured"
        elif np.isnan(values := gradients.values[..., index].mean(axis=-1)).any():
            none = f"no segment has a token of the kind {kind}"
            missing[f"gradient.{kind}"] = none if gradients.reason is None else f"the model {gradients.reason}"
        else:
            layers[f"gradient.{kind}"] = values
    if "gradient.all" in layers:
        kinds = [kind for kind in ATTENDED if kind != "all" and f"gradient.{kind}" in layers]
        layers |= {f"gradient_ratio.{kind}": layers[f"gradient.{kind}"] / layers["gradient.all"] for kind in kinds}
    return Statistics(heads, layers, surface.uniform.mean(axis=0, dtype=float), missing)


def published_statistics(published: Clark2019) -> Statistics:
    """Return the paper's statistics: means by layer from its figures, and numbers of heads from its text.

    By head, there is only attention to the next and to the previous token, with 0 for heads that the figures do not
    show. One of these two is left out if the figures show fewer heads than the text counts for it.
    """
    layers = {name: np.array(values) for name, values in published.digitised.by_layer.items()}
    counted, heads = [value for value in published.surface if value.heads is not None], {}
    offset_heads = np.bincount([layer for value in counted for layer in value.layers], minlength=published.layers + 1)
    for value in counted:
        if len(shown := published.digitised.heads_over_half.get(value.statistic, {})) >= value.heads:
            heads[value.statistic] = np.zeros((published.layers, BERT_BASE // published.layers))
            heads[value.statistic][[layer - 1 for layer in shown], 0] = list(shown.values())
    uniform = np.full(published.layers, published.digitised.uniform_entropy)
    return Statistics(heads, layers | {"offset_heads": offset_heads[1:]}, uniform)


def _missing(heads: Mapping[str, np.ndarray]) -> dict[str, str]:
    empty = {name for name, values in heads.items() if np.isnan(values).any()}
    no_cls, no_sep = "its inputs have no [CLS]", "its inputs have no [SEP]"
    reasons = {
        "next": "the model lets no token look at the next one",
        "cls": no_cls,
        **dict.fromkeys(("sep", "sep_to_sep", "other_to_sep", "norms.sep"), no_sep),
        "special": no_cls if "cls" in empty else no_sep,
        "entropy_cls": no_cls if "cls" in empty else "the model lets [CLS] look at itself alone",
    }
    missing = {name: reasons.get(name, "no segment has it") for name in empty}
    return missing | ({"offset_heads": missing["next"]} if "next" in missing else {})
