"""What a condition costs beside the same operations on random heads, on the same questions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from headtypes.analyses.ablation.control_drops import DropsOfDraws, read_drops_of_draws
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import PAGE, legend_key, save_figure, styled
from headtypes.data.kinds.metrics import METRICS

# Inches: of a condition, of the legend and the scale, and of the conditions' names and the ranks beside them.
_ROW, _AROUND, _NAMES, _RANKS = 0.27, 0.85, 1.75, 0.85
# A condition of several types: so dark that a colour-blind reader can tell it from the colour of every type.
_SEVERAL = "0.15"
_DRAW = "0.55"


@styled
def controls_figure(
    drops: Mapping[str, DropsOfDraws], operations: Mapping[str, Mapping[str, str]], partition: Partition
) -> Figure:
    """Draw a row per condition: its drop with its interval, a tick for each draw of random heads, and its rank.

    drops: by condition, in the order in which they are drawn; operations: of each condition, {type or head: operation}.
    """
    styles = type_styles(partition.types)
    figure = Figure(figsize=(PAGE, _AROUND + _ROW * len(drops)))
    height = figure.get_figheight()
    box = (_NAMES / PAGE, 0.4 / height, 1 - (_NAMES + _RANKS) / PAGE, 1 - _AROUND / height)
    axes = figure.add_axes(box)
    for row, (condition, of_condition) in enumerate(drops.items()):
        types = [name for name in operations[condition] if name in styles]
        look = styles[types[0]] if len(types) == len(operations[condition]) == 1 else None
        colour, marker = (look.colour, look.marker) if look else (_SEVERAL, "o")
        places = np.full(len(of_condition.draws), row + 0.0)
        axes.plot(of_condition.draws, places, "|", color=_DRAW, ms=9, mew=0.9, gid=f"draws-{condition}")
        axes.plot(of_condition.draws.mean(), row, "|", color="black", ms=12, mew=1.4, gid=f"mean-{condition}")
        axes.plot([of_condition.low, of_condition.high], [row, row], color=colour, lw=1.6, gid=f"interval-{condition}")
        axes.plot(
            of_condition.own, row, marker, color=colour, ms=5.5, mec="white", mew=0.5, zorder=3, gid=f"own-{condition}"
        )
        text = f"{of_condition.rank} of {1 + len(of_condition.draws)}"
        axes.text(1.03, row, text, transform=axes.get_yaxis_transform(), va="center_baseline")
    axes.text(1.03, -0.85, "rank", transform=axes.get_yaxis_transform(), va="center_baseline", color="0.35")
    axes.axvline(0, color="0.75", lw=0.6, zorder=0)
    axes.set(yticks=range(len(drops)), yticklabels=drops, ylim=(len(drops) - 0.4, -0.6))
    (name,) = {of_condition.metric for of_condition in drops.values()}
    metric = METRICS[name]
    axes.set_xlabel(f"{metric.change} of {metric.title}, {metric.steps}")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.92", lw=0.5)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    keys = [
        legend_key(color=_SEVERAL, marker="o", ms=4.5, lw=1.6, label="the types' own heads, 95 % interval"),
        legend_key(color=_DRAW, marker="|", ms=8, mew=0.9, ls="none", label="as many random heads of each layer"),
        legend_key(color="black", marker="|", ms=9, mew=1.4, ls="none", label="their mean"),
    ]
    figure.legend(handles=keys, loc="upper center", ncols=3, columnspacing=2, handlelength=1.8)
    return figure


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `plot_controls`."""
    drops = {
        condition: read_drops_of_draws(controls, inputs.scores[condition], inputs.baseline, seed=spec["seed"])
        for condition, controls in inputs.controls.items()
    }
    figure = controls_figure(drops, spec["conditions"], read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
