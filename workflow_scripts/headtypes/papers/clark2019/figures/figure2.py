"""Clark's Figure 2: how much attention each head pays to special tokens and to its neighbours, by layer."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.core.style import PAGE, PALETTE, legend_key, styled
from headtypes.papers.clark2019.by_layer import Series, draw_heads, known_series, of_same_depth, say
from headtypes.papers.clark2019.statistics import Statistics

_BLUE, _VERMILION, _SKY, _PURPLE, _ORANGE, _GREEN = PALETTE[:6]
# The first token stands in where a model has no [CLS].
PANELS = (
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
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (title, series) in zip(panels, PANELS, strict=True):
        shown = known_series(series, statistics)
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
