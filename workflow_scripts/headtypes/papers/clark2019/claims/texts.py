"""The claims of sections 3 and 6: what heads of a text look at, and which heads are alike.

Thirds are the first, middle and last third of the layers, so that models of another depth can be judged.

The attention of heads where their function is not called for is asked on treebanks (`language`). How clear the clusters
of heads that behave similarly are (a picture) is decided by no claim. That attention to [SEP] is a no-op is what the
authors "speculate", and asked by norms.
"""

from functools import partial

import numpy as np

from headtypes.papers.claims import Claims
from headtypes.papers.clark2019.claims.quantities_of_texts import LABELS, Heads, Statistics, limit_of, shows
from headtypes.papers.clark2019.published import Behaviour
from headtypes.papers.quantities import HOLDS, NoVerdictError

of_surface, of_layers = Claims(Heads.about), Claims(Heads.about)
section_3_1 = of_surface.at("section 3.1")
figure_2 = of_surface.at("section 3.2, Figure 2")
figure_3 = of_surface.at("section 3.2, Figure 3")
figure_4 = of_surface.at("section 3.3, Figure 4")
section_3_3 = of_surface.at("section 3.3")

# Above which attention to [SEP] is high: the published means pass it between layers 4 and 5.
HIGH = 0.25
_RATIO = f"{LABELS['gradient.sep']} divided by {LABELS['gradient.all']}"


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
    wording="Early heads attend to [CLS], middle heads attend to [SEP], and deep heads attend to periods and commas",
    limit="early are the first third of the layers, in which the mean is above that of either other third",
    ask=lambda heads: [heads.mean("cls", "first", less=("cls", other)).above(0) for other in ("middle", "last")],
)

figure_2(
    "sep-middle",
    text="In layers 6 to 10 of 12 over half of the attention goes to [SEP].",
    wording="over half of BERT's attention in layers 6-10 focuses on [SEP]",
    limit="the paper's half, as the mean of the layers that lie as deep in a model of another depth",
    ask=lambda heads: heads.mean("sep", "layers_6_to_10").above(0.5),
)


@figure_2(
    "sep-most-in-middle",
    text="Middle heads attend to [SEP] more than early and deep ones do.",
    wording="Early heads attend to [CLS], middle heads attend to [SEP], and deep heads attend to periods and commas",
    limit=(
        "in the middle third of the layers the mean is above 0.25, which the published means pass between layers 4 and "
        "5, and above that of either other third"
    ),
)
def _(heads: Heads):
    more = [heads.mean("sep", "middle", less=("sep", other)).above(0) for other in ("first", "last")]
    return [heads.mean("sep", "middle").above(HIGH), *more]


figure_2(
    "punctuation-deep",
    text="Deep heads attend to periods and commas more than early and middle ones do.",
    wording="Early heads attend to [CLS], middle heads attend to [SEP], and deep heads attend to periods and commas",
    limit="deep are the last third of the layers, in which the mean is above that of either other third",
    ask=lambda heads: [
        heads.mean("punctuation", "last", less=("punctuation", other)).above(0) for other in ("first", "middle")
    ],
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


@figure_3(
    "sep-no-op",
    text="In layers where attention to [SEP] is high, the loss hardly depends on it.",
    wording=(
        "Starting in layer 5 \u2013 the same layer where attention to [SEP] becomes high \u2013 the gradients for "
        "attention to [SEP] become very small"
    ),
    limit=(
        "high is above 0.25, which the published means pass between layers 4 and 5; very small is less than half of "
        "the mean over all tokens of a layer; the last layers, where attention to [SEP] is low again, are not asked"
    ),
)
def _(heads: Heads):
    label = f"{_RATIO}, mean over layers with {LABELS['sep']} above {HIGH:g}"
    return heads.asked("ratio.gradient.sep.to.gradient.all", label, partial(_ratio_where_high, heads)).below(0.5)


@of_surface(
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
)
def _(heads: Heads):
    label = f"{LABELS['norms.sep']} divided by that by weights, mean over layers with {LABELS['sep']} above {HIGH:g}"
    measure = partial(_ratio_where_high, heads, above="norms.sep", below="sep")
    return heads.asked("ratio.norms.sep.to.sep", label, measure).below(0.5)


@figure_3(
    "sep-gradients-fall",
    text="Before attention to [SEP] becomes high, the loss depends on it more than where it is high.",
    wording=(
        "Starting in layer 5 \u2013 the same layer where attention to [SEP] becomes high \u2013 the gradients for "
        "attention to [SEP] become very small"
    ),
    limit=(
        "high as for sep-no-op; the mean over the layers before the first such layer is above that over the "
        "layers where attention to [SEP] is high"
    ),
)
def _(heads: Heads):
    first = int(_is_high(heads).argmax())
    if first == 0:
        raise NoVerdictError(f"{LABELS['sep']} is above {HIGH:g} from the first layer on")

    def measure(statistics: Statistics):
        before = statistics.ratio("gradient.sep", "gradient.all")[..., :first].mean(axis=-1)
        return before - _ratio_where_high(heads, statistics)

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
        limits = limit_of(_broad(heads), statistics.uniform)
        return statistics.of_heads("entropy")[..., 0, :] - limits[..., :1]

    label = f"{LABELS['entropy']} of the broadest head of the first layer less the limit of broad heads"
    return heads.asked("broadest.first_layer", label, measure, "nats").above(0)


@figure_4(
    "broad-early",
    text="More heads attend broadly in early layers than in deep ones.",
    wording="some attention heads, especially in lower layers, have very broad attention",
    limit=(
        "broad as in the released notebook; there are more such heads in a layer of the first third than in one of the "
        "last, beyond permutations of the layers"
    ),
)
def _(heads: Heads):
    by_layer = shows(_broad(heads), heads.whole).sum(axis=-1)
    return heads.counted_early("broad_heads", "broad heads", by_layer).above(0)


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
    measured = heads.measured(lambda it: it.of_heads("peak")[..., broad].mean(axis=-1))
    return heads.quantity("behaviour.broad.peak", label, measured).below(0.1)


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
    def less_broad(statistics: Statistics):
        limits = limit_of(_broad(heads), statistics.uniform)
        return statistics.of_layers("entropy_cls")[..., -1] - limits[..., -1]

    def less_others(statistics: Statistics):
        by_layer = statistics.of_layers("entropy_cls")
        if by_layer.shape[-1] < 2:
            raise NoVerdictError("the model has one layer")
        return by_layer[..., -1:] - by_layer[..., :-1]

    name, label = "layers.entropy_cls.last_layer.less", f"mean {LABELS['entropy_cls']} in the last layer less the"
    return [
        heads.asked(f"{name}_broad", f"{label} limit of broad heads", less_broad, "nats").above(0),
        heads.asked(f"{name}_largest_other", f"{label} largest of another layer", less_others, "nats", -1).above(0),
        heads.mean("entropy_cls", "last_layer", less=("entropy", "last_layer")).above(0),
    ]


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
    label = "mean entropy from [CLS] beside that from all tokens, what they differ by in more than half of the layers"
    most = heads.measured(lambda it: sign * (it.ratio(*of) - 1), -(len(sign) // 2 + 1))
    return heads.quantity("layers.entropy_cls.beside_entropy", f"{label}, at most, as a share", most).below(0.1)


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


def _is_high(heads: Heads) -> np.ndarray:
    high = heads.whole.of_layers("sep") > HIGH
    if not high.any():
        raise NoVerdictError(f"in no layer is {LABELS['sep']} above {HIGH:g}")
    return high


def _ratio_where_high(
    heads: Heads, statistics: Statistics, above: str = "gradient.sep", below: str = "gradient.all"
) -> np.ndarray:
    return statistics.ratio(above, below)[..., _is_high(heads)].mean(axis=-1)


def _broad(heads: Heads) -> Behaviour:
    return next(behaviour for behaviour in heads.published.behaviours if behaviour.name == "broad")
