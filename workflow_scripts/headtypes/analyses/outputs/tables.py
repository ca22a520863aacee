"""Tables and a figure of lengths that heads write, and of massive activations beside sinks of attention."""

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.analyses.outputs.measure import HEADS, QUARTERS, STREAM, TOKENS, Outputs
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.statistics import mean_intervals, mean_of_known
from headtypes.core.style import PAGE, PALETTE, legend_key, save_figure, styled
from headtypes.core.table_files import head_name, head_table, write_csv

# A head is off on a sample if it writes less than this share of the mean of its layer's heads; a sink is a first token
# that gets more than half of a head's attention. Both limits are ours.
OFF, SINK = 0.25, 0.5
# A head is off for some samples and on for others if the share on which it is off lies between these.
VARIES = 0.05, 0.95
# What Sun et al. (2024) call massive: above 100, and 1,000 times the median magnitude.
MASSIVE, TIMES = 100, 1000


def relative(outputs: Outputs) -> Float[np.ndarray, "sample layer head"]:
    length = outputs.column("length")
    mean = length.mean(axis=-1, keepdims=True)
    return np.divide(length, mean, out=np.zeros_like(length), where=mean > 0)


def heads_table(outputs: Outputs) -> pd.DataFrame:
    shape = outputs.written.shape[1:3]
    if outputs.reason is not None:
        return head_table(shape, dict.fromkeys(HEADS[2:], np.nan))
    off, sink = relative(outputs) < OFF, outputs.column("first") > SINK
    written = outputs.column("written")
    low, high = mean_intervals(written)
    columns = {
        **{name: mean_of_known(outputs.column(name)) for name in (*TOKENS, *QUARTERS)},
        "low": low,
        "high": high,
        "relative": relative(outputs).mean(axis=0),
        "off": 100 * off.mean(axis=0),
        "off_no_sink": 100 * (off & ~sink).mean(axis=0),
        **{name: outputs.column(name).mean(axis=0) for name in ("first", "to_largest")},
    }
    return head_table(shape, {name: values.ravel() for name, values in columns.items()})


def layers_table(outputs: Outputs) -> pd.DataFrame:
    stream = dict(zip(STREAM, np.moveaxis(outputs.stream, -1, 0), strict=True))
    ratio = np.divide(
        stream["largest"], stream["median"], out=np.full_like(stream["median"], np.inf), where=stream["median"] > 0
    )
    massive = (stream["largest"] > MASSIVE) & (ratio > TIMES)
    off, sink = relative(outputs) < OFF, outputs.column("first") > SINK
    share = off.mean(axis=0)
    often = [0 if outputs.reason else np.bincount(tokens.astype(int)).argmax() for tokens in stream["token"].T]
    table = pd.DataFrame(
        {
            "layer": np.arange(len(share)),
            **{name: stream[name].mean(axis=0) for name in ("largest", "median")},
            "ratio": np.median(ratio, axis=0),
            "massive": 100 * massive.mean(axis=0),
            "token": 1 + np.array(often),
            "to_largest": outputs.column("to_largest").mean(axis=(0, 2)),
            "even": (1 / outputs.length).mean(),
            "off": 100 * off.mean(axis=(0, 2)),
            "off_no_sink": 100 * (off & ~sink).mean(axis=(0, 2)),
            "varies": ((share > VARIES[0]) & (share < VARIES[1])).sum(axis=1),
        }
    )
    return table.assign(**dict.fromkeys(table.columns[1:], np.nan)) if outputs.reason else table


# Inches of the figure; points of a marker; the most heads whose names are printed.
_HEIGHT, _MARKER, _NAMED = 2.5, 3, 6
# Percent of the axis from one of these names to the next.
_APART = 15
_ON, _OFF = "0.6", PALETTE[1]


@styled
def outputs_figure(heads: pd.DataFrame, layers: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(PAGE, _HEIGHT), layout="constrained")
    if heads["written"].isna().all():
        figure.text(0.5, 0.5, "nothing could be measured of this model", ha="center")
        return figure
    written, sink, stream = figure.subplots(1, 3, width_ratios=[1.15, 1.15, 1])
    off = heads["off"] > 50
    layer = heads["layer"] + 1
    beside = (heads["head"] / max(heads["head"].max(), 1) - 0.5) * 0.5
    for chosen, colour, name in ((~off, _ON, "on"), (off, _OFF, "off")):
        x, y = (layer + beside)[chosen], 100 * heads.loc[chosen, "written"]
        written.plot(x, y, "o", color=colour, ms=_MARKER, mew=0, gid=f"written-{name}")
    written.plot((100 * heads["written"]).groupby(layer).mean(), color="0.3", lw=0.9)
    written.set(xlabel="layer", ylabel="written, % of the residual stream", ylim=(0, None))
    _draw_sinks(sink, heads, off)
    layer = layers["layer"] + 1
    stream.plot(layer, layers["largest"], "o-", color=PALETTE[0], ms=_MARKER, lw=0.9, gid="largest")
    stream.plot(layer, layers["median"], "--", color="0.4", lw=0.9)
    if layers["largest"].max() > MASSIVE / 2:
        stream.axhline(MASSIVE, color="0.75", lw=0.6, zorder=0)
    stream.set(xlabel="layer", ylabel="magnitude in the residual stream", yscale="log")
    # Matplotlib writes powers of ten in its own notation, which our figures show as it stands.
    stream.yaxis.set_major_formatter("{x:g}")
    stream.yaxis.set_minor_formatter("")
    of_off = legend_key(color=_OFF, marker="o", ms=_MARKER, ls="none", label="off on most samples")
    keys = [
        *([of_off] if off.any() else []),
        legend_key(color=_ON, marker="o", ms=_MARKER, ls="none", label="other head" if off.any() else "head"),
        legend_key(color="0.3", lw=0.9, label="layer mean"),
        legend_key(color=PALETTE[0], marker="o", ms=_MARKER, lw=0.9, label="largest of the stream"),
        legend_key(color="0.4", ls="--", lw=0.9, label="median magnitude"),
        legend_key(color="0.75", lw=0.6, label="limit"),
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), columnspacing=0.8, handlelength=1.5)
    return figure


def _draw_sinks(axes: Axes, heads: pd.DataFrame, off: pd.Series) -> None:
    axes.axhline(OFF, color="0.75", lw=0.6, zorder=0)
    axes.axvline(100 * SINK, color="0.75", lw=0.6, zorder=0)
    for chosen, colour, name in ((~off, _ON, "on"), (off, _OFF, "off")):
        rows = heads[chosen]
        axes.plot(100 * rows["first"], rows["relative"], "o", color=colour, ms=_MARKER, mew=0, gid=f"sink-{name}")
    # The names stand in a row below all dots, since heads that write least stand close together.
    named, below = heads.nsmallest(_NAMED, "relative").sort_values("first"), -0.06 * axes.get_ylim()[1]
    places = 100 * named["first"].to_numpy() - _APART * np.arange(len(named))
    places = np.maximum.accumulate(places).clip(_APART / 2, 100 - _APART * (len(named) - 0.5))
    for place, (_, row) in zip(places + _APART * np.arange(len(named)), named.iterrows(), strict=True):
        line = {"arrowstyle": "-", "lw": 0.3, "color": "0.5", "shrinkA": 0, "shrinkB": 2}
        at, name = (100 * row["first"], row["relative"]), head_name(int(row["layer"]), int(row["head"]))
        axes.annotate(name, at, (place, below), fontsize=6, ha="center", va="center", arrowprops=line)
    axes.set(xlabel="attention to the first token, %", ylabel="written, of the layer's mean")
    axes.set(xlim=(0, 100), ylim=(2 * below, None))


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    written = read_arrays(inputs.outputs, Outputs)
    heads, layers = heads_table(written), layers_table(written)
    write_csv(outputs.heads, heads)
    write_csv(outputs.layers, layers)
    save_figure(outputs_figure(heads, layers), outputs.pdf, outputs.png, provenance)
