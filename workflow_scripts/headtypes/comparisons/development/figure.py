"""How many heads are of each kind, beyond chance, and of the type that they end with, at each checkpoint."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headtypes.comparisons.development.trace import FINAL
from headtypes.core.style import PAGE, PALETTE, clipped, styled

_HEIGHT = 2.3
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Steps whose numbers fit below a panel.
_NUMBERED = 12


@styled
def development_figure(table: pd.DataFrame, onsets: pd.DataFrame) -> Figure:
    """Draw how many heads each detector finds at each step, how many are surely beyond chance by any other analysis
    that tests them, and the percent of heads with their last type.

    table: as `trace.trace` returns it; onsets: as `onsets.read_onsets` does. Steps stand at equal distances, since they
    are often kept more closely at first.
    """
    detected = table[table["detected"].notna()].assign(
        name=lambda it: it["quantity"].str.removeprefix("detector."), value=lambda it: it["detected"].astype(float)
    )
    types = table[(table["analysis"] == "types") & (table["quantity"] == FINAL)].assign(name=lambda it: it["of"])
    panels = [
        (rows.pivot_table("value", "name", "step", aggfunc="sum", sort=False), title, label)
        for rows, title, label in (
            (detected, "of each kind, by detectors", "heads"),
            (_surely(onsets, table), "surely beyond chance", "heads"),
            (types, "with the type they end with", "% of heads"),
        )
        if len(rows)
    ]
    figure = Figure(figsize=(PAGE, _HEIGHT), layout="constrained")
    if not panels:
        axes = figure.subplots()
        axes.text(0.5, 0.5, "Neither detectors nor types were measured at all of these steps.", ha="center")
        axes.set_axis_off()
        return figure
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False).ravel(), panels, strict=True):
        _draw(axes, *panel)
    return figure


def _surely(onsets: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """At each step the heads that an onset says are there by then: analysis, task, step and value, 1 for each."""
    heads = onsets[onsets["layer"].notna() & (onsets["analysis"] != "detectors")]
    first = heads.groupby(["analysis", "of", "layer", "head"], sort=False)["high"].min().reset_index()
    crossed = first.merge(table[["step"]].drop_duplicates(), how="cross")
    return crossed.assign(
        name=crossed["analysis"] + " of " + crossed["of"],
        value=(crossed["high"] <= crossed["step"]).fillna(False).astype(float),
    )


def _draw(axes: Axes, values: pd.DataFrame, title: str, label: str) -> None:
    steps = sorted(values.columns)
    for number, (name, row) in enumerate(values[steps].iterrows()):
        look = {"color": PALETTE[number % len(PALETTE)], "marker": _MARKERS[number % len(_MARKERS)], "ms": 3, "lw": 1}
        axes.plot(range(len(steps)), row.to_numpy(), label=clipped(name, 24), gid=f"line-{name}", **look)
    shown = range(0, len(steps), -(-len(steps) // _NUMBERED))
    axes.set_xticks(list(shown), [f"{steps[index]:,}" for index in shown], rotation=45)
    axes.set(title=title, xlabel="step", ylabel=label, ylim=(0, None) if label == "heads" else (0, 102))
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.grid(axis="y", color="0.92", lw=0.5)
    axes.set_axisbelow(True)
    axes.legend(loc="best")
