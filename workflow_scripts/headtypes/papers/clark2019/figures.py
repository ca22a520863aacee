"""The figures of Clark et al. 2019, with our heads in them."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headtypes.analyses.coreference.accuracy import read_coreference
from headtypes.analyses.coreference.mentions import CANDIDATES
from headtypes.analyses.divergence.results import read_projection, read_projection_fit
from headtypes.analyses.gradients.results import ATTENDED, Gradients, read_gradients
from headtypes.analyses.maps import Examples
from headtypes.analyses.relations.accuracy import chosen_and_scored_on_file, read_best_heads
from headtypes.analyses.surface.measure import Surface
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import frame_projection, scatter_heads, scatter_types
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.style import PAGE, PALETTE, SMALL, clipped, layer_ticks, legend_key, save_figure, styled
from headtypes.core.table_files import head_name
from headtypes.data.tasks import MEASURES
from headtypes.papers.clark2019.claims.statistics import (
    Statistics,
    behaviours_of,
    published_statistics,
    whole_statistics,
)
from headtypes.papers.clark2019.published import Clark2019, our_relation

# The width, in layers, over which dots of several series are spread within a layer.
_SPREAD = 0.5
_BLUE, _VERMILION, _SKY, _PURPLE, _ORANGE, _GREEN = PALETTE[:6]


class Series(NamedTuple):
    """A statistic of heads and how it is drawn; width: of the line through the layers' means, in points, 0 for none."""

    statistic: str
    label: str
    colour: str
    marker: str
    width: float = 1.1


# {title of a panel: its series}. The first token stands in where a model has no [CLS].
_SHARES = {
    "special tokens": [
        Series("cls", "[CLS]", _VERMILION, "o"),
        Series("first", "first token", _VERMILION, "o"),
        Series("sep", "[SEP]", _BLUE, "s"),
        Series("punctuation", ". or ,", _PURPLE, "^"),
    ],
    "[SEP]": [
        Series("other_to_sep", "others to [SEP]", _BLUE, "s"),
        Series("sep_to_sep", "[SEP] to [SEP]", _GREEN, "D"),
    ],
    "neighbours": [
        Series("previous", "previous token", _BLUE, "<", width=0),
        Series("next", "next token", _VERMILION, ">", width=0),
        Series("self", "token itself", _PURPLE, "o", width=0),
    ],
}
_ENTROPIES = {
    "all tokens": [Series("entropy", "all tokens", _BLUE, "o")],
    "from [CLS]": [Series("entropy_cls", "from [CLS]", _VERMILION, "o")],
}
# The paper has no line of its own for [CLS], which other models use as BERT uses [SEP].
_GRADIENTS = (
    Series("all", "to all tokens", "0.25", "o"),
    Series("sep", "to [SEP]", _BLUE, "s"),
    Series("punctuation", "to . or ,", _PURPLE, "^"),
    Series("cls", "to [CLS]", _VERMILION, "D"),
)
_PUBLISHED = {"color": "0.5", "lw": 4, "alpha": 0.35, "label": "published means"}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOSSES = {
    "masked_words": "loss of masked words",
    "next_token": "loss of the next token",
    **{kind: f"loss on {counted}" for kind, (_, counted) in MEASURES.items()},
}


@styled
def surface_figure(statistics: Statistics, published: Statistics | None) -> Figure:
    """Draw Figure 2, shares of attention that go to kinds of tokens: dots for heads, lines for the layers' means.

    published: the paper's means, drawn as wide pale lines if its model has as many layers; None for no such lines.
    """
    published = _of_same_depth(published, statistics)
    figure = Figure(figsize=(PAGE, 2.5), layout="constrained")
    for axes, shown in _panels(figure, _SHARES, statistics, published, pad=26):
        axes.set(ylim=(-0.02, 1.02))
        keys = [
            legend_key(color=one.colour, marker=one.marker, ms=3, mew=0, lw=one.width, label=one.label) for one in shown
        ]
        if published is not None and any(one.statistic in published.layers for one in shown):
            keys.append(legend_key(**_PUBLISHED))
        _add_legend_above(axes, handles=keys, columnspacing=0.9, handletextpad=0.4)
    figure.axes[0].set_ylabel("share of attention")
    return figure


@styled
def gradient_figure(gradients: Gradients) -> Figure:
    """Draw Figure 3, two panels by layer: the mean m over heads of |dLoss / dA|, and m / (m of all tokens).

    A is the attention to tokens of one kind; each kind has a line.
    """
    figure = Figure(figsize=(PAGE, 0.7 if gradients.loss is None else 2.2), layout="constrained")
    if gradients.loss is None:
        _say(figure.subplots(), f"No gradients: the model {gradients.reason}.")
        return figure
    values, ratios = figure.subplots(1, 2)
    by_kind = dict(zip(ATTENDED, np.mean(gradients.values, axis=1).T, strict=True))
    layers = np.arange(1, len(by_kind["all"]) + 1)
    power = int(np.floor(np.log10(np.nanmax(by_kind["all"]) or 1.0)))
    shown = [one for one in _GRADIENTS if not np.isnan(by_kind[one.statistic]).any()]
    for kind, label, colour, marker, width in shown:
        look = {"color": colour, "marker": marker, "ms": 3, "mew": 0, "lw": width, "gid": kind, "label": label}
        values.plot(layers, by_kind[kind] / 10.0**power, **look)
        ratios.plot(layers, by_kind[kind] / by_kind["all"], **look)
    for axes in (values, ratios):
        _number_layers(axes, len(layers))
        axes.set_ylim(bottom=0)
    unit = "" if power == 0 else f" / 10{str(power).translate(_SUPERSCRIPT)}"
    values.set_ylabel(f"mean |∂L/∂A|{unit}")
    values.set_title(_LOSSES[gradients.loss], loc="left")
    ratios.set_ylabel("ratio to all tokens")
    ratios.set_title("divided by the mean over all tokens", loc="left")
    _add_legend(figure, values.lines)
    return figure


@styled
def entropy_figure(statistics: Statistics, published: Statistics | None) -> Figure:
    """Draw Figure 4, the entropy of attention in nats: dots for heads, lines for layers' means and uniform attention.

    published: the paper's means, drawn as wide pale lines if its model has as many layers; None for no such lines.
    """
    published = _of_same_depth(published, statistics)
    figure = Figure(figsize=(PAGE, 2.3), layout="constrained")
    layers, uniform = len(statistics.uniform), statistics.uniform
    dashed = {"color": "black", "lw": 0.9, "ls": (0, (4, 2))}
    for axes, _ in _panels(figure, _ENTROPIES, statistics, published):
        axes.plot([0.5, *range(1, layers + 1), layers + 0.5], np.pad(uniform, 1, mode="edge"), gid="uniform", **dashed)
        axes.set_ylim(-0.03 * uniform.max(), 1.08 * uniform.max())
    figure.axes[0].set_ylabel("entropy of attention (nats)")
    keys = [
        legend_key(color="0.35", marker="o", ms=3, mew=0, lw=0, label="head"),
        legend_key(color="0.35", lw=1.1, label="mean of the layer"),
        legend_key(label="uniform attention", **dashed),
    ]
    _add_legend(figure, keys if published is None else [*keys, legend_key(**_PUBLISHED)])
    return figure


def _say(axes: Axes, sentence: str) -> None:
    axes.text(0.5, 0.5, sentence, transform=axes.transAxes, ha="center", va="center", color="0.35", wrap=True)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _add_legend_above(axes: Axes, **how) -> None:
    pads = {"borderpad": 0.1, "borderaxespad": 0.1, "labelspacing": 0.25}
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, handlelength=1.4, **pads, **how)


def _of_same_depth(published: Statistics | None, statistics: Statistics) -> Statistics | None:
    return None if published is None or len(published.uniform) != len(statistics.uniform) else published


def _panels(
    figure: Figure,
    series: Mapping[str, Sequence[Series]],
    statistics: Statistics,
    published: Statistics | None,
    pad: float | None = None,
) -> Iterator[tuple[Axes, list[Series]]]:
    layers = np.arange(1, len(statistics.uniform) + 1)
    for axes, (title, of_panel) in zip(figure.subplots(1, len(series), sharey=True), series.items(), strict=True):
        axes.set_title(title, loc="left", pad=pad)
        shown = [one for one in of_panel if one.statistic in statistics.heads]
        if "cls" in statistics.heads:
            shown = [one for one in shown if one.statistic != "first"]
        if not shown:
            _say(axes, statistics.missing[of_panel[0].statistic])
            continue
        for index, (name, _, colour, marker, width) in enumerate(shown):
            if published is not None and name in published.layers:
                pale = {"lw": 4, "alpha": 0.25, "solid_capstyle": "round", "zorder": 1}
                axes.plot(layers, published.layers[name], color=colour, gid=f"published-{name}", **pale)
            heads, shift = statistics.heads[name], _SPREAD * ((index + 0.5) / len(shown) - 0.5)
            dots = {"ls": "", "ms": 2.2, "mew": 0, "alpha": 0.65, "zorder": 2, "gid": f"heads-{name}"}
            axes.plot(np.repeat(layers + shift, heads.shape[1]), heads.ravel(), color=colour, marker=marker, **dots)
            if width:
                axes.plot(layers, statistics.layers[name], color=colour, lw=width, zorder=3, gid=f"mean-{name}")
        _number_layers(axes, len(layers))
        yield axes, shown


def _number_layers(axes: Axes, layers: int) -> None:
    axes.set_xticks(layer_ticks(layers))
    axes.set(xlabel="layer", xlim=(0.5, layers + 0.5))


def _add_legend(figure: Figure, keys: Sequence[Line2D]) -> None:
    figure.legend(handles=keys, loc="outside upper right", ncols=len(keys), columnspacing=1.2, handletextpad=0.5)


def run_surface(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Clark2019.read(inputs.reference)
    ours = whole_statistics(read_arrays(inputs.surface, Surface), None, published)
    theirs = published_statistics(published) if spec["beside"] else None
    save_figure(surface_figure(ours, theirs), outputs.pdf_2, outputs.png_2, provenance)
    save_figure(entropy_figure(ours, theirs), outputs.pdf_4, outputs.png_4, provenance)


def run_gradients(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    save_figure(gradient_figure(read_gradients(inputs.gradients)), outputs.pdf, outputs.png, provenance)


# {pattern: (title of its panel, why a model may lack it)}.
_PATTERNS = {
    "broad": ("broadest", "not measured"),
    "next": ("most to the next token", "no token looks\nat the next one"),
    "sep": ("most to [SEP]", "the input has\nno [SEP]"),
    "punctuation": ("most to . and ,", "not measured"),
}
COREFERENCE = "coreference"
# Relations in Figure 5 by the paper's names, with a head's behaviour in words for both directions: a word looks at its
# head in the tree, or the head looks at the word.
_DOES = {
    "dobj": ("objects\nlook at their verbs", "verbs\nlook at their objects"),
    "det": ("determiners\nlook at their nouns", "nouns\nlook at their determiners"),
    "poss": ("possessors\nlook at what is theirs", "words\nlook at their possessors"),
    "auxpass": ("passive auxiliaries\nlook at their verbs", "verbs look at their\npassive auxiliaries"),
    "pobj": ("objects\nlook at their prepositions", "prepositions\nlook at their objects"),
    COREFERENCE: ("mentions\nlook at their antecedents", ""),
}
_PANELS = 4
# Letters of a token and of a word that have room beside a panel.
_TOKEN_LETTERS, _WORD_LETTERS = 11, 12
# Inches of a token's line and of the titles of a row of sentences, and points of a token's letters.
_TOKEN_LINE, _TITLES, _TOKEN_SIZE = 0.125, 0.72, 6.2


class BestHead(NamedTuple):
    """The attention head that is best at a phenomenon: the paper's name of a relation, or `COREFERENCE`.

    layer, head: from 0. direction: "dependent_to_head" if a dependent looks at its syntactic head, "head_to_dependent"
    if the syntactic head looks at the dependent, "" for coreference. accuracy: percent of words with the relation, or
    of mentions, for which the attention head's guess is right.
    """

    phenomenon: str
    layer: int
    head: int
    direction: str
    accuracy: float


def best_of_relations(table: pd.DataFrame) -> Iterator[BestHead]:
    """Yield the best head of each relation of Figure 5 that is in `table`, the result of `read_best_heads`."""
    rows = chosen_and_scored_on_file(table).set_index(["annotation", "relation"])
    for relation in _DOES:
        if (name := our_relation(relation)) in rows.index:
            row = rows.loc[name]
            yield BestHead(relation, int(row["layer"]), int(row["head"]), row["direction"], float(row["accuracy"]))


def best_of_mentions(table: pd.DataFrame) -> BestHead:
    best = table[(table["system"] == "best_head") & (table["candidates"] == CANDIDATES[0])]
    row = best[(best["type"] == "all") & (best["chosen"] == "documents")].iloc[0]
    return BestHead(COREFERENCE, int(row["layer"]), int(row["head"]), "", float(row["accuracy"]))


class SentenceMap(NamedTuple):
    """The attention of the best head for a relation or coreference, among the words of one sentence or passage.

    words: the words that are shown, with special tokens. attention: [word that looks, word that is looked at].
    marked: indices in `words` of words that have the relation, or are head words of mentions.
    """

    best: BestHead
    words: list[str]
    marked: list[int]
    attention: np.ndarray


@styled
def examples_figure(examples: Examples) -> Figure:
    """Draw Figure 1: for each pattern, such as "broad", lines between tokens for the attention of its best head."""
    figure = Figure(figsize=(PAGE, 0.65 + _TOKEN_LINE * len(examples.tokens)), layout="constrained")
    for axes, (pattern, (title, why)) in zip(figure.subplots(1, len(_PATTERNS)), _PATTERNS.items(), strict=True):
        if pattern not in examples.patterns:
            axes.set_title(title, fontsize=7.5)
            _say(axes, why)
            continue
        number = examples.patterns.index(pattern)
        _draw_map(axes, examples.tokens, examples.attention[number], _TOKEN_LETTERS, pattern)
        # Dots stand for the tokens before those shown, as in the paper.
        if not examples.begins:
            _write_beside(axes, -1, "⋯")
        axes.set(xlim=(-0.75, 1.75), ylim=(len(examples.tokens) - 0.5, -1.5))
        axes.set_title(f"head {head_name(*examples.heads[number])}\n{title}", fontsize=7.5)
        mean = "mean entropy: {:.2f} nats" if pattern == "broad" else "mean attention: {:.2f}"
        axes.set_xlabel(mean.format(examples.value[number]), labelpad=1)
    return figure


@styled
def sentences_figure(maps: Sequence[SentenceMap]) -> Figure:
    """Draw Figure 5, a panel for each sentence: lines from words to words, as dark as the attention."""
    rows = [maps[start : start + _PANELS] for start in range(0, len(maps), _PANELS)]
    if not rows:
        figure = Figure(figsize=(PAGE, 1), layout="constrained")
        _say(figure.subplots(), "On no sentence of a few words is the best head right.")
        return figure
    heights = [_TITLES + _TOKEN_LINE * max(len(shown.words) for shown in row) for row in rows]
    figure = Figure(figsize=(PAGE, sum(heights)), layout="constrained")
    panels = figure.subplots(len(rows), _PANELS, squeeze=False, height_ratios=heights)
    for row, of_row in zip(rows, panels, strict=True):
        longest = max(len(shown.words) for shown in row)
        for axes, (best, words, marked, attention) in zip(of_row, row, strict=False):
            _draw_map(axes, words, attention, _WORD_LETTERS, best.phenomenon, {*marked})
            axes.set(xlim=(-0.95, 1.95), ylim=(longest - 0.5, -0.8))
            does = _DOES[best.phenomenon][best.direction == "head_to_dependent"]
            said = f"head {head_name(best.layer, best.head)}\n{does}\n{best.phenomenon}: {best.accuracy:.1f} %"
            axes.set_title(said, fontsize=7)
        for axes in of_row[len(row) :]:
            axes.set_axis_off()
    return figure


def _draw_map(
    axes: Axes, words: Sequence[str], attention: np.ndarray, letters: int, name: str, marked: Set[int] = frozenset()
) -> None:
    for is_marked, colour in enumerate(PALETTE[: 1 + bool(marked)]):
        pairs = [pair for pair in np.ndindex(attention.shape) if bool(marked & {*pair}) == is_marked]
        lines = [((0, query), (1, key)) for query, key in pairs]
        look = {"alpha": [float(attention[pair].clip(0, 1)) for pair in pairs], "zorder": 1 + is_marked}
        gid = f"{name}-{'marked' if is_marked else 'others'}"
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=1, gid=gid, **look))
    for index, word in enumerate(words):
        how = {"color": PALETTE[1], "fontweight": "bold"} if index in marked else {}
        _write_beside(axes, index, clipped(word, letters), **how)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _write_beside(axes: Axes, index: int, label: str, **how) -> None:
    for x, side in ((-0.06, "right"), (1.06, "left")):
        axes.text(x, index, label, ha=side, va="center", fontsize=_TOKEN_SIZE, **how)


def run_examples(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    save_figure(examples_figure(read_arrays(inputs.examples, Examples)), outputs.pdf, outputs.png, provenance)


# Label, colour and marker of each behaviour; a second sign beside the colour, as everywhere.
_BEHAVIOURS = {
    "next": ("next token", PALETTE[1], ">"),
    "previous": ("previous token", PALETTE[0], "<"),
    "broad": ("broad", PALETTE[4], "^"),
    "cls": ("[CLS]", PALETTE[3], "D"),
    "sep": ("[SEP]", PALETTE[5], "s"),
    "punctuation": (". or ,", PALETTE[2], "P"),
}
# A cross for each relation of Clark's Figure 6, and one for coreference.
_CROSSES = ("x", "+", "1", "2", "3", "4")
_NONE = ("none of these", "0.7", ".")
_DOT = 13
_LEGEND = {"handletextpad": 0.1, "columnspacing": 0.6}
# Lengths that a bar of scale may have, in the unit of the projection.
_BARS = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
# Inches: a line of the legends; the side of a panel, the room at its left, between panels and below them; a title.
_LEGEND_LINE, _SIDE, _LEFT, _GAP, _BELOW, _TITLE = 0.15, 2.2, 0.03, 0.12, 0.28, 0.2


def phenomena_of_heads(relations: Sequence[StrPath], mentions: Sequence[StrPath]) -> dict[tuple[int, int], str]:
    best_heads = [best for path in relations[:1] for best in best_of_relations(read_best_heads(path))]
    best_heads += [best_of_mentions(read_coreference(path)) for path in mentions[:1]]
    heads: dict[tuple[int, int], list[str]] = {}
    for best in best_heads:
        heads.setdefault((best.layer, best.head), []).append(best.phenomenon)
    return {head: ", ".join(phenomena) for head, phenomena in heads.items()}


@styled
def divergence_figure(
    places: pd.DataFrame,
    summary: Mapping,
    behaviours: np.ndarray,
    partition: Partition | None,
    best: Mapping[tuple[int, int], str],
) -> Figure:
    """Draw Figure 6, heads in two dimensions: a panel by behaviour, one by layer and, with a partition, one by type.

    places, summary: coordinates of heads, and how well distances fit divergences; results of `project_heads`.
    behaviours: [layer, head] names, "" for none.
    best: {(layer, head), from 0: what the head is best at}, drawn as crosses.
    """
    kinds = max(len(set(behaviours.ravel())) + len(best), 0 if partition is None else len(partition.types))
    lines = -(-kinds // 2)
    above = _LEGEND_LINE * (lines + 0.5)
    height = _BELOW + _SIDE + above + _TITLE
    figure = Figure(figsize=(PAGE, height))
    panels = [
        figure.add_axes((left / PAGE, _BELOW / height, _SIDE / PAGE, _SIDE / height))
        for left in (_LEFT + index * (_SIDE + _GAP) for index in range(2 if partition is None else 3))
    ]
    _mark_behaviours(panels[0], places, behaviours, best)
    _mark_layers(figure, panels[1], places)
    if partition is not None:
        scatter_types(panels[2], places, partition, _DOT)
        _add_legend_above(panels[2], **_LEGEND)
    titles = ("by behaviour", "by layer", "by Guan's type")
    for axes, title in zip(panels, titles, strict=False):
        # Above the legend.
        axes.set_title(title, loc="left", pad=72 * above)
        half = frame_projection(axes, places)
    _add_bar(panels[0], half, "nats a row")
    figure.text(_LEFT / PAGE, 0.08 / height, _quality_of_fit(summary), fontsize=SMALL, ha="left", va="bottom")
    return figure


def _mark_behaviours(
    axes: Axes, places: pd.DataFrame, behaviours: np.ndarray, best: Mapping[tuple[int, int], str]
) -> None:
    of_head = behaviours[places["layer"], places["head"]]
    for name in ["", *_BEHAVIOURS]:
        label, colour, marker = _BEHAVIOURS.get(name, _NONE)
        # A dot is half as wide as other markers of its size.
        size = 2 * _DOT if marker == "." else _DOT
        scatter_heads(axes, places[of_head == name], colour, marker, label, size)
    for ((layer, head), what), marker in zip(best.items(), _CROSSES, strict=False):
        place = places[(places["layer"] == layer) & (places["head"] == head)]
        label = f"{what}: {head_name(layer, head)}"
        axes.scatter(place["x"], place["y"], s=26, c="black", marker=marker, lw=0.9, label=label, gid=label)
    _add_legend_above(axes, **_LEGEND)


def _mark_layers(figure: Figure, axes: Axes, places: pd.DataFrame) -> None:
    layers = int(places["layer"].max()) + 1
    colours = matplotlib.colormaps["viridis"].resampled(layers)
    for layer, heads in places.groupby("layer"):
        scatter_heads(axes, heads, colours(layer), "o", str(layer + 1), _DOT)
    scale = ScalarMappable(BoundaryNorm(np.arange(0.5, layers + 1), layers), colours)
    place, ticks = axes.inset_axes((0, 1.08, 1, 0.05)), layer_ticks(layers)
    bar = figure.colorbar(scale, cax=place, orientation="horizontal", ticks=ticks)
    bar.ax.tick_params(length=0, pad=1.5)
    bar.ax.minorticks_off()
    bar.outline.set_linewidth(0.5)


def _add_bar(axes: Axes, half: float, unit: str) -> None:
    length = next((bar for bar in _BARS if bar <= 0.6 * half), None)
    if length is None:
        return
    left, low = axes.get_xlim()[0] + 0.08 * half, axes.get_ylim()[0] + 0.1 * half
    axes.plot([left, left + length], [low, low], color="black", lw=1.2, solid_capstyle="butt", gid="scale")
    # Three points behind the bar.
    axes.text(left + length + 6 / (72 * _SIDE) * half, low, f"{length:g} {unit}", va="center", fontsize=SMALL)


def _quality_of_fit(summary: Mapping) -> str:
    layers, said = summary["layers"], {"stress": "stress-1", "correlation": "correlation of distances"}
    parts = [f"{label}: {summary[name]:.2f}" for name, label in said.items() if summary[name] is not None]
    if layers["difference"] is not None:
        parts.append(
            f"mean divergence within layers {layers['within']:.3f}, between {layers['between']:.3f} nats a row"
        )
    return "; ".join(parts)


def run_divergence(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Clark2019.read(inputs.reference)
    figure = divergence_figure(
        read_projection(inputs.projection),
        read_projection_fit(inputs.fit),
        behaviours_of(published.behaviours, whole_statistics(read_arrays(inputs.surface, Surface), None, published)),
        read_partition(inputs.partition) if inputs.partition else None,
        phenomena_of_heads(list(inputs.relations.values()), list(inputs.coreference.values())),
    )
    save_figure(figure, outputs.pdf, outputs.png, provenance)
