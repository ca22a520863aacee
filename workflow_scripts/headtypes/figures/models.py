"""Figure 4: the types of several models side by side, and what fine-tuning left of the parent's."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headtypes.figures.style import PAGE, SMALL, style, type_labels, type_patches, type_styles
from headtypes.partitions import Partition, order_types

# Percent of a bar that has room for its number.
_ROOM = 4


@style()
def models_figure(partitions: Mapping[str, Partition], comparison: pd.DataFrame) -> Figure:
    """Draw a bar per model of the shares of its types, and beside it how it compares with its parent.

    partitions: by model, in the order in which they are drawn from the top.
    comparison: as `comparison.comparison_table` makes it.
    """
    models = list(partitions)
    figure = Figure(figsize=(PAGE, 0.85 + 0.3 * len(models)), layout="constrained")
    axes, beside = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
    labels = type_labels(partitions.values())
    styles = type_styles(labels)
    rows = np.arange(len(models))
    left = np.zeros(len(models))
    for name in order_types(labels):
        share = np.array([100 * (partition.type_of == name).mean() for partition in partitions.values()])
        look = styles[name]
        bars = axes.barh(
            rows, share, left=left, height=0.72, color=look.colour, hatch=look.hatch, ec="white", lw=0.5, label=name
        )
        figures = [f"{value:.0f}" if value >= _ROOM else "" for value in share]
        axes.bar_label(bars, figures, label_type="center", fontsize=SMALL, color=_ink(look.colour))
        left += share
    axes.set(xlim=(0, 100), xlabel="heads of each type, percent", yticks=rows, ylim=(len(models) - 0.5, -0.5))
    axes.set_yticklabels(models)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _write_comparison(beside, models, comparison)
    figure.legend(handles=type_patches(styles, labels), loc="outside upper left", ncols=len(labels), handlelength=1.2)
    return figure


def _write_comparison(axes, models: list[str], comparison: pd.DataFrame) -> None:
    axes.set_axis_off()
    columns = {"parent": 0.02, "same_type": 0.74, "adjusted_rand": 1.0}
    for (name, place), head in zip(columns.items(), ("parent", "same type, %", "adjusted Rand"), strict=True):
        align = "left" if name == "parent" else "right"
        axes.text(place, -0.62, head, transform=axes.get_yaxis_transform(), ha=align, va="bottom", color="0.35")
        for row in comparison.to_dict("records"):
            text = {"parent": row["parent"], "same_type": f"{row['same_type']:.0f}"}.get(name)
            text = text or f"{row['adjusted_rand']:.2f}"
            y = models.index(row["model"])
            axes.text(place, y, text, transform=axes.get_yaxis_transform(), ha=align, va="center")


def _ink(colour: str) -> str:
    """White on dark colours, black on light ones, by the luminance of WCAG 2."""
    parts = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"
