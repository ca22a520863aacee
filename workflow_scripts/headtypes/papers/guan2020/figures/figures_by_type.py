"""Figures 2, 3 and 5: the heads of a model by type, in two dimensions (t-SNE), by layer, and the attention of each."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.maps.results import AttentionMaps
from headtypes.analyses.types.clustering import embed_heads
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import scatter_types, type_labels, type_patches, type_styles
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.heads import head_name
from headtypes.core.style import (
    ATTENTION_COLOURS,
    COLUMN,
    PAGE,
    PAGE_HEIGHT,
    add_attention_bar,
    attention_scale,
    layer_ticks,
    legend_height,
    legend_key,
    save_figure,
    styled,
)
from headtypes.core.table_files import write_csv
from headtypes.papers.guan2020.figures.figure1 import heads_figure

# Inches around the maps: numbers and axis labels at the left and below, the gap to the legend above.
_LEFT, _BELOW, _ABOVE = 0.42, 0.44, 0.1
# Shares of a cell: the side of its map, and the width of the frame around it, which covers none of it.
_MAP, _FRAME = 0.86, 0.045
_LEGEND_COLUMNS = 4


@styled
def projection_figure(places: pd.DataFrame, partition: Partition) -> Figure:
    """Draw each head at its place (`clustering.embed_heads`), each type in its colour and with its marker."""
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
    """Draw a stacked column per layer (counted from 1): how many heads of each type it has."""
    layers, heads = partition.shape
    labels, styles = type_labels(partition), type_styles(partition.types)
    figure = Figure(figsize=(COLUMN, 2.1 + legend_height(labels, 2)), layout="constrained")
    axes = figure.subplots()
    below = np.zeros(layers, dtype=int)
    for name in labels:
        count = (partition.type_of == name).sum(axis=1)
        look = styles[name]
        axes.bar(
            np.arange(1, layers + 1),
            count,
            bottom=below,
            width=0.84,
            color=look.colour,
            hatch=look.hatch,
            ec="white",
            lw=0.5,
            label=name,
        )
        below += count
    axes.set(xlabel="layer", ylabel="heads", ylim=(0, heads), xlim=(0.4, layers + 0.6))
    axes.set_xticks(layer_ticks(layers))
    axes.yaxis.get_major_locator().set_params(integer=True)
    figure.legend(
        handles=type_patches(styles, labels), loc="outside upper center", ncols=2, handlelength=1.2, columnspacing=1
    )
    return figure


@styled
def atlas_figure(maps: AttentionMaps, partition: Partition) -> Figure:
    """Draw every head's map, queries downwards, in its type's frame: layers downwards, heads to the right, from 1."""
    layers, heads = partition.shape
    labels, styles = type_labels(partition), type_styles(partition.types)
    around = _ABOVE + legend_height(labels, _LEGEND_COLUMNS) + _BELOW
    cell = min((PAGE - _LEFT) / heads, (PAGE_HEIGHT - around) / layers)
    width, height = PAGE, around + cell * layers
    figure = Figure(figsize=(width, height))
    left = (width - _LEFT - cell * heads) / 2 + _LEFT
    axes = figure.add_axes((left / width, _BELOW / height, cell * heads / width, cell * layers / height))
    for layer, head in np.ndindex(layers, heads):
        corner = head - _MAP / 2, layer - _MAP / 2
        image = axes.imshow(
            maps.attention[layer, head],
            extent=(corner[0], corner[0] + _MAP, corner[1] + _MAP, corner[1]),
            cmap=ATTENTION_COLOURS,
            norm=attention_scale(),
            interpolation="auto",
        )
        image.set_gid(f"map-{head_name(layer, head)}")
        style = styles[partition.type_of[layer, head]]
        axes.add_patch(
            Rectangle(
                (corner[0] - _FRAME / 2, corner[1] - _FRAME / 2),
                _MAP + _FRAME,
                _MAP + _FRAME,
                fill=False,
                edgecolor=style.colour,
                linestyle=style.dashes,
                linewidth=72 * cell * _FRAME,
                gid=f"frame-{head_name(layer, head)}",
            )
        )
    axes.set(xlim=(-0.5, heads - 0.5), ylim=(layers - 0.5, -0.5), aspect="auto", xlabel="head", ylabel="layer")
    axes.set_xticks(range(heads), range(1, heads + 1))
    axes.set_yticks(range(layers), range(1, layers + 1))
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)
    figure.legend(
        handles=[
            legend_key(color=styles[name].colour, ls=styles[name].dashes, lw=2, label=label)
            for name, label in labels.items()
        ],
        loc="upper left",
        bbox_to_anchor=((left - 0.05) / width, 1),
        ncols=_LEGEND_COLUMNS,
        handlelength=2.5,
        columnspacing=1,
        borderpad=0.2,
    )
    right = (left + cell * heads) / width
    add_attention_bar(figure, image, (right - 1.25 / width, 0.15 / height, 1.2 / width, 0.07 / height))
    return figure


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    features, shape = read_head_features(inputs.features, **spec["features"])
    maps, partition = read_arrays(inputs.maps, AttentionMaps), read_partition(inputs.partition)
    places = embed_heads(features, shape, spec["seed"])
    write_csv(outputs.places, places)
    save_figure(heads_figure(maps, features, partition), outputs.pdf_1, outputs.png_1, provenance)
    save_figure(projection_figure(places, partition), outputs.pdf_2, outputs.png_2, provenance)
    save_figure(layers_figure(partition), outputs.pdf_3, outputs.png_3, provenance)
    save_figure(atlas_figure(maps, partition), outputs.pdf_5, outputs.png_5, provenance)
