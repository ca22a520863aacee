"""How certain each head's type is: every head of a model, by layer, paler the less often it keeps its type."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_labels, type_patches, type_styles
from headtypes.core.style import PAGE, PAGE_HEIGHT, SMALL, legend_height, styled

# What the clusterings were repeated over, by column, and the panel's title.
_PANELS = {"keeps_type_samples": "with samples drawn anew", "keeps_type_seeds": "with other random starts"}
# Inches: of a layer at most, above and below the panels, of the layers' numbers.
_LAYER, _ABOVE, _BELOW, _NUMBERS = 0.21, 0.28, 0.4, 0.35
_COLUMNS = 4
# Heads of a layer that have room in half the width of a page.
_BESIDE = 16


@styled
def confidence_figure(confidence: pd.DataFrame, partition: Partition) -> Figure:
    """Draw a tile per head, in the colour of its type, with the percent of clusterings that give it that type.

    confidence: as `confidence.head_confidence` returns it. A tile is the paler, the fewer clusterings agree; one with
        all of them has no number. A panel whose column is empty is left out.
    """
    layers, heads = partition.shape
    labels, styles = type_labels(partition), type_styles(partition.types)
    legend = legend_height(labels, _COLUMNS) + 0.1
    shown = [column for column in _PANELS if confidence[column].notna().any()]
    # Beside each other, unless the tiles would be too narrow for a number.
    columns = 2 if heads <= _BESIDE else 1
    rows = -(-len(shown) // columns)
    wide = (PAGE - columns * _NUMBERS - 0.05) / columns
    around = _ABOVE + _BELOW
    tall = min(layers * min(_LAYER, wide / heads * 1.1), (PAGE_HEIGHT - legend) / 2 - around)
    figure = Figure(figsize=(PAGE, legend + rows * (around + tall)))
    height = figure.get_figheight()
    colours = np.array([to_rgb(styles[name].colour) for name in partition.type_of.reshape(-1)])
    for index, column in enumerate(shown):
        row, beside = divmod(index, columns)
        left, bottom = _NUMBERS + beside * (wide + _NUMBERS), height - legend - (row + 1) * (around + tall) + _BELOW
        axes = figure.add_axes((left / PAGE, bottom / height, wide / PAGE, tall / height))
        percent = confidence[column].to_numpy().reshape(layers, heads)
        _draw(axes, percent, colours.reshape(layers, heads, 3), min(wide / heads / 2.2, tall / layers / 1.05))
        axes.set_title(f"heads that keep their type {_PANELS[column]}, %", fontsize=7.5)
        if beside == 0:
            axes.set_ylabel("layer", labelpad=2)
    figure.legend(handles=type_patches(styles, labels), loc="upper center", ncols=_COLUMNS, handlelength=1.2)
    return figure


def _draw(axes: Axes, percent: np.ndarray, colours: np.ndarray, inches: float) -> None:
    """Tiles, with numbers of at most this height."""
    layers, heads = percent.shape
    strength = (0.12 + 0.88 * percent / 100)[..., None]
    axes.imshow(1 - strength * (1 - colours), aspect="auto", extent=(0.5, heads + 0.5, layers + 0.5, 0.5))
    size = min(SMALL, 72 * inches)
    for (layer, head), value in np.ndenumerate(percent):
        if value < 100:
            # Black on white, since a colour may have any strength.
            box = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
            text = f"{value:.0f}" if value < 99.5 else "99"
            axes.text(head + 1, layer + 1, text, ha="center", va="center_baseline", fontsize=size, bbox=box)
    for edge in range(1, heads):
        axes.axvline(edge + 0.5, color="white", lw=0.8)
    for edge in range(1, layers):
        axes.axhline(edge + 0.5, color="white", lw=0.8)
    axes.set(xticks=range(1, heads + 1, 1 + heads // 33), yticks=range(1, layers + 1, 1 + layers // 25), xlabel="head")
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)
