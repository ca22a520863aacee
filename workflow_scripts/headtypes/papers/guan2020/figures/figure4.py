"""Figure 4: the types of several models layer by layer, and what fine-tuning left of the parent's clusters."""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.analyses.types.matching import match_clusters, matched_clusters
from headtypes.analyses.types.partitions import Partition, order_types, read_partition
from headtypes.analyses.types.style import TypeStyle, type_patches, type_styles
from headtypes.comparisons.models.compared import (
    list_pairs,
    pairs_table,
    parents_table,
    shared_heads_table,
    type_layers_table,
    types_table,
)
from headtypes.core.files import read_each
from headtypes.core.style import PAGE, SMALL, legend_height, save_figure, styled
from headtypes.core.table_files import write_csv

# Inches of a panel: the numbers of its layers, the gap to the strip of kept clusters, the strip, the gap to the next.
_NUMBERS, _GAP, _STRIP, _BESIDE = 0.34, 0.05, 0.34, 0.08
# Inches of a layer, of a panel of few layers and of many; of a line of words; between rows of panels.
_LAYER, _NARROW_LAYER, _FEW, _LINE, _APART = 0.17, 0.118, 12, 0.125, 0.1
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
    """Draw a panel per model, with a row of it per layer.

    partitions: by model, in the order in which they are drawn, line by line.
    parents:    by model, the one that it was fine-tuned from, if that is drawn, too.
    A panel's numbers are heads; its strip, where the model has a parent, the percent of each layer's heads that keep
    their cluster. Above it stand, in bold, the clusters whose name differs from that of the parent's cluster they are
    matched with, and the types whose name is doubtful in this model.
    """
    models, parents = list(partitions), {name: parents[name] for name in partitions if parents[name] in partitions}
    labels = {name: name for name in order_types(name for partition in partitions.values() for name in partition.types)}
    styles = type_styles(labels)
    columns = 2 if len(models) in (2, 4) else min(3, len(models))
    rows = [models[start : start + columns] for start in range(0, len(models), columns)]
    width = PAGE / max(columns, 2)
    bars = width - _NUMBERS - _GAP - _STRIP - _BESIDE
    titles = {model: wrap(model, int(_TITLE_LETTERS * width)) for model in models}
    notes = {model: _notes(model, partitions, parents.get(model), bars) for model in models}
    # The head of a strip takes the line of the last note.
    lines = {model: len(titles[model]) + max(model in parents, len(notes[model])) for model in models}
    above = [_LINE * max(lines[model] for model in row) + 0.06 for row in rows]
    tall = [max(_tallness(partitions[model]) for model in row) for row in rows]
    legend = legend_height(labels, _LEGEND_COLUMNS) + 0.08
    figure = Figure(figsize=(PAGE, legend + sum(above) + sum(tall) + _APART * len(rows)))
    top = legend
    for row, words, inches in zip(rows, above, tall, strict=True):
        for column, model in enumerate(row):
            partition, parent = partitions[model], partitions.get(parents.get(model))
            left, tallness = column * width + _NUMBERS, _tallness(partition)
            axes = _place(figure, left, top + words, bars, tallness)
            _draw_layers(axes, partition, styles, bars)
            if column == 0:
                axes.set_ylabel("layer", labelpad=2)
            texts = [(line, {"fontsize": 7.5}) for line in titles[model]] + notes[model]
            for number, (line, look) in enumerate(texts, start=1):
                place = 1 + (words - _LINE * number) / tallness
                axes.text(0, place, line, transform=axes.transAxes, va="baseline", **look)
            if parent:
                strip = _place(figure, left + bars + _GAP, top + words, _STRIP, tallness)
                _draw_kept(strip, 100 * matched_clusters(partition, parent).mean(axis=1))
        top += words + inches + _APART
    figure.legend(
        handles=type_patches(styles, labels),
        loc="upper left",
        bbox_to_anchor=((_NUMBERS - 0.05) / PAGE, 1),
        ncols=_LEGEND_COLUMNS,
        handlelength=1.2,
        columnspacing=1.5,
        borderpad=0.2,
        borderaxespad=0,
    )
    return figure


def _place(figure: Figure, left: float, top: float, width: float, tall: float) -> Axes:
    height = figure.get_figheight()
    return figure.add_axes((left / PAGE, 1 - (top + tall) / height, width / PAGE, tall / height))


def _tallness(partition: Partition) -> float:
    layers = partition.shape[0]
    return layers * (_LAYER if layers <= _FEW else _NARROW_LAYER)


def _notes(
    model: str, partitions: Mapping[str, Partition], parent: str | None, inches: float
) -> list[tuple[str, dict]]:
    """Return lines above a panel, with their look: in bold, the clusters that have other names than in the parent."""
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
    """Draw a stacked bar per layer, from the top, with the number of heads of each type."""
    layers, heads = partition.shape
    numbers, left = np.arange(1, layers + 1), np.zeros(layers)
    # As large as the number of a single head has room for.
    size = float(np.clip(72 * inches / heads / _DIGIT, 5, SMALL))
    for name in partition.types:
        count, look = (partition.type_of == name).sum(axis=1), styles[name]
        axes.barh(
            numbers, count, left=left, height=0.86, color=look.colour, hatch=look.hatch, ec="white", lw=0.4, label=name
        )
        for layer, start, number in zip(numbers, left, count, strict=True):
            if number and len(str(number)) * _DIGIT * size <= 72 * inches * number / heads:
                ink = _ink(look.colour)
                axes.text(start + number / 2, layer, str(number), ha="center", fontsize=size, color=ink, **_MIDDLE)
        left += count
    axes.set(xlim=(0, heads), xticks=[], ylim=(layers + 0.5, 0.5), yticks=numbers)
    axes.tick_params(axis="y", length=0, pad=1)
    axes.spines[:].set_visible(False)


def _draw_kept(axes: Axes, percent: np.ndarray) -> None:
    layers = np.arange(1, len(percent) + 1)
    axes.barh(layers, percent, height=0.86, color="0.85", label="kept")
    for layer, value in zip(layers, percent, strict=True):
        axes.text(97, layer, f"{value:.0f}", ha="right", fontsize=SMALL, **_MIDDLE)
    axes.set(xlim=(0, 100), xticks=[], yticks=[], ylim=(len(layers) + 0.5, 0.5))
    axes.text(100, 0.4, "kept, %", ha="right", va="bottom", fontsize=6, color=_GREY)
    axes.spines[:].set_visible(False)


def _ink(colour: str) -> str:
    parts = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    partitions = read_each(read_partition, inputs.partitions)
    parents = {name: spec["parents"][name] for name in partitions}
    pairs = list_pairs(parents, spec["models"])
    compared = pairs_table(pairs, partitions)
    write_csv(outputs.csv, parents_table(compared))
    write_csv(outputs.layers, type_layers_table(partitions, parents))
    write_csv(outputs.pairs, compared)
    write_csv(outputs.types, types_table(pairs, partitions))
    write_csv(outputs.heads, shared_heads_table(pairs, partitions))
    save_figure(models_figure(partitions, parents), outputs.pdf, outputs.png, provenance)
