"""The quantities that this paper's claims about texts are judged on, from our results and from its own numbers.

A segment has one number for each quantity, whose mean over segments the quantity is. Counts of heads, and gradients,
are values alone: they are not known of single segments. Layers in names of quantities are counted from 1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from headtypes.analyses.divergence.results import Divergence, read_projection_fit
from headtypes.analyses.gradients.results import ATTENDED, Gradients, read_gradients
from headtypes.analyses.surface.measure import COLUMNS, Surface
from headtypes.attention.reducers import Of
from headtypes.core.files import StrPath, derive_seed
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.statistics import Evidence, mean_of_known
from headtypes.papers.clark2019.published import Behaviour, Clark2019
from headtypes.papers.paper import Key
from headtypes.papers.quantities import (
    PERMUTATIONS,
    THIRDS,
    Measured,
    NoVerdictError,
    Quantities,
    Quantity,
    Side,
    Third,
    beside_permuted_layers,
    layers_of_third,
)

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
# What of surface patterns each statistic of heads is: the column, and whether of weights or norms.
COLUMN_OF: dict[str, tuple[str, Of]] = {name: (name, "weights") for name in COLUMNS} | {"norms.sep": ("sep", "norms")}
# Kinds of token that can be a sink of attention, and their statistics; a model's first token may be one of the others.
SINKS = ("cls", "sep", "punctuation", "first")
# Some layers of a model: a third, those at the same depth as the paper's, or one.
Where = Third | Literal["layers_6_to_10", "last_layer"]
_LABELS_OF: dict[str, str] = {
    **{third: f"the {third} third of layers" for third in THIRDS},
    "layers_6_to_10": "the layers at the depth of 6 to 10 of 12",
    "last_layer": "the last layer",
}
# Heads of the model that the paper counts them in.
_BERT_BASE = 144


@dataclass(frozen=True)
class Statistics:
    """Statistics of heads and layers, on all segments, or on each segment with a leading axis `segment`.

    heads: by statistic, [..., layer, head]. layers: by statistic, [..., layer], means over the heads of a layer;
        `offset_heads` is a number of heads.
    uniform: entropy of attention spread evenly over all tokens that a token can see, in nats, [..., layer], or None.
    missing: the reason why a statistic is not known, by the statistic's name; otherwise: the reason for all others.
    """

    heads: Mapping[str, np.ndarray]
    layers: Mapping[str, np.ndarray]
    uniform: np.ndarray | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = "the paper gives no such value"

    def of_heads(self, name: str) -> np.ndarray:
        """Return a statistic of heads, [..., layer, head]. Raises `NoVerdictError` if the statistic is not known."""
        return self._known(self.heads, name)

    def of_layers(self, name: str) -> np.ndarray:
        """Return a statistic of layers, [..., layer]. Raises `NoVerdictError` if the statistic is not known."""
        return self._known(self.layers, name)

    def ratio(self, above: str, below: str) -> np.ndarray:
        """Return the ratio of two statistics of layers: [layer], or [segment, layer] if they are of each segment.

        A segment's number is ratio + (above - ratio * below) / mean of below; the mean of these numbers is the ratio.
        """
        above, below = self.of_layers(above), self.of_layers(below)
        if above.ndim == 1:
            return above / below
        mean = mean_of_known(below)
        whole = mean_of_known(above) / mean
        return whole + (above - whole * below) / mean

    def _known(self, values: Mapping[str, np.ndarray], name: str) -> np.ndarray:
        if name not in values:
            raise NoVerdictError(self.missing.get(name, self.otherwise))
        return values[name]


# The numbers of single segments, [segment] or [segment, number], or of all segments together.
Measure = Callable[[Statistics], np.ndarray]


def limit_of(behaviour: Behaviour, uniform: np.ndarray | None) -> np.ndarray:
    """Return the limit above which a head shows a behaviour, in the shape of `uniform`; [1] if the limit is fixed.

    uniform: entropy of uniform attention in nats, [..., layer]; None for the paper's. A limit that was set for one
        entropy of uniform attention changes in proportion to `uniform`.
    """
    if behaviour.uniform is None or uniform is None:
        return np.array([behaviour.above])
    return behaviour.above / behaviour.uniform * uniform


def shows(behaviour: Behaviour, whole: Statistics) -> np.ndarray:
    """Return which heads show a behaviour over all segments, [layer, head] bool.

    Raises `NoVerdictError` if the statistic of the behaviour is not known.
    """
    return whole.of_heads(behaviour.statistic) > limit_of(behaviour, whole.uniform)[..., None]


def behaviours_of(rules: Sequence[Behaviour], statistics: Statistics) -> np.ndarray:
    """Return the name of each head's behaviour as Figure 6 marks it, [layer, head] str; empty for a head without one.

    A later behaviour in `rules` overrides an earlier one. A behaviour whose statistic is not known marks no head.
    """
    marked = np.full(next(iter(statistics.heads.values())).shape, "", dtype=object)
    for rule in rules:
        if rule.statistic in statistics.heads:
            marked[shows(rule, statistics)] = rule.name
    return marked


def whole_statistics(surface: Surface, gradients: Gradients | None, published: Clark2019) -> Statistics:
    """Return the statistics of a model on all segments; `gradients` is None if gradients were not measured."""
    heads = {name: surface.mean(*which) for name, which in COLUMN_OF.items() if which[1] in surface.read}
    missing = {"norms.sep": "norms were not read (clustering.of, divided_by)"} if surface.norms is None else {}
    missing |= _missing(heads)
    heads = {name: values for name, values in heads.items() if name not in missing}
    layers = {name: values.mean(axis=-1) for name, values in heads.items()}
    if "offset_heads" not in missing:
        rules = [rule for rule in published.behaviours if rule.statistic in ("previous", "next")]
        layers["offset_heads"] = np.any([shows(rule, Statistics(heads, {})) for rule in rules], axis=0).sum(axis=-1)
    for index, kind in enumerate(ATTENDED):
        name = f"gradient.{kind}"
        if gradients is None:
            missing[name] = "gradients were not measured"
        elif not np.isnan(values := gradients.values[..., index]).any():
            layers[name] = values.mean(axis=-1)
        elif gradients.reason is None:
            missing[name] = f"no segment has a token of the kind {kind}"
        else:
            missing[name] = f"the model {gradients.reason}"
    if "gradient.all" in layers:
        kinds = [kind for kind in ATTENDED if kind != "all" and f"gradient.{kind}" in layers]
        layers |= {f"gradient_ratio.{kind}": layers[f"gradient.{kind}"] / layers["gradient.all"] for kind in kinds}
    return Statistics(heads, layers, surface.uniform.mean(axis=0, dtype=float), missing)


def published_statistics(published: Clark2019) -> Statistics:
    """Return the paper's statistics: means by layer read off its figures, and counts of heads in its text.

    A statistic of heads is known if the figures show all heads that the text counts; other heads are 0.
    """
    layers = {name: np.array(values) for name, values in published.digitised.by_layer.items()}
    counted, heads = [value for value in published.surface if value.heads is not None], {}
    offset_heads = np.bincount([layer for value in counted for layer in value.layers], minlength=published.layers + 1)
    for value in counted:
        if len(shown := published.digitised.heads_over_half.get(value.statistic, {})) >= value.heads:
            heads[value.statistic] = np.zeros((published.layers, _BERT_BASE // published.layers))
            heads[value.statistic][[layer - 1 for layer in shown], 0] = list(shown.values())
    return Statistics(heads, layers | {"offset_heads": offset_heads[1:]})


def sink_of(whole: Statistics, layer: int) -> str:
    """Return the kind of token with most attention in a layer, from 0: "cls", "sep", "punctuation" or "first"."""
    # Equal but for floating-point errors where the first token is [CLS]; of equal ones, the earlier counts.
    return max((name for name in SINKS if name in whole.layers), key=lambda name: round(whole.layers[name][layer], 6))


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


@dataclass(frozen=True)
class Heads(Quantities):
    """Quantities of a model on a text. A method raises `NoVerdictError` if a statistic for the method is not known.

    whole: statistics on all segments. segments: statistics on each segment; None if no intervals are wanted.
    """

    about: ClassVar[str] = "text"
    unit: ClassVar[str] = "n_segments"
    absent: ClassVar[str] = "the model reads no text"
    whole: Statistics | None = None
    segments: Statistics | None = None

    def __post_init__(self) -> None:
        if self.whole is None:
            object.__setattr__(self, "whole", Statistics({}, {}, otherwise=self.otherwise))

    def measured(self, measure: Measure, rank: int = 1) -> Measured:
        """Return a quantity with its interval over segments, or its value alone if single segments are not known.

        measure: a function of statistics that returns the quantity, or several numbers, of which the `rank`-th largest
            is taken, from 1 (the smallest: -1).
        """
        values = sorted(np.atleast_1d(measure(self.whole)), reverse=True)
        with suppress(NoVerdictError):
            if self.segments is not None:
                own = measure(self.segments)
                return Measured.by(*map(Evidence, own.reshape(len(own), -1).T), over="segments", rank=rank)
        return Measured(float(values[rank - 1 if rank > 0 else rank]))

    def asked(self, name: str, label: str, measure: Measure, unit: str = "", rank: int = 1) -> Quantity:
        return self.quantity(name, label, self.measured(measure, rank), unit)

    def over_layers(self, statistic: str, layers: Sequence[int]) -> Measured:
        return self.measured(lambda it: it.of_layers(statistic)[..., layers].mean(axis=-1))

    def counted_early(self, name: str, label: str, by_layer: np.ndarray) -> Quantity:
        """Return the mean number of heads in a layer of the first third less that of the last third, beyond chance.

        name: of the quantity. label: what is counted, in words. by_layer: number of heads, [layer].
        Chance is the mean under random permutations of the layers. The paper's own numbers are not compared with it.
        """
        label = f"{label}, by layer, in the first third of layers less that in the last third"
        first, last = (layers_of_third(third, by_layer.shape[-1]) for third in ("first", "last"))

        def less(numbers: np.ndarray) -> np.ndarray:
            return numbers[..., first].mean(axis=-1) - numbers[..., last].mean(axis=-1)

        if self.segments is None:
            return Quantity(label, Measured(float(less(by_layer))))
        found = beside_permuted_layers(label, less, by_layer)
        return self.quantity(f"layers.{name}.first.less_last", found.label, found.measured)

    def largest(self, statistic: str, number: int) -> Quantity:
        """Return the largest value that a statistic reaches in at least `number` of 144 heads, or that share of all."""
        rank = math.ceil(self.whole.of_heads(statistic).size * number / _BERT_BASE)
        label = f"in as many heads as {number} of {_BERT_BASE}, at least"
        return self._of_rank(f"largest_{number}", statistic, label, rank)

    def in_more_than(self, percent: float, statistic: str, side: Side) -> Quantity:
        """Return the value of a statistic that more than `percent` percent of the heads reach, or do not exceed.

        side: "above" for the largest value that more than `percent` percent of the heads reach; "below" for the
            smallest value that more than `percent` percent do not exceed.
        """
        sign, end = (1, "least") if side == "above" else (-1, "most")
        rank = sign * (math.floor(self.whole.of_heads(statistic).size * percent / 100) + 1)
        label = f"in more than {percent:g} percent of the heads, at {end}"
        return self._of_rank(f"{side}.{percent:g}_percent", statistic, label, rank)

    def _of_rank(self, name: str, statistic: str, label: str, rank: int) -> Quantity:
        def of_all_heads(statistics: Statistics) -> np.ndarray:
            values = statistics.of_heads(statistic)
            return values.reshape(*values.shape[:-2], -1)

        label = f"{LABELS[statistic]} {label}"
        return self.asked(f"heads.{statistic}.{name}", label, of_all_heads, rank=rank)

    def mean(self, statistic: str, where: Where, *, less: tuple[str, Where] | None = None) -> Quantity:
        """Return the mean of a statistic over the layers `where`, such as the "first" third, less another mean.

        less: the statistic and the layers of the mean that is subtracted; None to subtract nothing.
        """
        depth, means = self.whole.of_layers(statistic).shape[-1], [(statistic, where)]
        name, label = f"layers.{statistic}.{where}", f"mean {LABELS[statistic]} in {_LABELS_OF[where]}"
        if less is not None:
            other, place = less
            means.append(less)
            name += f".less_{place if other == statistic else other}"
            label += f" less that in the {place} third" if other == statistic else f" less {LABELS[other]}"

        def measure(it: Statistics) -> np.ndarray:
            own, *others = (it.of_layers(of)[..., layers_at(at, depth)].mean(axis=-1) for of, at in means)
            return own - sum(others)

        return self.asked(name, label, measure, "nats" if statistic.startswith("entropy") else "")


def layers_at(where: Where, depth: int) -> list[int]:
    """Return the layers, from 0, at a place in a model of `depth` layers. Raises `NoVerdictError` if there are none.

    where: a third ("first", "middle", "last"), "layers_6_to_10" (those as deep as 6 to 10 of 12) or "last_layer".
    """
    if where == "last_layer":
        return [depth - 1]
    if where != "layers_6_to_10":
        return layers_of_third(where, depth)
    # Those whose middle lies from 5 / 12 to 10 / 12 of the depth, without floating-point errors.
    if chosen := [layer for layer in range(depth) if 10 * depth <= 12 * (2 * layer + 1) < 20 * depth]:
        return chosen
    raise NoVerdictError("the model has no layer at that depth")


LayerTest = Mapping[str, float | int | None]


def collect_all(
    surfaces: Mapping[Key, StrPath],
    gradients: Mapping[Key, StrPath],
    fits: Mapping[Key, StrPath],
    divergences: Mapping[Key, StrPath],
    published: Clark2019,
) -> dict[Key, Heads]:
    """Return the quantities of every model on every task of text, in the order of `surfaces`.

    Each argument but `published` has the paths of one analysis by model and task; fits: of the projection of heads.
    """
    return {
        key: collect_quantities(
            read_arrays(path, Surface),
            read_gradients(gradients[key]) if key in gradients else None,
            read_projection_fit(fits[key])["layers"],
            published,
            read_arrays(divergences[key], Divergence).of_a_row,
        )
        for key, path in surfaces.items()
    }


def collect_quantities(
    surface: Surface,
    gradients: Gradients | None,
    layers: LayerTest | None,
    published: Clark2019,
    divergences: np.ndarray | None = None,
) -> Heads:
    """Return the quantities of a model on a task; arguments are None if they were not measured.

    layers: the result of `projection.layer_test`. divergences: of any two heads, in nats per row, [head, head].
    """
    whole, measured, missing = whole_statistics(surface, gradients, published), {}, {}
    if layers is not None and layers["difference"] is not None:
        measured["divergence.within_less_between"] = _permuted(layers)
        measured |= {f"divergence.{name}": Measured(layers[name]) for name in ("within", "between")}
    else:
        missing["divergence.within_less_between"] = "divergences were not measured"
    try:
        marked = behaviours_of(published.behaviours, whole)
        measured["divergence.of_behaviours"] = alike_beyond_layers(divergences, marked)
    except NoVerdictError as error:
        missing["divergence.of_behaviours"] = str(error)
    measured["n_segments"] = Measured(len(surface.length))
    heads = {name: surface.column(*COLUMN_OF[name]).astype(float) for name in whole.heads}
    layers_of_segments = {name: values.mean(axis=-1) for name, values in heads.items()}
    segments = Statistics(heads, layers_of_segments, surface.uniform.astype(float), whole.missing)
    return _with_values(Heads(measured, missing=missing, published=published, whole=whole, segments=segments))


def published_quantities(published: Clark2019) -> Heads:
    """Return the paper's own numbers: those that are printed, and those read off its released figures."""
    return _with_values(Heads({}, published=published, whole=published_statistics(published)))


def _with_values(heads: Heads) -> Heads:
    whole, published, values = heads.whole, heads.published, heads.by_name
    depth = len(next(iter(whole.layers.values())))
    for name in whole.layers:
        values |= {f"layer.{name}.{layer + 1}": heads.over_layers(name, [layer]) for layer in range(depth)}
        thirds = THIRDS if depth >= len(THIRDS) else ()
        values |= {f"third.{name}.{third}": heads.over_layers(name, layers_of_third(third, depth)) for third in thirds}
    for value in published.surface:
        if value.heads is not None and value.statistic in whole.heads:
            count = (whole.heads[value.statistic] > value.above).sum()
            values[f"heads.{value.statistic}.above_{value.above:g}"] = Measured(float(count))
        if value.layers and value.heads is None and value.statistic in whole.layers and depth == published.layers:
            layers = [layer - 1 for layer in value.layers]
            values[f"surface.{value.id}"] = heads.over_layers(value.statistic, layers)
    if whole.uniform is not None:
        values["uniform"] = heads.measured(lambda it: it.uniform.mean(axis=-1))
        sinks = {layer: sink_of(whole, layer) for layer in range(depth)}
        values |= {f"sink.{layer + 1}.{kind}": heads.over_layers(kind, [layer]) for layer, kind in sinks.items()}
    return heads


def _permuted(layers: LayerTest) -> Measured:
    both_sides = min(1.0, 2 * min(layers["p"], 1 - layers["p"] + 1 / (1 + layers["permutations"])))
    ends = layers["low"], layers["high"]
    return Measured(layers["difference"], *ends, lambda limit: both_sides, "permutations")


def alike_beyond_layers(divergences: np.ndarray | None, marked: np.ndarray) -> Measured:
    """Return the mean divergence of pairs of heads with the same behaviour less that of other pairs, beyond chance.

    divergences: divergence of any two heads in nats per row, [head, head].
    marked: [layer, head] str, the behaviour of each head; "" without one. Pairs of two heads without one are left out.
    Chance is permutations of the behaviours within layers, since heads of a layer are alike, whatever their behaviour
    is. Raises `NoVerdictError` if there are no pairs with the same behaviour, or no other pairs.
    """
    names, counts = np.unique(marked, return_counts=True)
    pairs = {name: count * (count - 1) / 2 for name, count in zip(names, counts, strict=True)}
    neither, alike = pairs.pop("", 0), sum(pairs.values())
    others = marked.size * (marked.size - 1) / 2 - neither - alike
    if divergences is None:
        raise NoVerdictError("divergences were not measured")
    if not alike or not others:
        raise NoVerdictError("no two heads show one behaviour of Figure 6" if not alike else "all heads show one")
    rng = np.random.default_rng(derive_seed(0, "behaviours"))
    drawn = rng.permuted(np.tile(marked, (PERMUTATIONS, 1, 1)), axis=-1)
    drawn = np.concatenate([marked[None], drawn]).reshape(1 + PERMUTATIONS, -1)

    def total(name: str) -> np.ndarray:
        own = (drawn == name).astype(float)
        return ((own @ divergences) * own).sum(axis=1) / 2

    within = sum(total(name) for name in pairs)
    between = divergences.sum() / 2 - total("") - within
    own, *chance = within / alike - between / others
    return Measured.beyond_chance(float(own), np.array(chance))
