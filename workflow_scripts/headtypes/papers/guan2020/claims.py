"""The claims of sections 4 and 5: what heads look at, how they cluster, and what a model answers without some of them.

The places of types are judged beside permutations of the layers with all their heads, since heads of a layer are alike.
Claims on answers depend on how the paper's text on ablation is read. Their numbers are those of the paper's conditions;
what is done to all types but one rests on that one's name alone.

Sentences that no claim decides: how many heads are of each type (the paper compares no shares); diagonal heads "appear
at almost all layers" (so do as many heads wherever they lie); t-SNE "clearly demonstrates four clusters" (a picture;
four was chosen by it, and is not said to be the best number); four clusters are "human interpretable" and three or five
are not; what the heads of each type look at, but for the "medium values" of diagonal, since the names are given by it
and doubtful where it does not fit; "a strong clustering behavior across different layers" (of what, beyond the types'
places, is not said); that the method is "applicable and scalable"; why question answering needs dense_vertical heads;
that the accuracy is "descent" where diagonal heads alone handle what passes inside sentences (16), and the one that it
reaches where dense_vertical heads alone attend to others (19): how much is enough is a judgement, and the values stand
beside the paper's.
"""

from functools import partial
from itertools import combinations

import numpy as np

from headtypes.analyses.types.names import MIXTURES, TYPES
from headtypes.core.statistics import ALPHA, Measured
from headtypes.papers.claims import Claims, NoVerdictError, Quantity, beside_permuted_layers, in_each_reading, join
from headtypes.papers.guan2020.quantities import Model, beyond_others, by_thirds

# How the paper's words for a loss become numbers: the percentage of the baseline's exact match that is left. These are
# our choice, not the paper's. They scale with the baseline, because other models have other baselines. Each published
# score that they are applied to stays clear of its limit by more than a point.
INOPERATIVE, POOR, STILL_WORKS, COSTS_LITTLE = 10, 25, 50, 95

of_heads, of_answers = Claims("heads"), Claims("answers")
section_4 = of_heads.at("section 4")
figure_4 = of_heads.at("section 4, Figure 4")
table_2 = of_answers.at("section 5.1, Table 2")
table_3 = of_answers.at("section 5.2, Table 3")


of_heads(
    "patterns-differ",
    place="abstract",
    text="There are gaps between heads, as no single cloud has.",
    wording="we clearly cluster the attention heatmaps into significantly different patterns",
    limit=(
        "no test is named; the dip (Hartigan and Hartigan 1985) of the heads along a line, and of the lengths of paths "
        "between them, is beyond that of any cloud with one peak, such as a band, an arc or a skewed one"
    ),
    ask=lambda model: [
        model.quantity(f"dips.{name}", f"dip {label} in percent, less that of one peak", unit="points").above(0)
        for name, label in (("line", "of heads along a line"), ("paths", "of the lengths of paths between heads"))
    ],
)

section_4(
    "patterns-consistent",
    text="Heads have the same pattern on most inputs.",
    wording="an attention head shows a consistent weight pattern across different input samples",
    limit=(
        "no number is given; how often a head on one input is nearest to the cluster of the head is above 0.6 of what "
        "chance leaves, above which Landis and Koch (1977) call agreement substantial"
    ),
    ask=lambda model: model.consistency().above(0.6),
)

of_heads(
    "types-stable",
    place="section 4, Table 1",
    text="All clusterings of random halves agree on more than 95 percent of the heads.",
    wording="over 95% attention heads are clustered stably",
    limit=(
        'the paper\'s; its stability counts what "is consistent on all models"; it does not say what was '
        "halved, so that heads, samples and pairs of both are; decided where all agree"
    ),
    ask=lambda model: in_each_reading({half: value.above(95) for half, value in model.stability(4).items()}),
)

for number, k in (("three", 3), ("five", 5)):
    section_4(
        f"{number}-clusters-stable",
        text=f"Clustering is stable with {number} clusters, too.",
        wording="stable clustering results with 3 or 5 clusters",
        limit="that which the paper calls stable for four clusters, 95 percent",
        ask=lambda model, k=k: in_each_reading({half: value.above(95) for half, value in model.stability(k).items()}),
    )


@section_4(
    "mixture-similar",
    text="A Gaussian mixture gives clusters like those of k-means.",
    wording="we also get similar results",
    limit=(
        "no number is given; the adjusted Rand index is above 0.65, below which Steinley (2004) calls agreement poor, "
        "with any covariances of the mixture (diagonal, spherical, one for all clusters, full): the paper does not say "
        "which"
    ),
)
def _(model: Model):
    model.check_number_of_types()
    label = "adjusted Rand index of k-means and a mixture"
    found = {form: model.quantity(f"mixture_agreement.{form}", f"{label}, {form}") for form in MIXTURES.values()}
    return in_each_reading({form: index.above(0.65) for form, index in found.items()})


@section_4(
    "diagonal-medium-special",
    types=TYPES,
    text=(
        "Diagonal heads attend to special tokens more than dense ones, and less than dense_vertical and vertical ones."
    ),
    wording="medium values in the special tokens",
    limit='between the "relatively small" ones of dense and the "large" ones of dense_vertical and vertical',
)
def _(model: Model):
    special = model.of_kind("special")
    if not set(TYPES) <= special.keys():
        raise NoVerdictError("attention to special tokens is not known by type")
    difference = min(special["diagonal"] - special["dense"], *(special[key] - special["diagonal"] for key in TYPES[2:]))
    label = (
        "percent of attention to special tokens, diagonal beside dense (above it) and dense_vertical and vertical "
        "(below them), the smallest difference"
    )
    return Quantity(label, Measured(difference), unit="points").above(0)


for name, heads, part, wording in (
    ("dense", "Dense heads", "first", "the beginning layers"),
    ("dense_vertical", "The heads called dense_vertical", "middle", "middle layers"),
    ("vertical", "Vertical heads", "last", "higher layers"),
):
    of_heads(
        f"{name}-{part}-layers",
        place="section 4, Figure 3",
        types=(name,),
        text=f"{heads} are mainly in the {part} layers.",
        wording=f"mainly appear at {wording}",
        limit=f"more of them in the {part} third of the layers than in either other, beyond permutations of the layers",
        ask=lambda model, name=name, part=part: model.in_third(name, part).above(0),
    )


@figure_4(
    "clusters-kept-in-fine-tuning",
    text="Fine-tuning leaves many heads in the cluster in which they are in the pre-trained model.",
    wording="many heads have the same cluster after fine-tuning process",
    limit=(
        "no number is given; more than permutations of the heads' types within their layers give, since unrelated "
        "clusters of unequal size share most heads, the more where types lie in layers; clusters are matched between "
        "the models, since names of refitted ones swap"
    ),
)
def _(model: Model):
    kept = model.quantity("kept", "percent of the heads that are in their parent's cluster")
    label = f"{kept.label} ({kept.measured}) less what permutations give"
    return model.quantity("kept_beyond_chance", label, unit="points").above(0)


@figure_4(
    "changes-in-last-layers",
    basis="inferred",
    text="The heads that change their cluster in fine-tuning are mainly in the last layers.",
    wording="some heads in the highest layers also change",
    limit=(
        "a larger share of the heads in the last third of the layers than in either other third, beyond permutations "
        'of the layers; the paper does not say that fewer change elsewhere, but that "higher layers are '
        'more relevant to task specific knowledge"'
    ),
)
def _(model: Model):
    if model.quantity("kept", "").measured.value == 100:
        raise NoVerdictError("no head changed its cluster")
    heads = model.layout(model.types).sum(axis=0)
    percent = {int(layer): percent for layer, percent in model.of_kind("changed").items()}
    changed = np.rint(heads * [percent[layer] / 100 for layer in sorted(percent)]).astype(int)

    def beyond(changed: np.ndarray) -> np.ndarray:
        return beyond_others(100 * by_thirds(changed) / by_thirds(heads), "last")

    label = "percent of the heads in the last third of layers that changed, less the most in another third"
    return beside_permuted_layers(label, beyond, changed, "points").above(0)


@figure_4(
    "models-alike",
    types=TYPES,
    text="The types are distributed over the layers similarly in all four models.",
    wording="all the four models share similar head type distribution",
    limit=(
        "no number is given; between any two models the numbers of heads by layer, each type's mean over the layers "
        "taken off, correlate more than with permutations of the layers of one"
    ),
)
def _(model: Model):
    layouts = model.of_family(model.published.rows, TYPES)
    if len({layout.shape for layout in layouts.values()}) > 1:
        raise NoVerdictError("the models differ in their layers, or some have further types")
    label = "correlation of the numbers of heads by layer and type in {} and {}"
    return [
        beside_permuted_layers(label.format(*pair), partial(_correlation, layouts[pair[1]]), layouts[pair[0]]).above(0)
        for pair in combinations(layouts, 2)
    ]


@figure_4(
    "dense_vertical-last-layer",
    types=("dense_vertical",),
    text=(
        "The last layer has more dense_vertical heads in the pre-trained model and that for SQuAD than in those for "
        "MRPC and MNLI."
    ),
    wording="have more dense&vertical types at highest layer",
    limit=(
        "more heads in each of the two than in each of the others, beyond permutations of the layers of all four, "
        "which tell one layer from others if there are more than 40"
    ),
)
def _(model: Model):
    more, than = ("pre-trained", "squad"), ("mrpc", "mnli")
    layouts = model.of_family([*more, *than], ["dense_vertical"])
    heads = join(f"{name} {layout[0, -1]}" for name, layout in layouts.items())
    if (layers := layouts[more[0]].shape[-1]) * ALPHA <= 2:
        raise NoVerdictError(f"dense_vertical in the last of {layers} layers: no permutation tells one from the others")

    def difference(heads: np.ndarray) -> np.ndarray:
        return heads[..., : len(more), -1].min(axis=-1) - heads[..., len(more) :, -1].max(axis=-1)

    label = f"dense_vertical heads in the last layer: {heads}; the fewest of {join(more)} less the most of the others"
    return beside_permuted_layers(label, difference, np.stack([layout[0] for layout in layouts.values()])).above(0)


table_2(
    "zero-diagonal-breaks",
    types=("diagonal",),
    text="Without its diagonal heads the model hardly answers anything.",
    wording="makes the model totally inoperative",
    limit="less than 10 percent of the baseline's exact match is left (published, 5.5)",
    ask=lambda model: model.left(3, INOPERATIVE).below(0),
)

table_2(
    "zero-diagonal-costliest",
    types=TYPES,
    text="Leaving out the diagonal heads costs more than leaving out any other type.",
    wording="pruning all diagonal heads (3) makes the model totally inoperative, compared with (2, 4, 5)",
    limit="a larger drop than each of the others; nothing is said of their order",
    ask=lambda model: [model.drop(3, other).above(0) for other in (2, 4, 5)],
)

table_2(
    "zero-vertical-little",
    types=("vertical",),
    text="Leaving out the vertical heads costs less than 1.5 points of exact match.",
    wording="has less than 1.5% accuracy loss",
    limit="the paper's, in points of exact match, which is its accuracy",
    ask=lambda model: model.drop(5).below(1.5),
)

table_2(
    "zero-vertical-cheapest",
    types=TYPES,
    text="Leaving out the vertical heads costs less than leaving out any other type.",
    wording="Diagonal type is vital for BERT processing and vertical type is the opposite",
    limit="a smaller drop than each of the others",
    ask=lambda model: [model.drop(other, 5).above(0) for other in (2, 3, 4)],
)

of_answers(
    "dense_vertical-important",
    basis="inferred",
    place="section 5.2, Table 2",
    types=("dense", "dense_vertical", "vertical"),
    text="Leaving out the dense_vertical heads costs more than leaving out the dense or the vertical ones.",
    wording="After identifying the diagonal and dense & vertical types as the important heads",
    limit="a larger drop than without either of the two types that are not named; of diagonal, other claims speak",
    ask=lambda model: [model.drop(4, other).above(0) for other in (2, 5)],
)

table_2(
    "keeping-dense_vertical-better",
    types=("dense", "dense_vertical", "vertical"),
    text="Beside diagonal heads, keeping dense_vertical ones is better than keeping dense ones.",
    wording="Keeping dense&vertical type (6) together results in a better accuracy",
    limit="a smaller drop without dense and vertical (6) than without dense_vertical and vertical (7)",
    ask=lambda model: model.drop(7, 6).above(0),
)

table_2(
    "uniform-dense-little",
    types=("dense",),
    text="Uniform attention in the dense heads costs less than 10 percent of exact match.",
    wording="results in accuracy loss of less than 10%",
    limit=(
        "the paper's, in points or in percent of the baseline, of which more than 90 percent of it is left then "
        "(published, 90.1); decided where both agree"
    ),
    ask=lambda model: in_each_reading({"points": model.drop(8).below(10), "percent": model.left(8, 90).above(0)}),
)

table_2(
    "uniform-vertical-works",
    types=("vertical",),
    text="With uniform attention in the vertical heads an exact match of more than 50 percent is left.",
    wording="also has an accuracy of over 50%",
    limit=(
        "the paper's, in percent of all questions, or more than 50 percent of the baseline's exact match, since models "
        "differ in their baselines (published, 64.2); decided where both agree"
    ),
    ask=lambda model: in_each_reading(
        {"questions": model.score(11).above(50), "baseline": model.left(11, STILL_WORKS).above(0)}
    ),
)

table_2(
    "uniform-dense_vertical-costs",
    types=("dense", "dense_vertical", "vertical"),
    text=(
        "Uniform attention in the dense_vertical heads leaves less than half of the baseline's exact match, and costs "
        "more than in the dense or the vertical ones."
    ),
    wording="has a significant accuracy loss",
    limit=(
        "less than 50 percent of the baseline's exact match is left (published, 11.0), and a larger drop than with "
        'dense and with vertical heads, from whose losses "However" sets it off (of the latter, "over 50%" are left)'
    ),
    ask=lambda model: [*(model.drop(10, other).above(0) for other in (8, 11)), model.left(10, STILL_WORKS).below(0)],
)

table_2(
    "zero-dense-little",
    basis="from_table",
    types=("dense",),
    text="Leaving out the dense heads costs little.",
    limit="more than 95 percent of the baseline's exact match is left (published, 96.5)",
    ask=lambda model: model.left(2, COSTS_LITTLE).above(0),
)

table_2(
    "zero-dense_vertical-and-vertical-costlier",
    basis="from_table",
    types=("dense_vertical", "vertical"),
    text="Leaving out dense_vertical and vertical heads together costs more than their two losses add up to.",
    limit="a larger drop than the sum of the two (published, 25.98 and 10.95)",
    ask=lambda model: model.drop(7, 4, 5).above(0),
)

table_2(
    "uniform-diagonal-breaks",
    basis="from_table",
    types=("diagonal",),
    text="With uniform attention in its diagonal heads the model hardly answers anything.",
    limit="less than 10 percent of the baseline's exact match is left (published, 1.5)",
    ask=lambda model: model.left(9, INOPERATIVE).below(0),
)

for id_, name, uniform, zero, drops in (
    ("uniform-dense-costlier", "dense", 8, 2, "8.17 and 2.93"),
    ("uniform-dense_vertical-costlier", "dense_vertical", 10, 4, "73.72 and 9.52"),
    ("uniform-vertical-costlier", "vertical", 11, 5, "29.68 and 1.43"),
):
    table_2(
        id_,
        basis="from_table",
        types=(name,),
        text=f"Uniform attention in the {name} heads is worse than no {name} heads.",
        limit=f"a larger drop (published, {drops})",
        ask=lambda model, conditions=(uniform, zero): model.drop(*conditions).above(0),
    )

table_3(
    "drop_intra-diagonal-breaks",
    types=("diagonal",),
    text="Without attention inside sentences in its diagonal heads the model answers poorly.",
    wording="leads to a poor accuracy",
    limit=(
        "no number is given; less than 25 percent of the baseline's exact match is left, or less than 50 percent of it "
        "(published, 20.5); decided where both agree"
    ),
    ask=lambda model: in_each_reading(
        {"a quarter": model.left(12, POOR).below(0), "half": model.left(12, STILL_WORKS).below(0)}
    ),
)

table_3(
    "drop_inter-diagonal-little",
    types=("diagonal",),
    text="Taking attention between sentences from the diagonal heads costs little.",
    wording="removing inter-sentence part (13) has little interference",
    limit="more than 95 percent of the baseline's exact match is left (published, 99.3)",
    ask=lambda model: model.left(13, COSTS_LITTLE).above(0),
)

table_3(
    "diagonal-intra-over-inter",
    types=("diagonal",),
    text=(
        "In the diagonal heads attention inside sentences matters more than attention between them, which hardly "
        "matters."
    ),
    wording="This proves that diagonal type focus on short distance information",
    limit=(
        "a larger drop without the one (12) than without the other (13), which leaves more than 95 percent of the "
        "baseline's exact match (published, 99.3)"
    ),
    ask=lambda model: [model.drop(12, 13).above(0), model.left(13, COSTS_LITTLE).above(0)],
)

table_3(
    "dense_vertical-inter-mostly",
    types=("diagonal", "dense_vertical"),
    text="The dense_vertical heads carry most of what passes between sentences, and more than the diagonal ones do.",
    wording="the BERT model accesses to long distance information with dense&vertical mostly",
    limit=(
        "a larger drop where the diagonal heads alone attend to other sentences (17) than where these do (19), and "
        "more than 50 percent of the baseline's exact match is left where these do (published, 91.2); the paper lets "
        "neither dense nor vertical heads do so alone"
    ),
    ask=lambda model: [model.drop(17, 19).above(0), model.left(19, STILL_WORKS).above(0)],
)

table_3(
    "diagonal-intra-mostly",
    types=("diagonal", "dense_vertical"),
    text="The diagonal heads carry most of what passes inside sentences, and more than the dense_vertical ones do.",
    wording="diagonal and dense & vertical type are responsible for local and global information respectively",
    limit=(
        "a larger drop where the dense_vertical heads alone attend inside sentences (18) than where these do (16), and "
        "more than 50 percent of the baseline's exact match is left where these do (published, 86.7); the paper lets "
        "neither dense nor vertical heads do so alone"
    ),
    ask=lambda model: [model.drop(18, 16).above(0), model.left(16, STILL_WORKS).above(0)],
)

table_3(
    "dense_vertical-inter-over-intra",
    basis="inferred",
    types=("dense_vertical",),
    text="In the dense_vertical heads attention between sentences matters more than attention inside them.",
    wording="absorb information globally from other sentences",
    limit="a larger drop without the one (15) than without the other (14), which the paper does not compare",
    ask=lambda model: model.drop(15, 14).above(0),
)


def _correlation(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    ours, theirs = (counts - counts.mean(axis=-1, keepdims=True) for counts in (ours, theirs))
    lengths = [np.sqrt((counts**2).sum(axis=(-2, -1))) for counts in (ours, theirs)]
    return (ours * theirs).sum(axis=(-2, -1)) / np.maximum(lengths[0] * lengths[1], np.finfo(float).tiny)
