"""Heads at their places in a plane, marked by their types."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from headtypes.analyses.style import type_labels, type_styles
from headtypes.analyses.types.partitions import Partition


def scatter_types(axes: Axes, places: pd.DataFrame, partition: Partition, size: float) -> None:
    """Mark each head by the colour and the marker of its type.

    places: one row per head: layer and head from 0, x, y; size: of a marker, in square points.
    """
    of_head, styles = partition.type_of[places["layer"], places["head"]], type_styles(partition.types)
    for name, label in type_labels(partition).items():
        scatter_heads(axes, places[of_head == name], styles[name].colour, styles[name].marker, label, size)


def scatter_heads(axes: Axes, heads: pd.DataFrame, colour, marker: str, label: str, size: float) -> None:
    """Mark some heads in one way, with their number in the legend; an absent kind of heads has no entry."""
    if not heads.empty:
        look = {"color": colour, "marker": marker, "s": size, "lw": 0.3, "ec": "white"}
        axes.scatter(heads["x"], heads["y"], label=f"{label}: {len(heads)}", gid=label, **look)


def frame_plane(axes: Axes, places: pd.DataFrame) -> float:
    """Frame all places in a square without scales, equal in both directions; returns half its side."""
    x, y = ((places[name].min() + places[name].max()) / 2 for name in ("x", "y"))
    half = 0.56 * max(np.ptp(places["x"]), np.ptp(places["y"]), 1e-9)
    axes.set(xticks=[], yticks=[], xlim=(x - half, x + half), ylim=(y - half, y + half))
    axes.set_aspect("equal")
    axes.spines[:].set_visible(True)
    return half
