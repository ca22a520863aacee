"""Clark's Figure 4: the entropy of each head's attention, of all tokens and of [CLS], by layer."""

import numpy as np
from matplotlib.figure import Figure

from headtypes.core.style import PAGE, PALETTE, legend_key, styled
from headtypes.papers.clark2019.by_layer import Series, draw_heads, of_same_depth, say
from headtypes.papers.clark2019.statistics import Statistics

_PANELS = (Series("entropy", "all tokens", PALETTE[0], "o"), Series("entropy_cls", "from [CLS]", PALETTE[1], "o"))


@styled
def entropy_figure(statistics: Statistics, published: Statistics | None) -> Figure:
    """Draw a dot per head in its layer (from 1), the layers' means, and the entropy of uniform attention.

    published: the paper's means by layer, drawn as pale lines if the model has as many layers; None to leave them out.
    """
    published = of_same_depth(published, statistics)
    figure = Figure(figsize=(PAGE, 2.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    layers = np.arange(1, len(statistics.uniform) + 1)
    for axes, series in zip(panels, _PANELS, strict=True):
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
