"""The claims of section 4: what heads look at, how they cluster, and where their types are.

The places of types are judged beside permutations of the layers with all their heads, since heads of a layer are alike.

Sentences that no claim decides: how many heads are of each type (the paper compares no
shares); diagonal heads "appear at almost all layers" (so do as many heads wherever they lie); t-SNE "clearly
demonstrates four clusters" (a picture; four was chosen by it, and is not said to be the best number); four clusters are
"human interpretable" and three or five are not; what the heads of each type look at, but for the "medium values" of
diagonal, since the names are given by it and doubtful where it does not fit; "a strong clustering behavior across
different layers" (of what, beyond the types' places, is not said); that the method is "applicable and scalable".

`types` are those whose names a claim rests on; clusters can be compared whatever they are called.
"""

from functools import partial
from itertools import combinations

import numpy as np

from headtypes.analyses.types.names import MIXTURES, TYPES
from headtypes.core.statistics import ALPHA
from headtypes.papers.claims import (
    Claims,
    Finding,
    Measured,
    NoVerdictError,
    Quantity,
    beside_permuted_layers,
    in_each_reading,
    join,
)
from headtypes.papers.guan2020.quantities import Model, beyond_others, by_thirds

claim = Claims("heads")
section_4 = claim.at("section 4")
figure_4 = claim.at("section 4, Figure 4")


claim(
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

claim(
    "types-stable",
    place="section 4, Table 1",
    text="All clusterings of random halves agree on more than 95 percent of the heads.",
    wording="over 95% attention heads are clustered stably",
    limit=(
        'the paper\'s; its stability counts what "is consistent on all models"; it does not say what was '
        "halved, so that heads, samples and pairs of both are; decided where all agree"
    ),
    ask=lambda model: _stable(model, 4),
)

for number, k in (("three", 3), ("five", 5)):
    section_4(
        f"{number}-clusters-stable",
        text=f"Clustering is stable with {number} clusters, too.",
        wording="stable clustering results with 3 or 5 clusters",
        limit="that which the paper calls stable for four clusters, 95 percent",
        ask=lambda model, k=k: _stable(model, k),
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
    differences = [special["diagonal"] - special["dense"]]
    differences += [special[name] - special["diagonal"] for name in ("dense_vertical", "vertical")]
    label = (
        "percent of attention to special tokens, diagonal beside dense (above it) and dense_vertical and vertical "
        "(below them), the smallest difference"
    )
    return Quantity(label, Measured(min(differences)), unit="points").above(0)


for name, heads, part, wording in (
    ("dense", "Dense heads", "first", "the beginning layers"),
    ("dense_vertical", "The heads called dense_vertical", "middle", "middle layers"),
    ("vertical", "Vertical heads", "last", "higher layers"),
):
    claim(
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


def _stable(model: Model, k: int) -> list[Finding]:
    return in_each_reading({half: stability.above(95) for half, stability in model.stability(k).items()})


def _correlation(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    ours, theirs = (counts - counts.mean(axis=-1, keepdims=True) for counts in (ours, theirs))
    lengths = [np.sqrt((counts**2).sum(axis=(-2, -1))) for counts in (ours, theirs)]
    return (ours * theirs).sum(axis=(-2, -1)) / np.maximum(lengths[0] * lengths[1], np.finfo(float).tiny)
