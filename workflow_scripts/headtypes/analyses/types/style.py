"""The look of each type in figures: colour, marker, hatch and dashes, its name in legends, and heads marked by it."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.partitions import Partition, order_types
from headtypes.core.style import PALETTE

# Signs beside the colour: for print in grey, and where there are more types than colours.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx")
_DASHES = ("-", (0, (3, 1)), (0, (1, 1)), (0, (4, 1, 1, 1)))


class TypeStyle(NamedTuple):
    """The look of one type in figures: a colour, and a marker, a hatch and dashes for print in grey."""

    colour: str
    marker: str
    hatch: str
    dashes: str | tuple


def type_styles(types: Iterable[str]) -> dict[str, TypeStyle]:
    """Return {type: its style in figures}.

    Types of Guan et al. (2020) and `type-1`, `type-2`, ... look the same in every figure; the look of another type
    depends on its place among the given types, ordered by `order_types`.
    """
    styles = {}
    for index, name in enumerate(order_types(types)):
        numbered = re.fullmatch(r"type-([1-9][0-9]*)", name)
        place = TYPES.index(name) if name in TYPES else int(numbered[1]) - 1 if numbered else index
        # Their numbers have no common divisor, so that as many types as their product look different.
        looks = PALETTE, _MARKERS, _HATCHES, _DASHES
        styles[name] = TypeStyle(*(choices[place % len(choices)] for choices in looks))
    return styles


def type_labels(partition: Partition) -> dict[str, str]:
    doubtful = partition.doubtful
    return {name: f"{name} (doubtful)" if name in doubtful else name for name in partition.types}


def type_patches(styles: Mapping[str, TypeStyle], labels: Mapping[str, str], *, hatched: bool = True) -> list[Patch]:
    return [
        Patch(facecolor=styles[name].colour, hatch=styles[name].hatch * hatched, edgecolor="white", label=label)
        for name, label in labels.items()
    ]


def scatter_types(axes: Axes, places: pd.DataFrame, partition: Partition, size: float) -> None:
    types, styles = partition.type_of[places["layer"], places["head"]], type_styles(partition.types)
    for name, label in type_labels(partition).items():
        scatter_heads(axes, places[types == name], styles[name].colour, styles[name].marker, label, size)


def scatter_heads(axes: Axes, heads: pd.DataFrame, colour, marker: str, label: str, size: float) -> None:
    if not heads.empty:
        look = {"color": colour, "marker": marker, "s": size, "lw": 0.3, "ec": "white"}
        axes.scatter(heads["x"], heads["y"], label=f"{label}: {len(heads)}", gid=label, **look)


def frame_projection(axes: Axes, places: pd.DataFrame) -> float:
    """Set the limits of `axes` to a square around all places, hide ticks, and return half of the square's side.

    places: a table with the columns x and y; half of the side is in their unit.
    """
    x, y = ((places[name].min() + places[name].max()) / 2 for name in ("x", "y"))
    half = 0.56 * max(np.ptp(places["x"]), np.ptp(places["y"]), 1e-9)
    axes.set(xticks=[], yticks=[], xlim=(x - half, x + half), ylim=(y - half, y + half))
    axes.set_aspect("equal")
    axes.spines[:].set_visible(True)
    return half
