"""What leaving out each head costs, and the measured costs of sets of heads against the predicted ones."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.core.statistics import ALPHA
from headtypes.core.style import PAGE, PALETTE, head_name, legend_key, styled
from headtypes.data.kinds.metrics import Metric
from headtypes.data.kinds.registry import METRICS

# Inches: of a row of panels, and of the legend. Points: of a marker.
_ROW, _LEGEND, _MARKER = 2.3, 0.3, 3
_TOLD, _OTHER, _CHEAPEST = PALETTE[0], "0.6", PALETTE[1]
# The most heads whose names are printed.
_NAMED = 8


@styled
def effects_figure(heads: pd.DataFrame, draws: pd.DataFrame, fit: pd.DataFrame, cheapest: pd.DataFrame) -> Figure:
    """Draw two panels for each metric: the heads by their effect, and measured against predicted costs of sets.

    heads, draws, fit: as in `measure.Tables`; cheapest: as `draws.evaluate_cheapest` returns it.
    """
    figure = Figure(figsize=(PAGE, _LEGEND + _ROW * len(fit)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
    panels = figure.subplots(len(fit), 2, squeeze=False, width_ratios=[1.7, 1])
    for (left, right), (_, row) in zip(panels, fit.iterrows(), strict=True):
        metric = METRICS[row["metric"]]
        of_heads, of_draws, of_sets = (table[table["metric"] == metric.name] for table in (heads, draws, cheapest))
        _draw_heads(left, of_heads, metric)
        _draw_sets(right, of_draws, of_sets, row, metric)
    keys = [
        legend_key(color=_TOLD, marker="o", ms=_MARKER, lw=0.9, label="head told from zero"),
        legend_key(color=_OTHER, marker=".", ms=_MARKER, lw=0.6, label="other head"),
        legend_key(color=_OTHER, marker="o", mfc="none", ms=_MARKER, ls="none", label="random set, held out"),
        legend_key(color=_CHEAPEST, marker="D", ms=_MARKER, lw=0.9, label="set chosen on other questions"),
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=4, columnspacing=2)
    return figure


def _draw_heads(axes: Axes, heads: pd.DataFrame, metric: Metric) -> None:
    """The heads by effect, with intervals, and the names of the costliest that are told from zero."""
    ordered = heads.dropna(subset="effect").sort_values("effect", ascending=False, ignore_index=True)
    told = ordered["corrected_p"] < ALPHA
    for rows, colour, marker, width, name in (
        (ordered[~told], _OTHER, ".", 0.6, "others"),
        (ordered[told], _TOLD, "o", 0.9, "told"),
    ):
        axes.vlines(rows.index, rows["low"], rows["high"], color=colour, lw=width)
        axes.plot(rows.index, rows["effect"], marker, color=colour, ms=_MARKER, gid=f"{name}-{metric.name}")
    for index, row in ordered[told].iloc[:_NAMED].iterrows():
        axes.annotate(
            head_name(int(row["layer"]), int(row["head"])),
            (index, row["high"]),
            (0, 3),
            textcoords="offset points",
            rotation=90,
            ha="center",
            va="bottom",
        )
    axes.axhline(0, color="0.75", lw=0.6, zorder=0)
    axes.margins(x=0.02, y=0.2)
    axes.set(xlabel="heads, the costliest first", ylabel=f"{metric.change} of {metric.title}, {metric.steps}")


def _draw_sets(axes: Axes, draws: pd.DataFrame, cheapest: pd.DataFrame, fit: pd.Series, metric: Metric) -> None:
    """Measured against predicted costs of draws and of the cheapest sets, and the line on which both are equal."""
    axes.axline((0, 0), slope=1, color="0.75", lw=0.6, zorder=0)
    axes.plot(
        draws["predicted"],
        draws["cost"],
        "o",
        mfc="none",
        mec=_OTHER,
        mew=0.6,
        ms=_MARKER,
        gid=f"draws-{metric.name}",
    )
    axes.vlines(cheapest["predicted"], cheapest["cost_low"], cheapest["cost_high"], color=_CHEAPEST, lw=0.9)
    axes.plot(cheapest["predicted"], cheapest["cost"], "D", color=_CHEAPEST, ms=_MARKER, gid=f"cheapest-{metric.name}")
    for _, row in cheapest.iterrows():
        axes.annotate(
            f"{row['heads']:.0f}", (row["predicted"], row["cost"]), (4, 0), textcoords="offset points", va="center"
        )
    # With few questions, some that are drawn again leave nothing to explain.
    ends = "" if pd.isna(fit["r2_low"]) else f" ({fit['r2_low']:z.2f} to {fit['r2_high']:z.2f})"
    axes.set_title(f"R² {fit['r2']:z.2f}{ends}", loc="left", fontsize="medium")
    axes.set(xlabel=f"predicted {metric.change}", ylabel=f"measured {metric.change}, {metric.steps}")
