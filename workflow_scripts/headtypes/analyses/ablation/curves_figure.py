"""Scores while growing sets of heads are removed: heads of each type, beside heads of any type."""

from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headtypes.analyses.ablation.results import read_curves
from headtypes.analyses.types.names import ALL
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import TypeStyle, type_labels, type_styles
from headtypes.core.style import PAGE, PAGE_HEIGHT, legend_key, save_figure, styled
from headtypes.data.kinds.metrics import MAIN_METRICS

# Panels beside each other, at most; letters that a panel's title has room for, by panels beside each other.
_BESIDE, _LETTERS = 4, 100
# Heights in inches: of the legend, of a row of types (at most this), and of the panel of all heads.
_LEGEND, _ROW, _ALL = 0.36, 1.85, 1.85
# Heads of any type: a grey so dark that a colour-blind reader can tell it from the colour of every type (CIE76
# distance of 20 or more), and a lighter one for their range.
_ANY, _ANY_RANGE, _RANGE = TypeStyle("0.35", ".", ""), "0.88", 0.3
# Points; dashes and gaps, in widths of the line.
_MARKER, _DASHED = 3, (0, (3.2, 1.4))
# Share of an axis that is left free beyond what is drawn.
_FREE = 0.04


@styled
def curves_figure(curves: pd.DataFrame, partition: Partition) -> Figure:
    """Draw a panel per type, with heads of any type in grey behind it, and below them one that goes on to all heads.

    curves: as `curves.evaluate_curves` returns them; the first of the task's metrics is drawn. Of the random orders
    there are the mean and a band from the lowest draw to the highest. Panels of types have one scale, which ends with
    the largest type. In the panel of all heads are the types' curves by importance once more.
    """
    labels, styles = type_labels(partition), type_styles(partition.types)
    rows = -(-len(labels) // _BESIDE)
    columns = -(-len(labels) // rows)
    tall = min(_ROW, (PAGE_HEIGHT - _LEGEND - _ALL) / rows)
    figure = Figure(figsize=(PAGE, _LEGEND + rows * tall + _ALL), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.05, h_pad=0.05)
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=[tall] * rows + [_ALL])
    metric = next(name for name in MAIN_METRICS if name in curves)
    scale = f"{MAIN_METRICS[metric].title}, {MAIN_METRICS[metric].unit}"
    together = figure.add_subplot(grid[rows, :])
    _draw(together, curves, ALL, metric, _ANY)
    counts = {name: len(partition.heads_of(name)) for name in labels}
    for index, (name, label) in enumerate(labels.items()):
        axes = figure.add_subplot(grid[divmod(index, columns)], sharey=together)
        _draw(axes, curves, ALL, metric, _ANY)
        _draw(axes, curves, name, metric, styles[name])
        _draw(together, curves[curves["order"] == "importance"], name, metric, styles[name])
        _set_scale(axes, max(counts.values()))
        axes.set_title(fill(label, _LETTERS // columns), pad=14)
        size = f"{counts[name]} head{'s' * (counts[name] != 1)}"
        axes.annotate(size, (0.5, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", ha="center")
        axes.tick_params(labelleft=index % columns == 0)
        axes.set_ylabel("" if index % columns else scale)
        axes.set_xlabel("" if index + columns < len(labels) else "heads removed")
    size, high = partition.type_of.size, max(curves[metric].max(), 1)
    _set_scale(together, size)
    together.set_title(f"heads of any type up to all {size}, with each type by importance")
    # From zero, so that no drop looks larger than it is.
    together.set(xlabel="heads removed", ylabel=scale, ylim=(-_FREE * high, (1 + _FREE) * high))
    draws = curves.loc[curves["order"] == "random", "draw"].nunique()
    random = "in one random order" if draws == 1 else f"in {draws} random orders: mean, lowest to highest"
    keys = [
        legend_key(color="0.1", lw=1.1, marker="o", ms=_MARKER, label="the least important first"),
        legend_key(color="0.1", lw=0.9, ls=_DASHED, label=random),
        legend_key(color=_ANY.colour, lw=0.9, marker=_ANY.marker, ms=_MARKER, label="grey: heads of any type"),
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), handlelength=2.6)
    return figure


def _draw(axes: Axes, curves: pd.DataFrame, name: str, metric: str, look: TypeStyle) -> None:
    """Draw the curves of one type, of those orders that there are."""
    of_type, is_any = curves[curves["type"] == name], look is _ANY
    drawn = of_type[of_type["order"] == "random"].groupby("heads")[metric].agg(["mean", "min", "max"])
    if len(drawn):
        band = {"color": _ANY_RANGE} if is_any else {"color": look.colour, "alpha": _RANGE}
        axes.fill_between(drawn.index, drawn["min"], drawn["max"], lw=0, gid=f"range-{name}", **band)
        axes.plot(drawn["mean"], color=look.colour, ls=_DASHED, lw=0.9, gid=f"random-{name}")
    least = of_type[of_type["order"] == "importance"].set_index("heads")[metric].sort_index()
    point = {"marker": look.marker, "ms": _MARKER, "mec": look.colour if is_any else "0.2", "mew": 0.3}
    axes.plot(least, color=look.colour, lw=0.9 if is_any else 1.1, gid=f"importance-{name}", **point)


def _set_scale(axes: Axes, heads: int) -> None:
    axes.set_xlim(-_FREE * heads, (1 + _FREE) * heads)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color="0.92", lw=0.5)
    axes.set_axisbelow(True)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `plot_curves`."""
    figure = curves_figure(read_curves(inputs.curves), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
