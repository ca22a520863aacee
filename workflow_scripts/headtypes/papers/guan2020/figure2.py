"""Figure 2: the heads' features in the plane (t-SNE), coloured by type."""

import pandas as pd
from matplotlib.figure import Figure

from headtypes.figures.style import COLUMN, legend_height, styled, type_labels, type_styles
from headtypes.types.partitions import Partition


@styled
def projection_figure(places: pd.DataFrame, partition: Partition) -> Figure:
    """Draw each head at its place, each type in its colour and with its marker.

    places: one row per head, by layer and head, as `embedding.embed_heads` makes them.
    """
    labels, styles = type_labels(partition), type_styles(partition.types)
    figure = Figure(figsize=(COLUMN, 2.8 + legend_height(labels, 2)), layout="constrained")
    axes = figure.subplots()
    types = partition.type_of.reshape(-1)
    for name, label in labels.items():
        heads = places[types == name]
        axes.scatter(
            heads["x"],
            heads["y"],
            s=14,
            c=styles[name].colour,
            marker=styles[name].marker,
            lw=0.3,
            ec="white",
            label=f"{label}: {len(heads)}",
        )
    axes.set(xticks=[], yticks=[], xlabel="t-SNE, first coordinate", ylabel="t-SNE, second coordinate")
    axes.set_aspect("equal", adjustable="datalim")
    axes.spines[["top", "right"]].set_visible(True)
    figure.legend(loc="outside upper center", ncols=2, handletextpad=0.2, columnspacing=1)
    return figure
