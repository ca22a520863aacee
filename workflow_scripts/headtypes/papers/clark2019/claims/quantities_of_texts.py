"""The quantities that this paper's claims about texts are judged on, from our results and from its own numbers.

Quantities that the claims ask for have the names that `Heads` gives. The others are

| name | what |
| --- | --- |
| `layer.{statistic}.{layer}` | mean over the heads of a layer, from 1 (`LABELS` lists the statistics) |
| `third.{statistic}.{third}` | mean over the layers of the first, middle or last third |
| `heads.{statistic}.above_{limit}` | number of heads that the paper's text counts |
| `surface.{id}` | mean over the layers that the paper's text says something of, of a model with as many layers |
| `uniform` | mean entropy of uniform attention |
| `sink.{layer}.{kind}` | attention to that special token, or the first token: the kind with most of it in the layer |
| `divergence.within`, `.between` | mean divergence of pairs of heads of one layer, and of two layers, in nats a row |
| `divergence.within_less_between` | the difference, with an interval by permutations of the layers |
| `divergence.of_behaviours` | pairs of heads of one behaviour less other pairs with one, by `alike_beyond_layers` |
| `n_segments` | segments that the values are means over |
"""

import math
from collections.abc import Iterator, Mapping, Sequence
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
from headtypes.papers.clark2019.published import Behaviour, Clark2019
from headtypes.papers.paper import Key
from headtypes.papers.quantities import (
    PERMUTATIONS,
    THIRDS,
    Measure,
    Measured,
    NoVerdictError,
    Quantities,
    Quantity,
    Ranked,
    Side,
    Third,
    beside_permuted_layers,
    layers_of_third,
    measured_by,
)

# Each statistic in words, as tables and reasons have it; `gradient.{kind}` is about the kind of the attended token.
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
}
_ATTENDED = {"cls": "[CLS]", "sep": "[SEP]", "punctuation": "periods and commas", "other": "other tokens"}
LABELS |= {f"gradient.{kind}": f"gradient for attention to {label}" for kind, label in _ATTENDED.items()}
LABELS["gradient.all"] = "gradient for attention to all tokens"
LABELS |= {f"gradient_ratio.{kind}": f"{LABELS[f'gradient.{kind}']} / to all tokens" for kind in _ATTENDED}
# What of surface patterns each statistic of heads is: the column, and whether of weights or norms.
COLUMN_OF: dict[str, tuple[str, Of]] = {name: (name, "weights") for name in COLUMNS} | {"norms.sep": ("sep", "norms")}
# Kinds of token that can be a sink of attention, and their statistics; a model's first token may be one of the others.
SINKS = ("cls", "sep", "punctuation", "first")
_NEIGHBOURS = ("previous", "next")
_UNKNOWN = "the paper gives no such value"
# A third of the layers, some at the same depth as the paper's, or one of them; quantities have these names.
Where = Third | Literal["layers_6_to_10", "last_layer"]
_LABELS_OF: dict[str, str] = {
    **{third: f"the {third} third of layers" for third in THIRDS},
    "layers_6_to_10": "the layers at the depth of 6 to 10 of 12",
    "last_layer": "the last layer",
}
# Heads of the model that the paper counts them in.
_BERT_BASE = 144
_ENDS: dict[Side, str] = {"above": "least", "below": "most"}


@dataclass(frozen=True)
class Statistics:
    """Statistics of heads and layers, on all segments, or on all segments but one for each segment.

    In shapes, `...` stands for `segment` if one segment is left out at a time, and for nothing otherwise.

    heads: by statistic, [..., layer, head].
    layers: by statistic, [..., layer]: the mean over the heads of a layer, but under the name `offset_heads` a number
        of heads.
    uniform: entropy of attention spread evenly over all tokens that a token can see, in nats, [..., layer], or None.
    missing: the reason why a statistic is not known, by the statistic's name.
    on_all: if segments are left out, the statistics on all segments, which select layers and heads; None otherwise.
    """

    heads: Mapping[str, np.ndarray]
    layers: Mapping[str, np.ndarray]
    uniform: np.ndarray | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    on_all: "Statistics | None" = None

    @property
    def whole(self) -> "Statistics":
        return self.on_all or self

    def of_heads(self, name: str) -> np.ndarray:
        """Return a statistic of each head, [layer, head], or [segment, layer, head] with a segment left out each time.

        Raises `NoVerdictError` if the statistic is not known.
        """
        return self._known(self.heads, name)

    def of_layers(self, name: str) -> np.ndarray:
        """Return a statistic of each layer, [layer], or [segment, layer] with a segment left out each time.

        Raises `NoVerdictError` if the statistic is not known.
        """
        return self._known(self.layers, name)

    def mean(self, name: str, where: Where) -> np.ndarray:
        """Return the mean of a statistic over some layers: a number, or [segment] with a segment left out each time.

        where: a third of the layers, the layers at the depth of 6 to 10 of 12, or the last layer.
        Raises `NoVerdictError` if the statistic is not known, or if the model has no layer at that depth.
        """
        by_layer = self.of_layers(name)
        layers = by_layer.shape[-1]
        if where == "last_layer":
            return by_layer[..., -1]
        if where == "layers_6_to_10":
            # Those whose middle lies from 5 / 12 to 10 / 12 of the depth, without floating-point errors.
            chosen = [layer for layer in range(layers) if 10 * layers <= 12 * (2 * layer + 1) < 20 * layers]
        else:
            chosen = layers_of_third(where, layers)
        if not chosen:
            raise NoVerdictError("the model has no layer at that depth")
        return by_layer[..., chosen].mean(axis=-1)

    def _known(self, values: Mapping[str, np.ndarray], name: str) -> np.ndarray:
        if name not in values:
            raise NoVerdictError(self.missing.get(name, _UNKNOWN))
        return values[name]


def limit_of(behaviour: Behaviour, uniform: np.ndarray | None) -> np.ndarray:
    """Return the limit above which a head shows a behaviour, in the shape of `uniform`; [1] if the limit is fixed.

    uniform: entropy of uniform attention in nats, [layer] or [segment, layer]; None for heads whose numbers are
        the published ones, for which the limit stays as published.

    A limit that was set for one entropy of uniform attention changes in proportion to the entropy.
    """
    if behaviour.uniform is None or uniform is None:
        return np.array([behaviour.above])
    return behaviour.above / behaviour.uniform * uniform


def shows(behaviour: Behaviour, statistics: Statistics) -> np.ndarray:
    """Return whether each head shows a behaviour: bool with the shape of the statistics of heads, [..., layer, head].

    The leading axis is `segment` if segments are left out one at a time, and absent otherwise. Raises `NoVerdictError`
    if the statistic of the behaviour is not known.
    """
    return statistics.of_heads(behaviour.statistic) > limit_of(behaviour, statistics.uniform)[..., None]


def behaviours_of(rules: Sequence[Behaviour], statistics: Statistics) -> np.ndarray:
    """Return the name of each head's behaviour as Figure 6 marks it, [layer, head] str; empty for a head without one.

    rules: the behaviours; a later behaviour overrides an earlier one.
    A behaviour whose statistic is not known marks no head.
    """
    known = [rule for rule in rules if rule.statistic in statistics.heads]
    shape = next(iter(statistics.heads.values())).shape
    marked = np.full(shape, "", dtype=object)
    for rule in known:
        marked[shows(rule, statistics)] = rule.name
    return marked


def whole_statistics(surface: Surface, gradients: Gradients | None, published: Clark2019) -> Statistics:
    """Return the statistics of a model on all segments; `missing` gives a reason for each statistic that is not known.

    surface: attention patterns of the heads. gradients: None if gradients were not measured.
    """
    heads = {name: surface.mean(*which) for name, which in COLUMN_OF.items() if which[1] in surface.read}
    missing = {"norms.sep": "norms were not read (clustering.of, divided_by)"} if surface.norms is None else {}
    missing |= _missing(heads)
    heads = {name: values for name, values in heads.items() if name not in missing}
    layers = by_layer(heads, published)
    for index, kind in enumerate(ATTENDED):
        name = f"gradient.{kind}"
        if gradients is None or np.isnan(gradients.values[..., index]).any():
            missing[name] = _why_no_gradients(gradients, kind)
        else:
            layers[name] = gradients.values[..., index].mean(axis=-1)
    if "gradient.all" in layers:
        kinds = [kind for kind in ATTENDED if kind != "all" and f"gradient.{kind}" in layers]
        layers |= {f"gradient_ratio.{kind}": layers[f"gradient.{kind}"] / layers["gradient.all"] for kind in kinds}
    return Statistics(heads, layers, surface.uniform.mean(axis=0, dtype=float), missing)


def published_statistics(published: Clark2019) -> Statistics:
    """Return the paper's statistics: means by layer read off its figures, and counts of heads in its text."""
    layers = {name: np.array(values) for name, values in published.digitised.by_layer.items()}
    listed = [layer for value in published.surface if value.heads is not None for layer in value.layers]
    layers["offset_heads"] = np.bincount(listed, minlength=published.layers + 1)[1:]
    return Statistics({}, layers)


def sink_of(whole: Statistics, layer: int) -> str:
    """Return the kind of token that gets the most attention in a layer: one of `SINKS`.

    layer: from 0. A first token that is [CLS] counts as "cls".
    """
    # Equal but for floating-point errors where the first token is [CLS]; of equal ones, the earlier counts.
    return max((name for name in SINKS if name in whole.layers), key=lambda name: round(whole.layers[name][layer], 6))


def by_layer(heads: Mapping[str, np.ndarray], published: Clark2019) -> dict[str, np.ndarray]:
    """Return statistics by layer, [..., layer]: means over heads, and `offset_heads`.

    heads: by statistic, [..., layer, head]; the leading axis is `segment` or absent.
    `offset_heads` is the number of heads that look at the previous or the next token.
    """
    layers = {name: values.mean(axis=-1) for name, values in heads.items()}
    if all(name in heads for name in _NEIGHBOURS):
        rules = [rule for rule in published.behaviours if rule.statistic in _NEIGHBOURS]
        statistics = Statistics(heads, {})
        layers["offset_heads"] = np.any([shows(rule, statistics) for rule in rules], axis=0).sum(axis=-1)
    return layers


def _why_no_gradients(gradients: Gradients | None, kind: str) -> str:
    if gradients is None:
        return "gradients were not measured"
    return f"no segment has a token of the kind {kind}" if gradients.reason is None else f"the model {gradients.reason}"


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

    whole: statistics on all segments.
    without: statistics on all segments but one, for each segment; None if no intervals are wanted.
    """

    about: ClassVar[str] = "text"
    unit: ClassVar[str] = "n_segments"
    absent: ClassVar[str] = "the model reads no text"
    whole: Statistics | None = None
    without: Statistics | None = None

    def measured(self, measure: Measure) -> Measured:
        if self.whole is None:
            return super().measured(measure)
        value = float(measure(self.whole))
        try:
            if self.without is not None:
                return measured_by(measure, self.whole, self.without, "segments")
        except NoVerdictError:  # Gradients of single segments are not stored.
            pass
        return Measured(value)

    def counted_early(self, name: str, label: str, by_layer: Measure) -> Quantity:
        """Return the number of heads in the first third of the layers less that in the last third, beyond chance.

        name: name under which the quantity is stored.
        label: what is counted, in words.
        by_layer: a function from `Statistics` to the number of heads in each layer, [layer].

        The mean under permutations of the layers is subtracted, and the permutations give the interval. The paper's own
        numbers are not tested.
        """
        label = f"{label}, by layer, in the first third of layers less that in the last third"

        def less(numbers: np.ndarray) -> np.ndarray:
            counted = Statistics({}, {name: numbers})
            return counted.mean(name, "first") - counted.mean(name, "last")

        if self.whole is None:
            raise NoVerdictError(self.otherwise)
        numbers = by_layer(self.whole)
        # The paper's own numbers are not tested.
        if self.without is None:
            return Quantity(label, Measured(float(less(numbers))))
        found = beside_permuted_layers(label, less, numbers)
        self.by_name[f"layers.{name}.first.less_last"] = found.measured
        return found

    def largest(self, statistic: str, number: int) -> Quantity:
        """Return the largest value that a statistic reaches in at least `number` of 144 heads, BERT-base's number.

        In a model with another number of heads, the share of heads is the same, rounded up. statistic: a key of
        `LABELS`.
        """

        def measure(statistics: Statistics) -> np.ndarray:
            if not statistics.heads:
                return self._shown(statistic, number)
            return _of_all_heads(statistics, statistic)

        label = f"{LABELS[statistic]} in as many heads as {number} of {_BERT_BASE}, at least"
        ranked = Ranked(measure, lambda heads: math.ceil(heads * number / _BERT_BASE))
        return self.quantity(f"heads.{statistic}.largest_{number}", label, ranked)

    def in_more_than(self, percent: float, statistic: str, side: Side) -> Quantity:
        """Return the value of a statistic that more than `percent` percent of the heads reach, or do not exceed.

        side: "above" for the largest value that more than `percent` percent of the heads reach; "below" for the
            smallest value that more than `percent` percent do not exceed.
        """
        sign = 1 if side == "above" else -1
        label = f"{LABELS[statistic]} in more than {percent:g} percent of the heads, at {_ENDS[side]}"
        ranked = Ranked(
            lambda heads: _of_all_heads(heads, statistic), lambda heads: sign * (math.floor(heads * percent / 100) + 1)
        )
        return self.quantity(f"heads.{statistic}.{side}.{percent:g}_percent", label, ranked)

    def mean(self, statistic: str, where: Where) -> Quantity:
        return self._layers(statistic, where, "", "", lambda heads: heads.mean(statistic, where))

    def mean_less_third(self, statistic: str, third: Third, other: Third) -> Quantity:
        def measure(statistics: Statistics) -> np.ndarray:
            return statistics.mean(statistic, third) - statistics.mean(statistic, other)

        return self._layers(statistic, third, f".less_{other}", f" less that in the {other} third", measure)

    def mean_less_statistic(self, statistic: str, where: Where, other: str) -> Quantity:
        """Return the mean of a statistic over some layers, less the mean of the statistic `other` over the same layers.

        where: a third of the layers, the layers at the depth of 6 to 10 of 12, or the last layer.
        """

        def measure(statistics: Statistics) -> np.ndarray:
            return statistics.mean(statistic, where) - statistics.mean(other, where)

        return self._layers(statistic, where, f".less_{other}", f" less {LABELS[other]}", measure)

    def last_layer_less_others(self, statistic: str) -> Quantity:
        """Return the mean of a statistic in the last layer, less the largest mean in any other layer."""

        def differences(statistics: Statistics) -> np.ndarray:
            by_layer = statistics.of_layers(statistic)
            if by_layer.shape[-1] < 2:
                raise NoVerdictError("the model has one layer")
            return by_layer[..., -1:] - by_layer[..., :-1]

        less = " less the largest of another layer"
        return self._layers(statistic, "last_layer", ".less_largest_other", less, Ranked(differences, -1))

    def _layers(self, statistic: str, where: Where, name: str, less: str, measure: Measure) -> Quantity:
        label = f"mean {LABELS[statistic]} in {_LABELS_OF[where]}"
        unit = "nats" if statistic.startswith("entropy") else ""
        return self.quantity(f"layers.{statistic}.{where}{name}", label + less, measure, unit)

    def _shown(self, statistic: str, number: int) -> np.ndarray:
        shown = self.published.digitised.heads_over_half.get(statistic, {})
        if len(shown) < number:
            raise NoVerdictError("the released figures show fewer heads above a half")
        return np.array([*shown.values(), *[0.0] * (_BERT_BASE - len(shown))])


def _of_all_heads(statistics: Statistics, name: str) -> np.ndarray:
    values = statistics.of_heads(name)
    return values.reshape(*values.shape[:-2], -1)


LayerTest = Mapping[str, float | int | None]


def collect_all(
    surfaces: Mapping[Key, StrPath],
    gradients: Mapping[Key, StrPath],
    fits: Mapping[Key, StrPath],
    divergences: Mapping[Key, StrPath],
    published: Clark2019,
) -> dict[Key, Heads]:
    """Return the quantities of every model on every task of text, in the order of `surfaces`.

    surfaces: paths of surface patterns, by model and task.
    gradients: paths of gradients; a model without gradients is absent.
    fits: paths of files on the projection of heads, with the result of `projection.layer_test`.
    divergences: paths of divergences between heads.
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
    """Return the quantities of a model on a task.

    surface: attention patterns on at least one segment.
    gradients: None if gradients were not measured; quantities of gradients have no intervals.
    layers: the result of `projection.layer_test`, or None.
    divergences: divergence of any two heads in nats per row of attention, [head, head], or None.
    """
    whole = whole_statistics(surface, gradients, published)
    segments, measured, missing = len(surface.length), {}, {}
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
    measured["n_segments"] = Measured(segments)
    without = _without_each(surface, whole, published) if segments > 1 else None
    heads = Heads(measured, missing=missing, published=published, whole=whole, without=without)
    return _with_values(heads)


def published_quantities(published: Clark2019) -> Heads:
    """Return the paper's own numbers: those that are printed, and those read off its released figures."""
    return _with_values(Heads({}, published=published, whole=published_statistics(published)))


def _with_values(heads: Heads) -> Heads:
    for name, measure in _measures(heads.published, heads.whole):
        with suppress(NoVerdictError):
            heads.quantity(name, name, measure)
    return heads


def _measures(published: Clark2019, whole: Statistics) -> Iterator[tuple[str, Measure]]:
    depth = len(next(iter(whole.layers.values())))
    for name in whole.layers:
        yield from ((f"layer.{name}.{layer + 1}", _of_layers(name, [layer])) for layer in range(depth))
        yield from ((f"third.{name}.{third}", lambda heads, of=(name, third): heads.mean(*of)) for third in THIRDS)
    for value in published.surface:
        if value.heads is not None and value.statistic in whole.heads:
            yield f"heads.{value.statistic}.above_{value.above:g}", _count_of(value.statistic, value.above)
        if value.layers and value.heads is None and value.statistic in whole.layers and depth == published.layers:
            yield f"surface.{value.id}", _of_layers(value.statistic, [layer - 1 for layer in value.layers])
    if whole.uniform is not None:
        yield "uniform", lambda statistics: statistics.uniform.mean(axis=-1)
        for layer in range(depth):
            kind = sink_of(whole, layer)
            yield f"sink.{layer + 1}.{kind}", _of_layers(kind, [layer])


def _of_layers(name: str, some: list[int]) -> Measure:
    return lambda heads: heads.of_layers(name)[..., some].mean(axis=-1)


def _count_of(name: str, above: float) -> Measure:
    return lambda statistics: (statistics.of_heads(name) > above).sum(axis=(-2, -1))


def _permuted(layers: LayerTest) -> Measured:
    both_sides = min(1.0, 2 * min(layers["p"], 1 - layers["p"] + 1 / (1 + layers["permutations"])))
    ends = layers["low"], layers["high"]
    return Measured(layers["difference"], *ends, lambda limit: both_sides, "permutations")


def alike_beyond_layers(divergences: np.ndarray | None, marked: np.ndarray) -> Measured:
    """Return how much less two heads with the same behaviour differ than other pairs, in nats per row, beyond chance.

    divergences: divergence of any two heads, [head, head].
    marked: behaviour of each head, [layer, head] str; empty for a head without a behaviour.

    The difference is the mean divergence of pairs with the same behaviour, less the mean of other pairs in which at
    least one head has a behaviour. The value is the difference less its mean under permutations. Behaviours are
    permuted within layers, since heads of a layer are alike, whatever their behaviour is. Raises `NoVerdictError` if
    there are no pairs with the same behaviour, or no other pairs.
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


def _without_each(surface: Surface, whole: Statistics, published: Clark2019) -> Statistics:
    """Return the statistics on all segments but one, for each segment: [segment, layer, head] or [segment, layer]."""

    def others(values: np.ndarray) -> np.ndarray:
        known = ~np.isnan(values)
        values = np.nan_to_num(values.astype(float))
        # Where no other segment has the pattern, nothing can be said without this one.
        return (values.sum(axis=0) - values) / np.maximum(known.sum(axis=0) - known, 1)

    heads = {name: others(surface.column(*COLUMN_OF[name])) for name in whole.heads}
    return Statistics(heads, by_layer(heads, published), others(surface.uniform), on_all=whole)
