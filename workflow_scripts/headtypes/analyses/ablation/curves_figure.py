"""Scores while growing sets of heads are removed: heads of each type, beside heads of any type."""

from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from headtypes.analyses.types.names import ALL
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import TypeStyle, type_labels, type_styles
from headtypes.core.style import PAGE, PAGE_HEIGHT, legend_key, styled
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

    curves: type (or `all`, for heads of every type), order (importance or random), draw, heads (how many are removed)
        and the task's metrics in percent, of which the first is drawn.
    The least important heads go first (Michel et al. 2019, section 4); of the random orders there are the mean and a
    band from the lowest draw to the highest. Panels of types have one scale, which ends with the largest type; the
    curves of any type go on beyond it. In the panel of all heads are the types' curves by importance once more, for
    comparison with one another.
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
        _draw_importance(together, curves, name, metric, styles[name])
        _set_scale(axes, max(counts.values()))
        axes.set_title(fill(label, _LETTERS // columns), pad=14)
        size = f"{counts[name]} head{'s' * (counts[name] != 1)}"
        axes.annotate(size, (0.5, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", ha="center")
        axes.tick_params(labelleft=index % columns == 0)
        if index % columns == 0:
            axes.set_ylabel(scale)
        if index + columns >= len(labels):
            axes.set_xlabel("heads removed")
    size = partition.type_of.size
    _set_scale(together, size)
    together.set_title(f"heads of any type up to all {size}, with each type by importance")
    together.set(xlabel="heads removed", ylabel=scale, ylim=_limits(curves[metric]))
    draws = curves.loc[curves["order"] == "random", "draw"].nunique()
    _add_legend(figure, [styles[name].colour for name in labels], draws)
    return figure


def _draw(axes: Axes, curves: pd.DataFrame, name: str, metric: str, look: TypeStyle) -> None:
    rows = curves[(curves["type"] == name) & (curves["order"] == "random")]
    drawn = rows.groupby("heads")[metric].agg(["mean", "min", "max"])
    band = {"color": _ANY_RANGE} if look is _ANY else {"color": look.colour, "alpha": _RANGE}
    axes.fill_between(drawn.index, drawn["min"], drawn["max"], lw=0, gid=f"range-{name}", **band)
    axes.plot(drawn["mean"], color=look.colour, ls=_DASHED, lw=0.9, gid=f"random-{name}")
    _draw_importance(axes, curves, name, metric, look)


def _draw_importance(axes: Axes, curves: pd.DataFrame, name: str, metric: str, look: TypeStyle) -> None:
    rows = curves[(curves["type"] == name) & (curves["order"] == "importance")]
    axes.plot(
        rows.set_index("heads")[metric].sort_index(),
        color=look.colour,
        lw=0.9 if look is _ANY else 1.1,
        marker=look.marker,
        ms=_MARKER,
        mec=look.colour if look is _ANY else "0.2",
        mew=0.3,
        gid=f"importance-{name}",
    )


def _set_scale(axes: Axes, heads: int) -> None:
    axes.set_xlim(-_FREE * heads, (1 + _FREE) * heads)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color="0.92", lw=0.5)
    axes.set_axisbelow(True)


def _limits(scores: pd.Series) -> tuple[float, float]:
    """From zero, so that no drop looks larger than it is."""
    high = max(scores.max(), 1)
    return -_FREE * high, (1 + _FREE) * high


def _add_legend(figure: Figure, colours: list[str], draws: int) -> None:
    """A band is explained where there is one: of a single random order there is none."""
    ink = "0.1"
    of_type = tuple(Patch(color=colour, lw=0) for colour in colours[:_BESIDE])
    any_line = legend_key(color=_ANY.colour, lw=0.9, marker=_ANY.marker, ms=_MARKER)
    keys = {
        "the least important first": legend_key(color=ink, lw=1.1, marker="o", ms=_MARKER),
        **_key_of_random_orders(draws, legend_key(color=ink, lw=0.9, ls=_DASHED), Patch(color=ink, alpha=_RANGE, lw=0)),
        "heads of one type": of_type,
        "heads of any type": any_line if draws == 1 else (Patch(color=_ANY_RANGE, lw=0), any_line),
    }
    figure.legend(
        keys.values(),
        keys.keys(),
        handler_map={tuple: HandlerTuple(), of_type: HandlerTuple(ndivide=None, pad=0)},
        loc="outside upper center",
        ncols=2,
        handlelength=2.6,
        columnspacing=3,
    )


def _key_of_random_orders(draws: int, line: Line2D, band: Patch) -> dict:
    if draws == 1:
        return {"in one random order": line}
    return {f"in {draws} random orders: mean, lowest to highest": (band, line)}
