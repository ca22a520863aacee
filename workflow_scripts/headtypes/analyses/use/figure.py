"""What heads find against what they are used for, and each head beside other arcs and other heads."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.analyses.use.results import NOT_FOUND, NOT_TOLD, NOT_USED, READINGS, USED
from headtypes.core.style import PAGE, PALETTE, head_name, legend_key, styled

COLOURS = {USED: PALETTE[1], NOT_USED: PALETTE[0], NOT_TOLD: "0.6"}
# Inches: of a head at the right, of all else, and the least height.
_ROW, _ELSE, _LEAST = 0.14, 0.7, 2.4
_MARKER = 3.5
_DIRECTIONS = {"dependent_to_head": "", "head_to_dependent": ", from the head"}


@styled
def use_figure(table: pd.DataFrame) -> Figure:
    """Draw the heads that find a relation: at the left found against used, at the right each beside its controls.

    table: of `results.use_table`; the figure has the reading by which attention becomes zero.
    """
    shown = table[(table["reading"] == READINGS[0]) & (table["verdict"] != NOT_FOUND)].sort_values("rise")
    shown = shown.reset_index(drop=True)
    figure = Figure(figsize=(PAGE, max(_LEAST, _ELSE + _ROW * len(shown))), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    _draw_found(left, shown)
    _draw_controls(right, shown)
    point = {"color": "0.3", "ls": "none", "ms": _MARKER}
    keys = [
        *(legend_key(color=colour, marker="o", ms=_MARKER, lw=0.8, label=name) for name, colour in COLOURS.items()),
        legend_key(marker="|", label="other arcs in the head", **point),
        legend_key(marker="x", label="the arcs in other heads", **point),
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=5, columnspacing=1.5)
    return figure


def _draw_found(axes: Axes, shown: pd.DataFrame) -> None:
    for verdict, rows in shown.groupby("verdict"):
        colour = COLOURS[verdict]
        axes.hlines(rows["rise"], rows["above_low"], rows["above_high"], color=colour, lw=0.6)
        axes.vlines(rows["above"], rows["rise_low"], rows["rise_high"], color=colour, lw=0.6)
        axes.plot(rows["above"], rows["rise"], "o", color=colour, ms=_MARKER, gid=f"found {verdict}")
    axes.axhline(0, color="0.75", lw=0.6, zorder=0)
    axes.set(xlabel="found: points above the baseline", ylabel="used: rise of the loss, nats")


def _draw_controls(axes: Axes, shown: pd.DataFrame) -> None:
    colours = shown["verdict"].map(COLOURS)
    axes.hlines(shown.index, shown["rise_low"], shown["rise_high"], color=colours, lw=0.8)
    axes.scatter(shown["rise"], shown.index, _MARKER**2, color=colours, zorder=3, gid="rises")
    for name, marker in (("above_arcs", "|"), ("above_heads", "x")):
        axes.plot(shown["rise"] - shown[name], shown.index, marker, color="0.3", ms=_MARKER, gid=name)
    axes.axvline(0, color="0.75", lw=0.6, zorder=0)
    labels = [
        f"{row.relation}{_DIRECTIONS[row.direction]} ({head_name(int(row.layer), int(row.head))})"
        for row in shown.itertuples()
    ]
    axes.set_yticks(shown.index, labels)
    axes.set(xlabel="rise of the loss, nats", ylim=(-0.7, len(shown) - 0.3))
