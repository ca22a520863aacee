"""Figure 2: the heads' features in the plane, coloured by type."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from headtypes.figures.style import COLUMN, legend_height, styled, type_labels, type_styles
from headtypes.types.partitions import Partition


def project_heads(features: np.ndarray, seed: int) -> pd.DataFrame:
    """Lay the heads out in the plane so that neighbours stay neighbours (t-SNE, van der Maaten and Hinton 2008).

    features: [layer * head, column] head features, as they were clustered.
    seed:     0 to 2**32 - 1; equal seeds give equal places.
    returns   columns x and y, one row per head, without unit; distances between groups mean nothing.
    """
    perplexity = min(30.0, (len(features) - 1) / 3)
    # One thread: more would add up forces in an order that changes from run to run.
    with threadpool_limits(1):
        tsne = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=seed)
        return pd.DataFrame(tsne.fit_transform(features.astype(float)), columns=["x", "y"])


@styled
def projection_figure(places: pd.DataFrame, partition: Partition) -> Figure:
    """Draw the heads where `project_heads` put them, each type in its colour and its sign."""
    labels, styles = type_labels(partition), type_styles(partition.types)
    figure = Figure(figsize=(COLUMN, 2.8 + legend_height(labels, 2)), layout="constrained")
    axes = figure.subplots()
    types = partition.type_of.reshape(-1)
    for name, label in labels.items():
        mine = places[types == name]
        axes.scatter(
            mine["x"],
            mine["y"],
            s=14,
            c=styles[name].colour,
            marker=styles[name].marker,
            lw=0.3,
            ec="white",
            label=f"{label}: {len(mine)}",
        )
    axes.set(xticks=[], yticks=[], xlabel="t-SNE, first coordinate", ylabel="t-SNE, second coordinate")
    axes.set_aspect("equal", adjustable="datalim")
    axes.spines[["top", "right"]].set_visible(True)
    figure.legend(loc="outside upper center", ncols=2, handletextpad=0.2, columnspacing=1)
    return figure
