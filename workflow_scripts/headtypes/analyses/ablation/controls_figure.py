"""The cost of a condition beside the same operations on random heads, on the same questions."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from headtypes.analyses.ablation.control_drops import DropsOfDraws, read_drops_of_draws
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import PAGE, legend_key, save_figure, styled
from headtypes.data.tasks import METRICS

# Inches: of a condition, of the legend and the scale, and of the conditions' names and the shares beside them.
_ROW, _AROUND, _NAMES, _SHARES = 0.27, 0.85, 1.75, 0.85
# A condition of several types: so dark that a colour-blind reader can tell it from the colour of every type.
_SEVERAL = "0.15"
_DRAW = "0.8"


@styled
def controls_figure(
    drops: Mapping[str, DropsOfDraws], operations: Mapping[str, Mapping[str, str]], partition: Partition
) -> Figure:
    """Draw a row per condition: its drop with its interval, and a bar from the least to the most of its random heads.

    drops: by condition, in the order in which they are drawn; operations: of each condition, {type or head: operation}.
    Beside each stands which share of the random heads is its own.
    """
    styles = type_styles(partition.types)
    figure = Figure(figsize=(PAGE, _AROUND + _ROW * len(drops)))
    height = figure.get_figheight()
    box = (_NAMES / PAGE, 0.4 / height, 1 - (_NAMES + _SHARES) / PAGE, 1 - _AROUND / height)
    axes = figure.add_axes(box)
    for row, (condition, of_condition) in enumerate(drops.items()):
        types = [name for name in operations[condition] if name in styles]
        look = styles[types[0]] if len(types) == len(operations[condition]) == 1 else None
        colour, marker = (look.colour, look.marker) if look else (_SEVERAL, "o")
        ends = of_condition.draws.min(), of_condition.draws.max()
        axes.plot(ends, [row, row], color=_DRAW, lw=7, solid_capstyle="butt", gid=f"draws-{condition}")
        axes.plot(of_condition.draws.mean(), row, "|", color="black", ms=12, mew=1.4, gid=f"mean-{condition}")
        axes.plot([of_condition.low, of_condition.high], [row, row], color=colour, lw=1.6, gid=f"interval-{condition}")
        axes.plot(
            of_condition.own, row, marker, color=colour, ms=5.5, mec="white", mew=0.5, zorder=3, gid=f"own-{condition}"
        )
        axes.text(
            1.03, row, f"{100 * of_condition.overlap:.0f} %", transform=axes.get_yaxis_transform(), va="center_baseline"
        )
    axes.text(1.03, -0.85, "in common", transform=axes.get_yaxis_transform(), va="center_baseline", color="0.35")
    axes.axvline(0, color="0.75", lw=0.6, zorder=0)
    axes.set(yticks=range(len(drops)), yticklabels=drops, ylim=(len(drops) - 0.4, -0.6))
    draws = max(len(of_condition.draws) for of_condition in drops.values())
    (name,) = {of_condition.metric for of_condition in drops.values()}
    metric = METRICS[name]
    axes.set_xlabel(f"{metric.change} of {metric.title}, {metric.steps}")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.92", lw=0.5)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    keys = [
        legend_key(color=_SEVERAL, marker="o", ms=4.5, lw=1.6, label="the types' own heads, 95 % interval"),
        legend_key(color=_DRAW, lw=7, label=f"as many random heads of each layer, {draws} draws"),
        legend_key(color="black", marker="|", ms=9, mew=1.4, ls="none", label="their mean"),
    ]
    figure.legend(handles=keys, loc="upper center", ncols=3, columnspacing=2, handlelength=1.8)
    return figure


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    drops = {
        condition: read_drops_of_draws(controls, inputs.scores[condition], inputs.baseline)
        for condition, controls in inputs.controls.items()
    }
    figure = controls_figure(drops, spec["conditions"], read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
