"""Clark's Figures 2 and 4: attention to special tokens and neighbours, and entropy, of every head by layer.

A statistic of every head as dots, and the layers' means as a line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.core.style import PAGE, PALETTE, layer_ticks, legend_key, styled
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
            means_by_layer = statistics.layers[one.statistic]
            axes.plot(layers, means_by_layer, color=one.colour, lw=1.1, zorder=3, gid=f"mean-{one.statistic}")
    number_layers(axes, len(layers))


def number_layers(axes: Axes, layers: int) -> None:
    """Label the axis of layers, counted from 1."""
    axes.set_xticks(layer_ticks(layers))
    axes.set(xlabel="layer", xlim=(0.5, layers + 0.5))


def say(axes: Axes, sentence: str) -> None:
    """Say in place of a panel why it is empty."""
    axes.text(0.5, 0.5, sentence, transform=axes.transAxes, ha="center", va="center", color="0.35", wrap=True)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


_BLUE, _VERMILION, _SKY, _PURPLE, _ORANGE, _GREEN = PALETTE[:6]
# The first token stands in where a model has no [CLS].
_SHARES = (
    (
        "special tokens",
        (
            Series("cls", "[CLS]", _VERMILION, "o"),
            Series("first", "first token", _VERMILION, "o"),
            Series("sep", "[SEP]", _BLUE, "s"),
            Series("punctuation", ". or ,", _PURPLE, "^"),
        ),
    ),
    (
        "[SEP]",
        (Series("other_to_sep", "others to [SEP]", _BLUE, "s"), Series("sep_to_sep", "[SEP] to [SEP]", _GREEN, "D")),
    ),
    (
        "neighbours",
        (
            Series("previous", "previous token", _BLUE, "<"),
            Series("next", "next token", _VERMILION, ">"),
            Series("self", "token itself", _PURPLE, "o"),
        ),
    ),
)


@styled
def surface_figure(statistics: Statistics, published: Statistics | None) -> Figure:
    """Draw a dot per head in its layer (from 1) and, but for neighbours, lines of the layers' means.

    published: the paper's means by layer, drawn as pale lines if the model has as many layers; None to leave them out.
    """
    published = of_same_depth(published, statistics)
    figure = Figure(figsize=(PAGE, 2.5), layout="constrained")
    panels = figure.subplots(1, len(_SHARES), sharey=True)
    for axes, (title, series) in zip(panels, _SHARES, strict=True):
        shown = [one for one in series if one.statistic in statistics.layers]
        if any(one.statistic == "cls" for one in shown):
            shown = [one for one in shown if one.statistic != "first"]
        axes.set_title(title, loc="left", pad=26)
        if not shown:
            say(axes, statistics.missing[series[0].statistic])
            continue
        draw_heads(axes, shown, statistics, published, means=title != "neighbours")
        axes.set(ylim=(-0.02, 1.02))
        _add_legend(axes, shown, title != "neighbours", published)
    panels[0].set_ylabel("share of attention")
    return figure


def _add_legend(axes: Axes, shown: list[Series], means: bool, published: Statistics | None) -> None:
    lines = [
        legend_key(color=one.colour, marker=one.marker, ms=3, mew=0, lw=1.1 if means else 0, label=one.label)
        for one in shown
    ]
    if published is not None and any(one.statistic in published.layers for one in shown):
        lines.append(legend_key(color="0.5", lw=4, alpha=0.35, label="published means"))
    axes.legend(
        handles=lines,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        handlelength=1.4,
        columnspacing=0.9,
        handletextpad=0.4,
        borderpad=0.1,
        borderaxespad=0.1,
        labelspacing=0.25,
    )


_ENTROPIES = (Series("entropy", "all tokens", PALETTE[0], "o"), Series("entropy_cls", "from [CLS]", PALETTE[1], "o"))


@styled
def entropy_figure(statistics: Statistics, published: Statistics | None) -> Figure:
    """Draw a dot per head in its layer (from 1), the layers' means, and the entropy of uniform attention.

    published: the paper's means by layer, drawn as pale lines if the model has as many layers; None to leave them out.
    """
    published = of_same_depth(published, statistics)
    figure = Figure(figsize=(PAGE, 2.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    layers = np.arange(1, len(statistics.uniform) + 1)
    for axes, series in zip(panels, _ENTROPIES, strict=True):
        axes.set_title(series.label, loc="left")
        if series.statistic not in statistics.heads:
            say(axes, statistics.missing[series.statistic])
            continue
        draw_heads(axes, [series], statistics, published)
        ends = np.concatenate([[0.5], layers, [layers[-1] + 0.5]])
        uniform = np.pad(statistics.uniform, 1, mode="edge")
        axes.plot(ends, uniform, color="black", lw=0.9, ls=(0, (4, 2)), gid="uniform")
        axes.set_ylim(-0.03 * statistics.uniform.max(), 1.08 * statistics.uniform.max())
    panels[0].set_ylabel("entropy of attention (nats)")
    lines = [
        legend_key(color="0.35", marker="o", ms=3, mew=0, lw=0, label="head"),
        legend_key(color="0.35", lw=1.1, label="mean of the layer"),
        legend_key(color="black", lw=0.9, ls=(0, (4, 2)), label="uniform attention"),
    ]
    if published is not None:
        lines.append(legend_key(color="0.5", lw=4, alpha=0.35, label="published means"))
    figure.legend(handles=lines, loc="outside upper right", ncols=len(lines), columnspacing=1.2, handletextpad=0.5)
    return figure
