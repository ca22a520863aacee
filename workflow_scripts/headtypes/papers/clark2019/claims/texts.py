"""The claims of sections 3 and 6, and the quantities that they are judged on: what heads of a text look at.

A quantity is the mean over segments of a number of each segment. Counts of heads, and gradients, are known of all
segments together only. Layers in quantities' names count from 1; thirds of layers let models of any depth be judged.

Attention of heads where their function is not called for is judged on treebanks (`language`). No claim judges the
picture of clusters of heads. That attention to [SEP] is a no-op, as the authors "speculate", is judged by norms.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headtypes.analyses.divergence.results import Divergence, read_projection_fit
from headtypes.analyses.gradients.results import Gradients, read_gradients
from headtypes.analyses.surface.measure import Surface
from headtypes.core.files import derive_seed
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.statistics import Evidence, Measured
from headtypes.papers.claims import (
    HOLDS,
    PERMUTATIONS,
    THIRDS,
    Claims,
    Finding,
    Quantities,
    Quantity,
    Side,
    Third,
    beside_permuted_layers,
    layers_of_third,
)
from headtypes.papers.clark2019.claims.statistics import (
    BERT_BASE,
    COLUMN_OF,
    LABELS,
    Statistics,
    behaviours_of,
    limit_of,
    published_statistics,
    shows,
    whole_statistics,
)
from headtypes.papers.clark2019.published import Behaviour, Clark2019
from headtypes.papers.paper import Found, Key, NoVerdictError

# Kinds of token that can be a sink of attention, and their statistics; a model's first token may be one of the others.
SINKS = ("cls", "sep", "punctuation", "first")
_NO_TEXT = Statistics({}, {}, otherwise="the model reads no text")
Measure = Callable[[Statistics], np.ndarray]


@dataclass(frozen=True)
class Heads(Quantities):
    """Quantities of a model on a text. A method raises `NoVerdictError` if a statistic for the method is not known.

    whole, segments: statistics on all segments, and on each segment; `segments` is None for the paper's own numbers.
    """

    about: ClassVar[str] = "text"
    over: ClassVar[str] = "segments"
    whole: Statistics = _NO_TEXT
    segments: Statistics | None = None

    def measured(self, measure: Measure, rank: int = 1) -> Measured:
        """Return one of the numbers that `measure` computes, by default the largest, with its interval over segments.

        measure: a function such as `lambda stats: stats.of_layers("sep")`. It returns an array of any shape for
            `self.whole`, with an axis of segments in front for `self.segments`. Without segments, the interval is NaN.
        rank: 1 for the largest number, 2 for the second largest, -1 for the smallest.
        """
        values = sorted(np.ravel(measure(self.whole)), reverse=True)
        with suppress(NoVerdictError):
            if self.segments is not None:
                own = measure(self.segments)
                return Measured.by(*map(Evidence, own.reshape(len(own), -1).T), over=self.over, rank=rank)
        return Measured(float(values[rank - 1 if rank > 0 else rank]))

    def asked(self, name: str, label: str, measure: Measure, unit: str = "", rank: int = 1) -> Quantity:
        return self.quantity(name, label, self.measured(measure, rank), unit)

    def counted_early(self, name: str, label: str, by_layer: np.ndarray) -> Quantity:
        """Return how many more heads per layer are counted in the first third of layers than in the last, less chance.

        by_layer: [layer] number of counted heads. name, label: these heads, for the quantity's name, and in words.
        Chance is the mean difference over permutations of `by_layer`, or 0 if `segments` is None (the paper's numbers).
        """
        label = f"{label}, by layer, in the first third of layers less that in the last third"
        first, last = (layers_of_third(third, by_layer.shape[-1]) for third in ("first", "last"))

        def less(numbers: np.ndarray) -> np.ndarray:
            return numbers[..., first].mean(axis=-1) - numbers[..., last].mean(axis=-1)

        if self.segments is None:  # The paper's own numbers: chance is not subtracted.
            return Quantity(label, Measured(float(less(by_layer))))
        found = beside_permuted_layers(label, less, by_layer)
        return self.quantity(f"layers.{name}.first.less_last", found.label, found.measured)

    def largest(self, statistic: str, number: int) -> Quantity:
        """Return the n-th largest value of a statistic over heads, n being `number` for the 144 heads of BERT-base.

        For another number of heads, n changes in proportion and is rounded up. statistic: its name, such as "sep".
        """
        rank = math.ceil(self.whole.of_heads(statistic).size * number / BERT_BASE)
        label = f"in as many heads as {number} of {BERT_BASE}, at least"
        return self._of_rank(f"largest_{number}", statistic, label, rank)

    def in_more_than(self, percent: float, statistic: str, side: Side) -> Quantity:
        """Return the n-th largest value of a statistic over heads (side "above"), or the n-th smallest (side "below").

        n: the smallest number of heads that is more than `percent` % of all heads. statistic: its name, such as "sep".
        """
        sign, end = (1, "least") if side == "above" else (-1, "most")
        rank = sign * (math.floor(self.whole.of_heads(statistic).size * percent / 100) + 1)
        label = f"in more than {percent:g} percent of the heads, at {end}"
        return self._of_rank(f"{side}.{percent:g}_percent", statistic, label, rank)

    def _of_rank(self, name: str, statistic: str, label: str, rank: int) -> Quantity:
        label = f"{LABELS[statistic]} {label}"
        return self.asked(f"heads.{statistic}.{name}", label, lambda stats: stats.of_heads(statistic), rank=rank)

    def mean(self, statistic: str, third: Third, *, less: tuple[str, Third] | None = None) -> Quantity:
        """Return a statistic's mean over one third of the layers; less: (statistic, third) whose mean is subtracted."""
        depth, means = self.whole.of_layers(statistic).shape[-1], [(statistic, third)]
        name, label = f"layers.{statistic}.{third}", f"mean {LABELS[statistic]} in the {third} third of layers"
        if less is not None:
            other, place = less
            means.append(less)
            name += f".less_{place if other == statistic else other}"
            label += f" less that in the {place} third" if other == statistic else f" less {LABELS[other]}"

        def measure(stats: Statistics) -> np.ndarray:
            own, *others = (stats.of_layers(of)[..., layers_of_third(at, depth)].mean(axis=-1) for of, at in means)
            return own - sum(others)

        return self.asked(name, label, measure)

    def most_in(self, third: Third, statistic: str) -> list[Finding]:
        return [self.mean(statistic, third, less=(statistic, other)).above(0) for other in THIRDS if other != third]


def collect_texts(found: Found, published: Clark2019) -> dict[Key, Heads]:
    """Return the quantities of every model on every task of kind text, {(model, task): `Heads`}.

    found: {kind of file: {(model, task): path}}. A file of kind "surfaces" holds a `Surface`; "divergences", a
    `Divergence`; "fits", JSON with the result of `layer_test` under "layers"; "gradients" (of some tasks), `Gradients`.
    """
    return {
        key: collect_quantities(
            read_arrays(path, Surface),
            read_gradients(found["gradients"][key]) if key in found["gradients"] else None,
            read_projection_fit(found["fits"][key])["layers"],
            published,
            read_arrays(found["divergences"][key], Divergence).of_a_row,
        )
        for key, path in found["surfaces"].items()
    }


def collect_quantities(
    surface: Surface,
    gradients: Gradients | None,
    layers: Mapping[str, float | None],
    published: Clark2019,
    divergences: np.ndarray | None = None,
) -> Heads:
    """Return the quantities of a model on a text, such as each layer's mean attention to [SEP].

    surface: statistics of each head's attention in each segment. layers: result of `layer_test`, on how alike heads
        of one layer are beside others. gradients: of the loss by attention weights; None if not measured.
    divergences: [head, head] Jensen-Shannon divergence of two heads' attention, nats per row; None if not measured.
    """
    whole, measured, missing = whole_statistics(surface, gradients, published), {}, {}
    if layers["difference"] is None:
        missing["divergence.within_less_between"] = "divergences were not measured"
    else:
        measured["divergence.within_less_between"] = _permuted(layers)
        measured |= {f"divergence.{name}": Measured(layers[name]) for name in ("within", "between")}
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
    """Return a `Heads` with the paper's own numbers, from its text and from the figures released with it."""
    return _with_values(Heads({}, published=published, whole=published_statistics(published)))


def _with_values(heads: Heads) -> Heads:
    def mean_of(statistic: str, layers: Sequence[int]) -> Measured:
        return heads.measured(lambda stats: stats.of_layers(statistic)[..., layers].mean(axis=-1))

    whole, published, values = heads.whole, heads.published, heads.by_name
    depth = len(whole.uniform)
    for name in whole.layers:
        values |= {f"layer.{name}.{layer + 1}": mean_of(name, [layer]) for layer in range(depth)}
        thirds = THIRDS if depth >= len(THIRDS) else ()
        values |= {f"third.{name}.{third}": mean_of(name, layers_of_third(third, depth)) for third in thirds}
    for value in published.surface:
        if value.heads is not None and value.statistic in whole.heads:
            count = (whole.heads[value.statistic] > value.above).sum()
            values[f"heads.{value.statistic}.above_{value.above:g}"] = Measured(float(count))
        if value.layers and value.heads is None and value.statistic in whole.layers and depth == published.layers:
            values[f"surface.{value.id}"] = mean_of(value.statistic, [layer - 1 for layer in value.layers])
    values["uniform"] = heads.measured(lambda stats: stats.uniform.mean(axis=-1))
    kinds = [name for name in SINKS if name in whole.layers]
    # Equal but for floating-point errors where the first token is [CLS]; of equal ones, the earlier counts.
    sinks = np.argmax(np.round([whole.layers[name] for name in kinds], 6), axis=0)
    values |= {f"sink.{layer + 1}.{kinds[sink]}": mean_of(kinds[sink], [layer]) for layer, sink in enumerate(sinks)}
    return heads


def _permuted(layers: Mapping[str, float | None]) -> Measured:
    both_sides = min(1.0, 2 * min(layers["p"], 1 - layers["p"] + 1 / (1 + layers["permutations"])))
    return Measured(layers["difference"], layers["low"], layers["high"], lambda limit: both_sides, "permutations")


def alike_beyond_layers(divergences: np.ndarray | None, marked: np.ndarray) -> Measured:
    """Return the mean divergence of two heads with the same behaviour, less that of two that differ in it, less chance.

    divergences: [head, head] in nats per row, the unit of the result, too; None if not measured. marked: [layer, head]
        str, each head's behaviour, "" for none. Pairs without any behaviour are left out; a head with one and a head
        without differ. Chance is the mean of the difference when behaviours are permuted within each layer.
    Raises `NoVerdictError` without divergences, or if no two heads, or all, have the same behaviour.
    """
    names, counts = np.unique(marked, return_counts=True)
    pairs = {name: count * (count - 1) / 2 for name, count in zip(names, counts, strict=True)}
    neither, alike = pairs.pop("", 0), sum(pairs.values())
    others = marked.size * (marked.size - 1) / 2 - neither - alike
    if divergences is None:
        raise NoVerdictError("divergences were not measured")
    if not alike or not others:
        raise NoVerdictError("no two heads show one behaviour of Figure 6" if not alike else "all heads show one")
    # Heads of one layer are alike, whatever they do.
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


of_surface, of_layers = Claims(Heads.about), Claims(Heads.about)
section_3_1 = of_surface.at("section 3.1")
figure_2 = of_surface.at("section 3.2, Figure 2")
figure_3 = of_surface.at("section 3.2, Figure 3")
figure_4 = of_surface.at("section 3.3, Figure 4")
section_3_3 = of_surface.at("section 3.3")

# Above which attention to [SEP] is high: the published means pass it between layers 4 and 5.
HIGH = 0.25
_RATIO = f"{LABELS['gradient.sep']} divided by {LABELS['gradient.all']}"
_EARLY = "Early heads attend to [CLS], middle heads attend to [SEP], and deep heads attend to periods and commas"
_FROM_LAYER_5 = (
    "Starting in layer 5 \u2013 the same layer where attention to [SEP] becomes high \u2013 the gradients for "
    "attention to [SEP] become very small"
)


def _broad(heads: Heads) -> Behaviour:
    return next(behaviour for behaviour in heads.published.behaviours if behaviour.name == "broad")


def _is_high(heads: Heads) -> np.ndarray:
    high = heads.whole.of_layers("sep") > HIGH
    if not high.any():
        raise NoVerdictError(f"in no layer is {LABELS['sep']} above {HIGH:g}")
    return high


def _ratio_where_high(heads: Heads, label: str, above: str, below: str) -> Quantity:
    label = f"{label}, mean over layers with {LABELS['sep']} above {HIGH:g}"
    return heads.asked(
        f"ratio.{above}.to.{below}", label, lambda stats: stats.ratio(above, below)[..., _is_high(heads)].mean(axis=-1)
    )


section_3_1(
    "little-self",
    text="Most heads put little attention on the current token.",
    wording="most heads put little attention on the current token",
    limit="no number is given; little is less than a tenth, and most are more than half of the heads",
    ask=lambda heads: heads.in_more_than(50, "self", "below").below(0.1),
)

section_3_1(
    "previous-heads",
    text="Some heads put more than half of their attention on the previous token.",
    wording=(
        "four attention heads (in layers 2, 4, 7, and 8) on average put >50% of their attention on the previous token"
    ),
    limit="the paper's 50 percent, in as large a share of the heads as four of 144",
    ask=lambda heads: heads.largest("previous", 4).above(0.5),
)

section_3_1(
    "next-heads",
    text="Some heads put more than half of their attention on the next token.",
    wording="five attention heads (in layers 1, 2, 2, 3, and 6) put >50% of their attention on the next token",
    limit="the paper's 50 percent, in as large a share of the heads as five of 144",
    ask=lambda heads: heads.largest("next", 5).above(0.5),
)

section_3_1(
    "offsets-early",
    text="More heads look at the next or the previous token in early layers than in deep ones.",
    wording=(
        "heads that specialize to attending heavily on the next or previous token, especially in earlier layers of "
        "the network"
    ),
    limit=(
        "the paper's 50 percent; there are more such heads in a layer of the first third than in one of the last, "
        "beyond permutations of the layers"
    ),
    ask=lambda heads: heads.counted_early(
        "offset_heads", LABELS["offset_heads"], heads.whole.of_layers("offset_heads")
    ).above(0),
)

figure_2(
    "cls-early",
    text="Early heads attend to [CLS] more than middle and deep ones do.",
    wording=_EARLY,
    limit="early are the first third of the layers, in which the mean is above that of either other third",
    ask=lambda heads: heads.most_in("first", "cls"),
)


@figure_2(
    "sep-middle",
    text="In layers 6 to 10 of 12 over half of the attention goes to [SEP].",
    wording="over half of BERT's attention in layers 6-10 focuses on [SEP]",
    limit="the paper's half, as the mean of the layers that lie as deep in a model of another depth",
)
def _(heads: Heads):
    depth = heads.whole.of_layers("sep").shape[-1]
    # Those whose middle lies from 5 / 12 to 10 / 12 of the depth, without floating-point errors.
    layers = [layer for layer in range(depth) if 10 * depth <= 12 * (2 * layer + 1) < 20 * depth]
    if not layers:
        raise NoVerdictError("the model has no layer at that depth")
    label = f"mean {LABELS['sep']} in the layers at the depth of 6 to 10 of 12"
    name = "layers.sep.layers_6_to_10"
    return heads.asked(name, label, lambda stats: stats.of_layers("sep")[..., layers].mean(axis=-1)).above(0.5)


figure_2(
    "sep-most-in-middle",
    text="Middle heads attend to [SEP] more than early and deep ones do.",
    wording=_EARLY,
    limit=(
        "in the middle third of the layers the mean is above 0.25, which the published means pass between layers 4 and "
        "5, and above that of either other third"
    ),
    ask=lambda heads: [heads.mean("sep", "middle").above(HIGH), *heads.most_in("middle", "sep")],
)

figure_2(
    "punctuation-deep",
    text="Deep heads attend to periods and commas more than early and middle ones do.",
    wording=_EARLY,
    limit="deep are the last third of the layers, in which the mean is above that of either other third",
    ask=lambda heads: heads.most_in("last", "punctuation"),
)

figure_2(
    "special-over-half",
    text="A head's attention to [CLS], [SEP], periods and commas together is often more than half of all.",
    wording="Often more than half of a head's total attention is to these tokens",
    limit="the paper's half; often is more than a quarter of the heads",
    ask=lambda heads: heads.in_more_than(25, "special", "above").above(0.5),
)


@figure_2(
    "sep-looks-at-sep",
    text=(
        "Where heads look at [SEP], [SEP] itself looks at [SEP] for more than 90 percent and more than other tokens do."
    ),
    wording=(
        "they instead almost entirely (more than 90%; see bottom of Figure 2) attend to themselves and the other "
        "[SEP] token"
    ),
    limit=(
        "the paper's 90 percent, in the middle third of the layers; no verdict unless heads look at [SEP] there, with "
        "a mean above 0.25, which the published means pass between layers 4 and 5"
    ),
)
def _(heads: Heads):
    looked_at = heads.mean("sep", "middle").above(HIGH)
    if looked_at.verdict != HOLDS:
        raise NoVerdictError(f"heads are not shown to look at [SEP]: {looked_at.quantity} is {looked_at.measured}")
    return [
        heads.mean("sep_to_sep", "middle").above(0.9),
        heads.mean("sep_to_sep", "middle", less=("other_to_sep", "middle")).above(0),
    ]


figure_3(
    "sep-no-op",
    text="In layers where attention to [SEP] is high, the loss hardly depends on it.",
    wording=_FROM_LAYER_5,
    limit=(
        "high is above 0.25, which the published means pass between layers 4 and 5; very small is less than half of "
        "the mean over all tokens of a layer; the last layers, where attention to [SEP] is low again, are not asked"
    ),
    ask=lambda heads: _ratio_where_high(heads, _RATIO, "gradient.sep", "gradient.all").below(0.5),
)

of_surface(
    "sep-hands-over-little",
    basis="inferred",
    place="section 3.2",
    text="Where attention to [SEP] is high, it hands over little: a no-op.",
    wording=(
        "we speculate that attention over these special tokens might be used as a sort of \u201cno-op\u201d when the "
        "attention head\u2019s function is not applicable"
    ),
    limit=(
        "high as for sep-no-op; little is a share of norms, of what tokens hand over (Kobayashi et al. 2020), "
        "that is less than half of that of weights, as the mean over these layers; any model can be asked"
    ),
    ask=lambda heads: _ratio_where_high(
        heads, f"{LABELS['norms.sep']} divided by that by weights", "norms.sep", "sep"
    ).below(0.5),
)


@figure_3(
    "sep-gradients-fall",
    text="Before attention to [SEP] becomes high, the loss depends on it more than where it is high.",
    wording=_FROM_LAYER_5,
    limit=(
        "high as for sep-no-op; the mean over the layers before the first such layer is above that over the "
        "layers where attention to [SEP] is high"
    ),
)
def _(heads: Heads):
    high = _is_high(heads)
    if high[0]:
        raise NoVerdictError(f"{LABELS['sep']} is above {HIGH:g} from the first layer on")

    def measure(statistics: Statistics):
        ratio = statistics.ratio("gradient.sep", "gradient.all")
        return ratio[..., : high.argmax()].mean(axis=-1) - ratio[..., high].mean(axis=-1)

    label = f"{_RATIO}, mean over layers before {LABELS['sep']} is above {HIGH:g} less that where it is"
    return heads.asked("ratio.gradient.sep.before_less_after", label, measure).above(0)


@figure_4(
    "broad-lower-layers",
    text="The first layer has heads of particularly high entropy.",
    wording="In the first layer there are particularly high-entropy heads",
    limit="a head of the first layer is broad by the released notebook, above 0.8 of the entropy of uniform attention",
)
def _(heads: Heads):
    def measure(statistics: Statistics):
        return statistics.of_heads("entropy")[..., 0, :] - limit_of(_broad(heads), statistics)[..., :1]

    label = f"{LABELS['entropy']} of the broadest head of the first layer less the limit of broad heads"
    return heads.asked("broadest.first_layer", label, measure, "nats").above(0)


figure_4(
    "broad-early",
    text="More heads attend broadly in early layers than in deep ones.",
    wording="some attention heads, especially in lower layers, have very broad attention",
    limit=(
        "broad as in the released notebook; there are more such heads in a layer of the first third than in one of the "
        "last, beyond permutations of the layers"
    ),
    ask=lambda heads: heads.counted_early(
        "broad_heads", "broad heads", shows(_broad(heads), heads.whole).sum(-1)
    ).above(0),
)


@section_3_3(
    "broad-spread",
    text="Heads that attend broadly typically put at most a tenth of their attention on any one word.",
    wording="These high-entropy attention heads typically spend at most 10% of their attention mass on any single word",
    limit="the paper's 10 percent, as the mean over the heads that the released notebook calls broad",
)
def _(heads: Heads):
    broad = shows(_broad(heads), heads.whole)
    if not broad.any():
        raise NoVerdictError("there are no broad heads")
    label = f"mean {LABELS['peak']} of broad heads"
    return heads.asked("behaviour.broad.peak", label, lambda own: own.of_heads("peak")[..., broad].mean(-1)).below(0.1)


@section_3_3(
    "cls-broad-last",
    text=(
        "In the last layer [CLS] attends broadly, with an entropy above the mean of all tokens there and of [CLS] in "
        "other layers."
    ),
    wording="the last layer has a high entropy from [CLS] of 3.89 nats, indicating very broad attention",
    limit=(
        "very broad is above the released notebook's limit of broad heads, 0.8 of the entropy of uniform attention; "
        "high is above every other layer, and above the mean of all tokens, with which the text compares it"
    ),
)
def _(heads: Heads):
    def found(name: str, label: str, other: Measure) -> Finding:
        name, label = f"layers.entropy_cls.last_layer.less_{name}", f"{mean} in the last layer less {label}"
        return heads.asked(name, label, lambda stats: of_cls(stats)[..., -1:] - other(stats), "nats", rank=-1).above(0)

    def of_cls(statistics: Statistics) -> np.ndarray:
        return statistics.of_layers("entropy_cls")

    mean, findings = f"mean {LABELS['entropy_cls']}", []
    findings.append(found("broad", "the limit of broad heads", lambda stats: limit_of(_broad(heads), stats)[..., -1:]))
    if of_cls(heads.whole).shape[-1] < 2:
        raise NoVerdictError("the model has one layer")
    findings.append(found("largest_other", "the largest of another layer", lambda stats: of_cls(stats)[..., :-1]))
    return [*findings, found("entropy", LABELS["entropy"], lambda stats: stats.of_layers("entropy")[..., -1:])]


@section_3_3(
    "cls-entropy-near",
    text="In most layers the mean entropy from [CLS] is very close to that from all tokens.",
    wording="the average entropies from [CLS] for most layers are very close to the ones shown in Figure 4",
    limit="no number is given; very close is within a tenth of that from all tokens, and most are more than half",
)
def _(heads: Heads):
    of = "entropy_cls", "entropy"
    # With its sign on all segments, so that it is smooth near nothing.
    sign = np.sign(heads.whole.ratio(*of) - 1)
    label = (
        "mean entropy from [CLS] beside that from all tokens, what they differ by in more than half of the layers, at "
        "most, as a share"
    )
    name, most = "layers.entropy_cls.beside_entropy", -(len(sign) // 2 + 1)
    return heads.asked(name, label, lambda stats: sign * (stats.ratio(*of) - 1), rank=most).below(0.1)


@of_layers(
    "layers-alike",
    place="section 6, Figure 6",
    text="Heads of one layer have attention that is more alike than that of heads of different layers.",
    wording="Heads within the same layer are often fairly close to each other",
    limit="close is closer than heads of different layers, by more than permutations of the layers' labels give",
)
def _(heads: Heads):
    label = "mean divergence (nats a row) of heads within layers less that between layers"
    return heads.quantity("divergence.within_less_between", label, unit="nats").below(0)


@of_layers(
    "behaviours-alike",
    place="section 6, Figure 6",
    text="Heads that show one behaviour have attention that is more alike than that of heads that do not share one.",
    wording=(
        "there are several clear clusters of heads that behave similarly, often corresponding to behaviors we have "
        "already discussed in this paper"
    ),
    limit=(
        "how clear is not said; behaviours are those that Figure 6 marks, by the limits of the released notebook, and "
        "pairs of heads with one behaviour differ less than pairs of which one or both have another, by more than "
        "permutations of the behaviours within layers give, since heads of a layer are alike"
    ),
)
def _(heads: Heads):
    label = "mean divergence (nats a row) of heads with one behaviour less that of others, less what permutations give"
    return heads.quantity("divergence.of_behaviours", label, unit="nats").below(0)
