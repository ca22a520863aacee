"""Figure 4: the types of several models side by side, and what fine-tuning left of the parent's."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.figures.style import PAGE, SMALL, legend_height, styled, type_patches, type_styles
from headtypes.types.partitions import Partition, order_types

# Percent of a bar that has room for its number.
_ROOM = 3


@styled
def models_figure(partitions: Mapping[str, Partition], comparison: pd.DataFrame) -> Figure:
    """Draw a bar per model of the shares of its types, and beside it how it compares with its parent.

    partitions: by model, in the order in which they are drawn from the top.
    comparison: as `descent.comparison_table` makes it.
    A share stands in brackets where the type's name is doubtful in that model.
    """
    models = list(partitions)
    labels = _labels(partitions.values())
    figure = Figure(
        figsize=(PAGE, 0.5 + max(0.26, legend_height(labels, 2)) + 0.28 * len(models)), layout="constrained"
    )
    axes, beside = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
    styles = type_styles(labels)
    rows = np.arange(len(models))
    left = np.zeros(len(models))
    for name in labels:
        share = np.array([100 * (partition.type_of == name).mean() for partition in partitions.values()])
        look = styles[name]
        bars = axes.barh(
            rows, share, left=left, height=0.72, color=look.colour, hatch=look.hatch, ec="white", lw=0.5, label=name
        )
        figures = [_percent(*pair, name) for pair in zip(share, partitions.values(), strict=True)]
        axes.bar_label(bars, figures, label_type="center", fontsize=SMALL, color=_ink(look.colour))
        left += share
    axes.set(xlim=(0, 100), xlabel="heads of each type, percent", yticks=rows, ylim=(len(models) - 0.5, -0.5))
    axes.set_yticklabels(models)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _write_comparison(beside, models, comparison)
    axes.legend(
        handles=type_patches(styles, labels),
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        handlelength=1.2,
        columnspacing=1.5,
        borderpad=0.2,
        borderaxespad=0,
    )
    return figure


def _labels(partitions: Iterable[Partition]) -> dict[str, str]:
    """What the legend calls each type, marked if its name is doubtful in all models that have it, or in some."""
    labels = {}
    partitions = list(partitions)
    for name in order_types(name for partition in partitions for name in partition.types):
        doubts = [name in partition.doubtful for partition in partitions if name in partition.types]
        labels[name] = name + (" (doubtful)" if all(doubts) else " (doubtful in [ ])" if any(doubts) else "")
    return labels


def _percent(share: float, partition: Partition, name: str) -> str:
    if share < _ROOM:
        return ""
    return f"[{share:.0f}]" if name in partition.doubtful else f"{share:.0f}"


def _write_comparison(axes: Axes, models: list[str], comparison: pd.DataFrame) -> None:
    axes.set_axis_off()
    across = axes.get_yaxis_transform()  # Places to the right in shares of the axes, downwards in rows.
    columns = {
        "parent": (0.02, "left", "parent", str),
        "same_type": (0.7, "right", "heads of the\nsame type, %", "{:.0f}".format),
        "adjusted_rand": (1.0, "right", "adjusted\nRand index", "{:.2f}".format),
    }
    for column, (place, side, head, text) in columns.items():
        axes.text(place, -0.55, head, transform=across, ha=side, va="bottom", color="0.35")
        for model, value in zip(comparison["model"], comparison[column], strict=True):
            axes.text(place, models.index(model), text(value), transform=across, ha=side, va="center_baseline")


def _ink(colour: str) -> str:
    """White on dark colours, black on light ones, by the luminance of WCAG 2."""
    parts = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"
