"""The figures of Guan et al. 2020, with our heads in them."""

from collections.abc import Callable, Mapping
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from headtypes.analyses.distances.features import SELF_AND_SPECIAL, read_head_features
from headtypes.analyses.maps import AttentionMaps
from headtypes.analyses.types.clustering import embed_heads, match_clusters, matched_clusters
from headtypes.analyses.types.partitions import Partition, order_types, read_partition
from headtypes.analyses.types.style import TypeStyle, scatter_types, type_labels, type_patches, type_styles
from headtypes.comparisons import models as tables
from headtypes.core.files import read_each
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.style import (
    ATTENTION_COLOURS,
    COLUMN,
    PAGE,
    PAGE_HEIGHT,
    SMALL,
    add_attention_bar,
    attention_scale,
    clipped,
    layer_ticks,
    legend_height,
    legend_key,
    save_figure,
    styled,
)
from headtypes.core.table_files import head_name, write_csv

_EXAMPLES = 2
# Types beside each other, at most.
_BESIDE = 4
# Inches: the room for tokens beside the first map of a row and below the last of a column, between columns, a map's
# side, its title, a type's name with its strip of colour.
_TOKENS, _APART, _MAP, _TITLE, _NAME = 0.48, 0.06, 1.55, 0.17, 0.27
# Inches: a box plot, what stands below it, and the scale of grey at the foot.
_BOX, _BELOW, _FOOT = 1.15, 0.55, 0.18
_BLOCK = _NAME + _EXAMPLES * (_TITLE + _MAP) + _TOKENS + _TITLE + _BOX + _BELOW
# Points: of `maps.LEGIBLE_TOKENS`, each has its label.
_TOKEN = 6.0
# Letters of a token that have room there.
_LETTERS = 8
# Labels from below upwards, on one line whatever letters they have.
_UPRIGHT = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center_baseline", "fontsize": _TOKEN}
# Bins that have their number below them, at most.
_NUMBERED = 16
_TOKENS_AS_SHOWN = {"cls": "[CLS]", "sep": "[SEP]"}
_COLUMNS = "distance bin (0: the nearest), the token itself, special tokens"


def typical_heads(partition: Partition, type_name: str) -> np.ndarray:
    """Return (layer, head), from 0, of the two heads of a type with the largest silhouette: [head, 2] int."""
    heads = partition.table[partition.table["type"] == type_name]
    first = heads.sort_values("silhouette", ascending=False, kind="stable", na_position="last")
    return first[["layer", "head"]].to_numpy()[:_EXAMPLES]


def _column_labels(columns: int) -> list[str]:
    bins = columns - len(SELF_AND_SPECIAL)
    step = -(-bins // _NUMBERED)
    numbers = [str(bin) if bin % step == 0 else "" for bin in range(bins)]
    return [*numbers, *(_TOKENS_AS_SHOWN.get(name, name) for name in SELF_AND_SPECIAL)]


@styled
def heads_figure(maps: AttentionMaps, features: np.ndarray, partition: Partition) -> Figure:
    """Draw Figure 1, a column for each type: maps of its two typical heads, and a box plot of its heads' features.

    features: [layer * head, column] shares of attention by distance bin, to the token itself and to special tokens.
    """
    labels, styles = type_labels(partition), type_styles(partition.types)
    height = _BLOCK * -(-len(labels) // _BESIDE) + _FOOT
    figure = Figure(figsize=(PAGE, height))
    by_head = features.reshape(*partition.shape, -1)
    for number, (name, label) in enumerate(labels.items()):
        block, column = divmod(number, _BESIDE)
        left, top = _TOKENS + column * (_MAP + _APART), block * _BLOCK
        colour = styles[name].colour
        strip = Rectangle((left / PAGE, 1 - (top + 0.06) / height), _MAP / PAGE, 0.05 / height, color=colour, lw=0)
        figure.add_artist(strip)
        middle = (left + _MAP / 2) / PAGE
        figure.text(middle, 1 - (top + 0.18) / height, label, ha="center", va="center", fontsize=7.5, weight="bold")
        typical = typical_heads(partition, name)
        for row, (layer, head) in enumerate(typical):
            axes = _add_axes(figure, left, top + _NAME + row * (_TITLE + _MAP) + _TITLE, _MAP, _MAP)
            image = draw_map(axes, maps.attention[layer, head], maps.tokens, _MAP)
            axes.tick_params(labelleft=column == 0, labelbottom=row == len(typical) - 1)
            axes.set_title(f"head {head_name(layer, head)}", pad=2.5, fontsize=SMALL)
        heads = by_head[partition.type_of == name]
        axes = _add_axes(figure, left, top + _BLOCK - _BELOW - _BOX, _MAP, _BOX)
        _draw_boxes(axes, heads, colour)
        axes.set(ylim=(0, 1.03 * features.max()))
        axes.tick_params(axis="y", labelleft=column == 0)
        axes.set_title(f"{len(heads)} of {partition.type_of.size} heads", pad=2.5, fontsize=SMALL)
        if column == 0:
            axes.set_ylabel("share of attention", labelpad=2)
            foot = 1 - (top + _BLOCK - 0.06) / height
            figure.text(_TOKENS / PAGE, foot, _COLUMNS, ha="left", va="center", fontsize=SMALL)
    add_attention_bar(figure, image, (1 - 1.3 / PAGE, 0.15 / height, 1.2 / PAGE, 0.07 / height))
    return figure


def draw_map(axes: Axes, attention: np.ndarray, tokens: list[str], inches: float) -> AxesImage:
    """Draw a head's attention [query, key] on axes `inches` wide, and as many of the tokens as there is room for."""
    image = axes.imshow(attention, cmap=ATTENTION_COLOURS, norm=attention_scale(), interpolation="auto")
    # Every token has a label, or every second, third, ..., as fits; and so has the last, at which heads often look.
    step = max(1, int(np.ceil(len(tokens) * _TOKEN / (inches * 72 * 1.1))))
    shown = [*range(0, len(tokens) - step, step), len(tokens) - 1]
    texts = [clipped(tokens[index], _LETTERS) for index in shown]
    axes.set_xticks(shown, texts, **_UPRIGHT)
    axes.set_yticks(shown, texts, fontsize=_TOKEN)
    axes.tick_params(length=1.5, pad=1, width=0.4)
    axes.spines[:].set_visible(True)
    return image


def _add_axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    whole = figure.get_figheight()
    return figure.add_axes((left / PAGE, 1 - (top + height) / whole, width / PAGE, height / whole))


def _draw_boxes(axes: Axes, features: np.ndarray, colour: str) -> None:
    columns = features.shape[1]
    axes.boxplot(
        features,
        positions=range(columns),
        widths=0.7,
        patch_artist=True,
        boxprops={"facecolor": colour, "linewidth": 0.4},
        medianprops={"color": "black", "linewidth": 0.9},
        whiskerprops={"linewidth": 0.5},
        capprops={"linewidth": 0.5},
        flierprops={"marker": ".", "markersize": 2, "markerfacecolor": "0.4", "markeredgecolor": "none"},
    )
    axes.set_xticks(range(columns), _column_labels(columns), **_UPRIGHT)
    axes.set_xlim(-0.7, columns - 0.3)
    axes.tick_params(pad=1)


# Inches around the maps: numbers and axis labels at the left and below, the gap to the legend above.
_LEFT, _AXIS, _ABOVE = 0.42, 0.44, 0.1
# Shares of a cell: the side of its map, and the width of the frame around it, which covers none of it.
_MAP_SHARE, _FRAME_SHARE = 0.86, 0.045


@styled
def projection_figure(places: pd.DataFrame, partition: Partition) -> Figure:
    """Draw Figure 2: each head in the colour and marker of its type; places: its layer, head, and coordinates x, y."""
    figure = Figure(figsize=(COLUMN, 2.8 + legend_height(type_labels(partition), 2)), layout="constrained")
    axes = figure.subplots()
    scatter_types(axes, places, partition, 14)
    axes.set(xticks=[], yticks=[], xlabel="t-SNE, first coordinate", ylabel="t-SNE, second coordinate")
    axes.set_aspect("equal", adjustable="datalim")
    axes.spines[["top", "right"]].set_visible(True)
    figure.legend(loc="outside upper center", ncols=2, handletextpad=0.2, columnspacing=1)
    return figure


@styled
def layers_figure(partition: Partition) -> Figure:
    """Draw Figure 3: for each layer, from 1, a stacked column of the numbers of heads of each type."""
    layers, heads = partition.shape
    labels, styles = type_labels(partition), type_styles(partition.types)
    figure = Figure(figsize=(COLUMN, 2.1 + legend_height(labels, 2)), layout="constrained")
    axes = figure.subplots()
    _stack_types(axes.bar, "bottom", partition, styles, width=0.84, lw=0.5)
    axes.set(xlabel="layer", ylabel="heads", ylim=(0, heads), xlim=(0.4, layers + 0.6))
    axes.set_xticks(layer_ticks(layers))
    axes.yaxis.get_major_locator().set_params(integer=True)
    figure.legend(
        handles=type_patches(styles, labels), loc="outside upper center", ncols=2, handlelength=1.2, columnspacing=1
    )
    return figure


@styled
def atlas_figure(maps: AttentionMaps, partition: Partition) -> Figure:
    """Draw Figure 5: the attention of every head on one sample, framed in its type's colour; a row for each layer."""
    layers, heads = partition.shape
    labels, styles = type_labels(partition), type_styles(partition.types)
    around = _ABOVE + legend_height(labels, _LEGEND_COLUMNS) + _AXIS
    cell = min((PAGE - _LEFT) / heads, (PAGE_HEIGHT - around) / layers)
    width, height = PAGE, around + cell * layers
    figure = Figure(figsize=(width, height))
    left = (width - _LEFT - cell * heads) / 2 + _LEFT
    axes = figure.add_axes((left / width, _AXIS / height, cell * heads / width, cell * layers / height))
    for layer, head in np.ndindex(layers, heads):
        corner = head - _MAP_SHARE / 2, layer - _MAP_SHARE / 2
        image = axes.imshow(
            maps.attention[layer, head],
            extent=(corner[0], corner[0] + _MAP_SHARE, corner[1] + _MAP_SHARE, corner[1]),
            cmap=ATTENTION_COLOURS,
            norm=attention_scale(),
            interpolation="auto",
        )
        image.set_gid(f"map-{head_name(layer, head)}")
        style = styles[partition.type_of[layer, head]]
        axes.add_patch(
            Rectangle(
                (corner[0] - _FRAME_SHARE / 2, corner[1] - _FRAME_SHARE / 2),
                _MAP_SHARE + _FRAME_SHARE,
                _MAP_SHARE + _FRAME_SHARE,
                fill=False,
                edgecolor=style.colour,
                linestyle=style.dashes,
                linewidth=72 * cell * _FRAME_SHARE,
                gid=f"frame-{head_name(layer, head)}",
            )
        )
    axes.set(xlim=(-0.5, heads - 0.5), ylim=(layers - 0.5, -0.5), aspect="auto", xlabel="head", ylabel="layer")
    axes.set_xticks(range(heads), range(1, heads + 1))
    axes.set_yticks(range(layers), range(1, layers + 1))
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)
    keys = [
        legend_key(color=styles[name].colour, ls=styles[name].dashes, lw=2, label=label)
        for name, label in labels.items()
    ]
    _add_legend(figure, keys, left, handlelength=2.5, columnspacing=1)
    right = (left + cell * heads) / width
    add_attention_bar(figure, image, (right - 1.25 / width, 0.15 / height, 1.2 / width, 0.07 / height))
    return figure


def run_partition(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    features, shape = read_head_features(inputs.features, **spec["features"])
    maps, partition = read_arrays(inputs.maps, AttentionMaps), read_partition(inputs.partition)
    places = embed_heads(features, shape, spec["seed"])
    write_csv(outputs.places, places)
    save_figure(heads_figure(maps, features, partition), outputs.pdf_1, outputs.png_1, provenance)
    save_figure(projection_figure(places, partition), outputs.pdf_2, outputs.png_2, provenance)
    save_figure(layers_figure(partition), outputs.pdf_3, outputs.png_3, provenance)
    save_figure(atlas_figure(maps, partition), outputs.pdf_5, outputs.png_5, provenance)


# Inches of a panel: the numbers of its layers, the gap to the strip of kept clusters, the strip, the gap to the next.
_NUMBERS, _GAP, _STRIP, _BETWEEN = 0.34, 0.05, 0.34, 0.08
# Inches of a layer, of a panel of few layers and of many; of a line of words; between rows of panels.
_LAYER, _NARROW_LAYER, _FEW, _LINE, _ROWS_APART = 0.17, 0.118, 12, 0.125, 0.1
_LEGEND_COLUMNS = 4
# Width of a digit as a share of the lettering's size.
_DIGIT = 0.64
# Letters of a title and of a note above a panel that have room, by inch.
_TITLE_LETTERS, _NOTE_LETTERS = 17, 21
_GREY = "0.35"
# Numbers in the middle of a bar's height, whatever digits they have.
_MIDDLE = {"va": "center_baseline"}


@styled
def models_figure(partitions: Mapping[str, Partition], parents: Mapping[str, str | None]) -> Figure:
    """Draw Figure 4, a panel for each model: for each layer a bar, divided into the numbers of heads of each type.

    parents: {model: the model it was fine-tuned from, or None}. Beside the bars is each layer's percent of heads in
    the same cluster as in the parent (matched by heads). A bold note lists types whose cluster has another name there.
    """
    models, parents = list(partitions), {name: parents[name] for name in partitions if parents[name] in partitions}
    labels = {name: name for name in order_types(name for partition in partitions.values() for name in partition.types)}
    styles = type_styles(labels)
    columns = 2 if len(models) in (2, 4) else min(3, len(models))
    rows = [models[start : start + columns] for start in range(0, len(models), columns)]
    width = PAGE / max(columns, 2)
    bars = width - _NUMBERS - _GAP - _STRIP - _BETWEEN
    titles = {model: wrap(model, int(_TITLE_LETTERS * width)) for model in models}
    notes = {model: _notes(model, partitions, parents.get(model), bars) for model in models}
    # The head of a strip takes the line of the last note.
    lines = {model: len(titles[model]) + max(model in parents, len(notes[model])) for model in models}
    above = [_LINE * max(lines[model] for model in row) + 0.06 for row in rows]
    tall = [max(_tallness(partitions[model]) for model in row) for row in rows]
    legend = legend_height(labels, _LEGEND_COLUMNS) + 0.08
    figure = Figure(figsize=(PAGE, legend + sum(above) + sum(tall) + _ROWS_APART * len(rows)))
    top = legend
    for row, words, inches in zip(rows, above, tall, strict=True):
        for column, model in enumerate(row):
            partition, parent = partitions[model], partitions.get(parents.get(model))
            left, tallness = column * width + _NUMBERS, _tallness(partition)
            axes = _add_axes(figure, left, top + words, bars, tallness)
            _draw_layers(axes, partition, styles, bars)
            if column == 0:
                axes.set_ylabel("layer", labelpad=2)
            texts = [(line, {"fontsize": 7.5}) for line in titles[model]] + notes[model]
            for number, (line, look) in enumerate(texts, start=1):
                place = 1 + (words - _LINE * number) / tallness
                axes.text(0, place, line, transform=axes.transAxes, va="baseline", **look)
            if parent:
                strip = _add_axes(figure, left + bars + _GAP, top + words, _STRIP, tallness)
                _draw_kept(strip, 100 * matched_clusters(partition, parent).mean(axis=1))
        top += words + inches + _ROWS_APART
    patches = type_patches(styles, labels)
    _add_legend(figure, patches, _NUMBERS, handlelength=1.2, columnspacing=1.5, borderaxespad=0)
    return figure


def _add_legend(figure: Figure, handles: list, left: float, **look) -> None:
    place = {"loc": "upper left", "bbox_to_anchor": ((left - 0.05) / PAGE, 1), "ncols": _LEGEND_COLUMNS}
    figure.legend(handles=handles, borderpad=0.2, **place, **look)


def _tallness(partition: Partition) -> float:
    layers = partition.shape[0]
    return layers * (_LAYER if layers <= _FEW else _NARROW_LAYER)


def _notes(
    model: str, partitions: Mapping[str, Partition], parent: str | None, inches: float
) -> list[tuple[str, dict]]:
    partition, renamed, doubts = partitions[model], [], []
    if parent:
        match = match_clusters(partition, partitions[parent])
        exchanged = {ours for ours, theirs in match.items() if ours != theirs and match.get(theirs) == ours}
        if exchanged:
            renamed.append(f"names exchanged: {', '.join(order_types(exchanged))}")
        renamed += [f"{ours} was {match[ours]}" for ours in match if ours not in exchanged and ours != match[ours]]
    if doubtful := partition.doubtful:
        doubts.append("doubtful: " + ("all types" if doubtful == partition.types else ", ".join(doubtful)))
    bold, grey = {"fontsize": SMALL, "weight": "bold"}, {"fontsize": 6, "color": _GREY}
    return [
        (line, look)
        for notes, look, room in ((renamed, bold, 0.75), (doubts, grey, 1))
        for note in notes
        for line in wrap(note, int(room * _NOTE_LETTERS * inches))
    ]


def _draw_layers(axes: Axes, partition: Partition, styles: Mapping[str, TypeStyle], inches: float) -> None:
    layers, heads = partition.shape
    # The largest size at which the number of a single head fits into its part of a bar.
    size = float(np.clip(72 * inches / heads / _DIGIT, 5, SMALL))
    for name, layer, start, number in _stack_types(axes.barh, "left", partition, styles, height=0.86, lw=0.4):
        if number and len(str(number)) * _DIGIT * size <= 72 * inches * number / heads:
            colour = ink(styles[name].colour)
            axes.text(start + number / 2, layer, str(number), ha="center", fontsize=size, color=colour, **_MIDDLE)
    axes.set(xlim=(0, heads), xticks=[], ylim=(layers + 0.5, 0.5), yticks=range(1, layers + 1))
    axes.tick_params(axis="y", length=0, pad=1)
    axes.spines[:].set_visible(False)


def _stack_types(
    draw: Callable, start: str, partition: Partition, styles: Mapping[str, TypeStyle], **look
) -> list[tuple[str, int, int, int]]:
    parts, ends = [], np.zeros(partition.shape[0], dtype=int)
    layers = np.arange(1, len(ends) + 1)
    for name in partition.types:
        count, style = (partition.type_of == name).sum(axis=1), styles[name]
        look |= {"color": style.colour, "hatch": style.hatch, "ec": "white", "label": name}
        draw(layers, count, **{start: ends}, **look)
        parts += [(name, *part) for part in zip(layers, ends, count, strict=True)]
        ends = ends + count
    return parts


def _draw_kept(axes: Axes, percent: np.ndarray) -> None:
    layers = np.arange(1, len(percent) + 1)
    axes.barh(layers, percent, height=0.86, color="0.85", label="kept")
    for layer, value in zip(layers, percent, strict=True):
        axes.text(97, layer, f"{value:.0f}", ha="right", fontsize=SMALL, **_MIDDLE)
    axes.set(xlim=(0, 100), xticks=[], yticks=[], ylim=(len(layers) + 0.5, 0.5))
    axes.text(100, 0.4, "kept, %", ha="right", va="bottom", fontsize=6, color=_GREY)
    axes.spines[:].set_visible(False)


def ink(colour: str) -> str:
    """Return "white" or "black", whichever contrasts more with a colour `#rrggbb`."""
    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"


def run_models(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    partitions = read_each(read_partition, inputs.partitions)
    parents = {name: spec["parents"][name] for name in partitions}
    pairs = tables.list_pairs(parents, spec["models"])
    compared = tables.pairs_table(pairs, partitions)
    write_csv(outputs.csv, tables.parents_table(compared))
    write_csv(outputs.layers, tables.type_layers_table(partitions, parents))
    write_csv(outputs.pairs, compared)
    write_csv(outputs.types, tables.types_table(pairs, partitions))
    write_csv(outputs.heads, tables.shared_heads_table(pairs, partitions))
    save_figure(models_figure(partitions, parents), outputs.pdf, outputs.png, provenance)
