"""Figures 2 and 3: the heads of a model by type, in two dimensions (t-SNE) and by layer."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import scatter_types, type_labels, type_patches, type_styles
from headtypes.core.style import COLUMN, layer_ticks, legend_height, styled


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
