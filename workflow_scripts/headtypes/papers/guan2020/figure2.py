"""Figure 2: the heads' features in the plane (t-SNE), coloured by type."""

import pandas as pd
from matplotlib.figure import Figure

from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import scatter_types, type_labels
from headtypes.core.style import COLUMN, legend_height, styled


@styled
def projection_figure(places: pd.DataFrame, partition: Partition) -> Figure:
    """Draw each head at its place, each type in its colour and with its marker.

    places: one row per head, by layer and head, as `embedding.embed_heads` makes them.
    """
    figure = Figure(figsize=(COLUMN, 2.8 + legend_height(type_labels(partition), 2)), layout="constrained")
    axes = figure.subplots()
    scatter_types(axes, places, partition, 14)
    axes.set(xticks=[], yticks=[], xlabel="t-SNE, first coordinate", ylabel="t-SNE, second coordinate")
    axes.set_aspect("equal", adjustable="datalim")
    axes.spines[["top", "right"]].set_visible(True)
    figure.legend(loc="outside upper center", ncols=2, handletextpad=0.2, columnspacing=1)
    return figure
