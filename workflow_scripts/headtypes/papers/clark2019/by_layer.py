"""What Clark's Figures 2 to 4 share: a statistic of every head as dots by layer, and the layers' means as a line."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from headtypes.core.style import layer_ticks
from headtypes.papers.clark2019.statistics import Statistics

# Where heads of several series lie in a layer, in layers; all of them together.
_SPREAD = 0.5


@dataclass(frozen=True)
class Series:
    """A statistic, and how it is drawn and called."""

    statistic: str
    label: str
    colour: str
    marker: str


def known_series(series: Sequence[Series], statistics: Statistics) -> list[Series]:
    """Those whose statistic a model has."""
    return [one for one in series if one.statistic in statistics.layers]


def of_same_depth(published: Statistics | None, statistics: Statistics) -> Statistics | None:
    """Published means, if a model has as many layers; None otherwise."""
    depths = [len(next(iter(it.layers.values()))) for it in (published, statistics) if it is not None]
    return published if len(set(depths)) == 1 else None


def draw_heads(
    axes: Axes,
    series: Sequence[Series],
    statistics: Statistics,
    published: Statistics | None = None,
    means: bool = True,
) -> None:
    """Draw a dot for each head of each series, the series side by side, and lines of the layers' means.

    published: the paper's layer means, drawn as thick pale lines where it has them; None beside another model.
    """
    for index, one in enumerate(series):
        heads = statistics.heads[one.statistic]
        layers = np.arange(1, len(heads) + 1)
        shift = _SPREAD * ((index + 0.5) / len(series) - 0.5)
        if published is not None and one.statistic in published.layers:
            axes.plot(
                layers,
                published.layers[one.statistic],
                color=one.colour,
                lw=4,
                alpha=0.25,
                solid_capstyle="round",
                zorder=1,
                gid=f"published-{one.statistic}",
            )
        axes.plot(
            np.repeat(layers + shift, heads.shape[1]),
            heads.ravel(),
            ls="",
            marker=one.marker,
            ms=2.2,
            mew=0,
            alpha=0.65,
            color=one.colour,
            zorder=2,
            gid=f"heads-{one.statistic}",
        )
        if means:
            draw_means(axes, one, statistics.layers[one.statistic])
    number_layers(axes, len(layers))


def draw_means(axes: Axes, series: Series, means: np.ndarray) -> None:
    """Draw the line of a series through the layers' means [layer]."""
    layers = np.arange(1, len(means) + 1)
    axes.plot(layers, means, color=series.colour, lw=1.1, zorder=3, gid=f"mean-{series.statistic}")


def number_layers(axes: Axes, layers: int) -> None:
    """Label the axis of layers, counted from 1."""
    axes.set_xticks(layer_ticks(layers))
    axes.set(xlabel="layer", xlim=(0.5, layers + 0.5))


def say(axes: Axes, sentence: str) -> None:
    """Say in place of a panel why it is empty."""
    axes.text(0.5, 0.5, sentence, transform=axes.transAxes, ha="center", va="center", color="0.35", wrap=True)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
