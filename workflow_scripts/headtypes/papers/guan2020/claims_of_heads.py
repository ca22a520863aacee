"""The claims of section 4: what heads look at, how they cluster, and where their types are.

Sentences that no claim decides: t-SNE "clearly demonstrates four clusters" (a picture; four was chosen by it, and is
not said to be the best number); four clusters are "human interpretable" and three or five are not; what the heads of
each type look at, but for the "medium values" of diagonal, since the names are given by it and doubtful where it does
not fit; "a strong clustering behavior across different layers" (of what, beyond the types' places, is not said); that
the method is "applicable and scalable".

`types` are those whose names a claim rests on; clusters can be compared whatever they are called.
"""

import math
from collections.abc import Sequence
from itertools import combinations

from headtypes.analyses.types.names import MIXTURES, TYPES
from headtypes.papers.claims import Claims
from headtypes.papers.guan2020.model import Model, beyond_others, by_thirds, mean
from headtypes.papers.quantities import Measured, NoVerdictError, Quantity, in_each_reading, join

claim = Claims("heads")


@claim(
    "heads-consistent",
    place="section 4",
    text="A head looks at much the same on different samples.",
    wording="consistent weight pattern across different input samples",
    limit=(
        "no number is given; more than half of the pairs of a head and a sample are nearest to the head's own cluster, "
        "and more than the share of the largest cluster, the most that pairs of whatever head would reach"
    ),
)
def _(model: Model):
    label = "percent of the pairs of a head and a sample that are nearest to the head's cluster"
    own = model.known("own_cluster", "single samples were not compared with the clusters")
    beyond_chance = Measured(own.value - max(model.of_kind("share").values()))
    return [
        Quantity(label, own).above(50),
        Quantity("the same less the percent of heads in the largest cluster", beyond_chance).above(0),
    ]


@claim(
    "patterns-differ",
    place="abstract",
    text="Dividing the heads gains more than dividing points that are spread evenly over the same space.",
    wording="we clearly cluster the attention heatmaps into significantly different patterns",
    limit=(
        "no test is named; the gap statistic (Tibshirani et al. 2001), whose points are spread over the smallest box "
        "that holds the heads, is above that of a single cluster; heads along a curve would pass this, too"
    ),
)
def _(model: Model):
    gap = model.known("gap", "the division was not compared with points without clusters")
    return Quantity("gap statistic of the clusters less that of a single one", gap).above(0)


@claim(
    "types-stable",
    place="section 4, Table 1",
    text="All clusterings of random halves agree on more than 95 percent of the heads.",
    wording="over 95% attention heads are clustered stably",
    limit='the paper\'s; its stability counts what "is consistent on all models", whatever was halved',
)
def _(model: Model):
    return model.stability(4).above(95)


@claim(
    "three-clusters-stable",
    place="section 4",
    text="Clustering is stable with three clusters, too.",
    wording="stable clustering results with 3 or 5 clusters",
    limit="that which the paper calls stable for four clusters, 95 percent",
)
def _(model: Model):
    return model.stability(3).above(95)


@claim(
    "five-clusters-stable",
    place="section 4",
    text="Clustering is stable with five clusters, too.",
    wording="stable clustering results with 3 or 5 clusters",
    limit="that which the paper calls stable for four clusters, 95 percent",
)
def _(model: Model):
    return model.stability(5).above(95)


@claim(
    "mixture-similar",
    place="section 4",
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
    reason, label = "k-means was not compared with a Gaussian mixture", "adjusted Rand index of k-means and a mixture"
    known = {each: model.known(f"mixture_agreement.{each}", f"{reason} ({each})") for each in MIXTURES.values()}
    return in_each_reading({each: Quantity(f"{label}, {each}", index).above(0.65) for each, index in known.items()})


@claim(
    "diagonal-medium-special",
    place="section 4",
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
    return Quantity(label, Measured(min(differences))).above(0)


@claim(
    "dense_vertical-most-heads",
    basis="from_table",
    place="section 4",
    types=("dense_vertical",),
    text="More heads are dense_vertical than of any other type.",
    limit="the share is the largest; the paper gives the shares and does not compare them",
)
def _(model: Model):
    return model.share_beside_others("dense_vertical", max).above(0)


@claim(
    "vertical-fewest-heads",
    basis="from_table",
    place="section 4",
    types=("vertical",),
    text="Fewer heads are vertical than of any other type.",
    limit="the share is the smallest; the paper gives the shares and does not compare them",
)
def _(model: Model):
    return model.share_beside_others("vertical", min).below(0)


@claim(
    "dense-first-layers",
    place="section 4, Figure 3",
    types=("dense",),
    text="Dense heads are mainly in the first layers.",
    wording="mainly appear at the beginning layers",
    limit="more of them in the first third of the layers than in either other third",
)
def _(model: Model):
    return model.in_third("dense", "first").above(0)


@claim(
    "diagonal-nearly-all-layers",
    place="section 4, Figure 3",
    types=("diagonal",),
    text="Nearly all layers have diagonal heads.",
    wording="appear at almost all layers",
    limit="no number is given; more than 80 percent of the layers",
)
def _(model: Model):
    heads = model.heads_by_layer("diagonal")
    percent = 100 * sum(count > 0 for count in heads) / len(heads)
    return Quantity("percent of the layers that have diagonal heads", Measured(percent)).above(80)


@claim(
    "dense_vertical-middle-layers",
    place="section 4, Figure 3",
    types=("dense_vertical",),
    text="The heads called dense_vertical are mainly in the middle layers.",
    wording="mainly appear at middle layers",
    limit="more of them in the middle third of the layers than in either other third",
)
def _(model: Model):
    return model.in_third("dense_vertical", "middle").above(0)


@claim(
    "vertical-last-layers",
    place="section 4, Figure 3",
    types=("vertical",),
    text="Vertical heads are mainly in the last layers.",
    wording="mainly appear at higher layers",
    limit="more of them in the last third of the layers than in either other third",
)
def _(model: Model):
    return model.in_third("vertical", "last").above(0)


@claim(
    "clusters-kept-in-fine-tuning",
    place="section 4, Figure 4",
    text="Fine-tuning leaves many heads in the cluster in which they are in the pre-trained model.",
    wording="many heads have the same cluster after fine-tuning process",
    limit=(
        "no number is given; more than permutations of the heads' types give, since unrelated clusters of unequal size "
        "share most heads; clusters are matched between the models, since names of refitted ones swap"
    ),
)
def _(model: Model):
    kept = _kept(model)
    label = f"percent of the heads that are in their parent's cluster ({kept}) less what permutations give"
    return Quantity(label, model["kept_beyond_chance"]).above(0)


@claim(
    "changes-in-last-layers",
    basis="inferred",
    place="section 4, Figure 4",
    text="The heads that change their cluster in fine-tuning are mainly in the last layers.",
    wording="some heads in the highest layers also change",
    limit=(
        "a larger share of the heads in the last third of the layers than in either other third; the paper does not "
        'say that fewer change elsewhere, but that "higher layers are more relevant to task specific knowledge"'
    ),
)
def _(model: Model):
    if _kept(model).value == 100:
        raise NoVerdictError("no head changed its cluster")
    changed = {int(layer): percent for layer, percent in model.of_kind("changed").items()}
    thirds = {third: mean(some) for third, some in by_thirds([changed[layer] for layer in sorted(changed)]).items()}
    label = "percent of changed heads in the last third of layers less the most in another third"
    return Quantity(label, Measured(beyond_others(thirds, "last"))).above(0)


@claim(
    "models-alike",
    place="section 4, Figure 4",
    types=TYPES,
    text="The types are distributed over the layers similarly in all four models.",
    wording="all the four models share similar head type distribution",
    limit=(
        "no number is given; between any two models the numbers of heads by layer correlate above 0.5, which Cohen "
        "(1988) calls large, each type's mean over the layers taken off, so that unrelated layouts correlate at 0"
    ),
)
def _(model: Model):
    models = model.of_family(model.published.rows, TYPES)
    if len({len(layers) for of_model in models.values() for layers in of_model.values()}) > 1:
        raise NoVerdictError("the models have different numbers of layers")
    varied = {
        name: [count - mean(layers) for layers in of_model.values() for count in layers]
        for name, of_model in models.items()
    }
    alike = {pair: _cosine(varied[pair[0]], varied[pair[1]]) for pair in combinations(models, 2)}
    least = min(alike, key=alike.__getitem__)
    label = f"correlation of the numbers of heads by layer and type, the least ({join(least)})"
    return Quantity(label, Measured(alike[least])).above(0.5)


@claim(
    "dense_vertical-last-layer",
    place="section 4, Figure 4",
    types=("dense_vertical",),
    text=(
        "The last layer has more dense_vertical heads in the pre-trained model and that for SQuAD than in those for "
        "MRPC and MNLI."
    ),
    wording="have more dense&vertical types at highest layer",
    limit="more heads in each of the two than in each of the others",
)
def _(model: Model):
    more, than = ("pre-trained", "squad"), ("mrpc", "mnli")
    models = model.of_family([*more, *than], ["dense_vertical"])
    last = {name: of_model["dense_vertical"][-1] for name, of_model in models.items()}
    difference = min(last[name] for name in more) - max(last[name] for name in than)
    heads = join(f"{name} {count:g}" for name, count in last.items())
    label = f"dense_vertical heads in the last layer: {heads}; the fewest of {join(more)} less the most of the others"
    return Quantity(label, Measured(difference)).above(0)


def _kept(model: Model) -> Measured:
    return model.known("kept", "there is no parent to compare with")


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """0 where one of them does not vary."""
    length = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0
