"""How much each head writes, heads that are off beside sinks, and massive activations, layer by layer."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.analyses.outputs.tables import MASSIVE, OFF, SINK
from headtypes.core.style import PAGE, PALETTE, head_name, legend_key, styled

# Inches of the figure; points of a marker; the most heads whose names are printed.
_HEIGHT, _MARKER, _NAMED = 2.5, 3, 6
_ON, _OFF = "0.6", PALETTE[1]


@styled
def outputs_figure(heads: pd.DataFrame, layers: pd.DataFrame) -> Figure:
    """Draw three panels: what heads write by layer; what they write against their sink; the stream by layer.

    heads, layers: as `tables.heads_table` and `tables.layers_table` return them; without values, there is a sentence.
    """
    figure = Figure(figsize=(PAGE, _HEIGHT), layout="constrained")
    if heads["written"].isna().all():
        figure.text(0.5, 0.5, "nothing could be measured of this model", ha="center")
        return figure
    written, sink, stream = figure.subplots(1, 3, width_ratios=[1.15, 1.15, 1])
    off = heads["off"] > 50
    _draw_written(written, heads, off)
    _draw_sinks(sink, heads, off)
    _draw_stream(stream, layers)
    keys = [
        legend_key(color=_OFF, marker="o", ms=_MARKER, ls="none", label="head that is off on most samples"),
        legend_key(color=_ON, marker="o", ms=_MARKER, ls="none", label="other head"),
        legend_key(color=PALETTE[0], marker="o", ms=_MARKER, lw=0.9, label="largest number of the stream"),
        legend_key(color="0.4", ls="--", lw=0.9, label="median magnitude"),
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=4, columnspacing=1.5)
    return figure


def _draw_written(axes: Axes, heads: pd.DataFrame, off: pd.Series) -> None:
    """A dot for each head, and a line for the mean of each layer."""
    layer = heads["layer"] + 1
    beside = (heads["head"] / max(heads["head"].max(), 1) - 0.5) * 0.5
    for chosen, colour, name in ((~off, _ON, "on"), (off, _OFF, "off")):
        x, y = (layer + beside)[chosen], 100 * heads.loc[chosen, "written"]
        axes.plot(x, y, "o", color=colour, ms=_MARKER, mew=0, gid=f"written-{name}")
    axes.plot((100 * heads["written"]).groupby(layer).mean(), color="0.3", lw=0.9)
    axes.set(xlabel="layer", ylabel="written, % of the residual stream", ylim=(0, None))


def _draw_sinks(axes: Axes, heads: pd.DataFrame, off: pd.Series) -> None:
    """What a head writes against its attention to the first token; heads at the bottom left are off without a sink."""
    axes.axhline(OFF, color="0.75", lw=0.6, zorder=0)
    axes.axvline(100 * SINK, color="0.75", lw=0.6, zorder=0)
    for chosen, colour, name in ((~off, _ON, "on"), (off, _OFF, "off")):
        rows = heads[chosen]
        axes.plot(100 * rows["first"], rows["relative"], "o", color=colour, ms=_MARKER, mew=0, gid=f"sink-{name}")
    for _, row in heads.nsmallest(_NAMED, "relative").iterrows():
        name = head_name(int(row["layer"]), int(row["head"]))
        axes.annotate(name, (100 * row["first"], row["relative"]), (3, 2), textcoords="offset points")
    axes.set(xlabel="attention to the first token, %", ylabel="written, of the layer's mean")
    axes.set(xlim=(0, 100), ylim=(0, None))


def _draw_stream(axes: Axes, layers: pd.DataFrame) -> None:
    """The largest number and the median magnitude of the stream that each layer reads."""
    layer = layers["layer"] + 1
    axes.plot(layer, layers["largest"], "o-", color=PALETTE[0], ms=_MARKER, lw=0.9, gid="largest")
    axes.plot(layer, layers["median"], "--", color="0.4", lw=0.9)
    if layers["largest"].max() > MASSIVE / 2:
        axes.axhline(MASSIVE, color="0.75", lw=0.6, zorder=0)
    axes.set(xlabel="layer", ylabel="magnitude in the residual stream", yscale="log")
