"""Drops under a condition, and under the same operations on random heads of the same layers; and a figure of both."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.files import StrPath
from headtypes.core.statistics import mean_intervals
from headtypes.core.style import PAGE, legend_key, save_figure, styled
from headtypes.core.table_files import read_parquet
from headtypes.data.tasks import Metric, metrics_in, sizes_in, tested_metric


class DropsOfDraws(NamedTuple):
    """Drops of one score below the baseline's: under a condition, and under draws of as many random heads.

    own, low, high: the condition's mean drop and the ends of its interval over questions, in points or nats per token;
    positive is worse. draws: [draw] the mean drop if the condition's operations act on as many random heads of each
    layer instead. overlap: share, 0 to 1, of the condition's heads with the same operation in a draw, mean over draws.
    """

    metric: Metric
    own: float
    low: float
    high: float
    draws: np.ndarray
    overlap: float


def drops_of_draws(controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame) -> dict[str, DropsOfDraws]:
    """Return {score, such as f1: its drops from the baseline under a condition and under draws of random heads}.

    controls: a row for each draw of random heads and each question, with the columns draw, id (of the question),
    overlap (share of the condition's heads with the same operation in the draw) and each score. scores, baseline: a
    row for each question, with id and each score, of condition and baseline. Questions not in `controls` are ignored.
    """
    controls = controls.sort_values(["draw", "id"])
    asked, overlap = controls["id"].unique(), float(controls.groupby("draw")["overlap"].first().mean())
    own, before = (table.set_index("id").loc[asked] for table in (scores, baseline))
    sizes, drops = sizes_in(own), {}
    for metric in metrics_in(controls):
        of_draws = controls[metric.column].to_numpy().reshape(-1, len(asked))
        lost = metric.drop(before[metric.column].to_numpy(), np.vstack([own[metric.column], of_draws]))
        low, high = mean_intervals(lost[0], sizes, metric.reach)
        value, *draws = lost.mean(-1) if sizes is None else lost.sum(-1) / sizes.sum()
        drops[metric.name] = DropsOfDraws(metric, float(value), float(low), float(high), np.array(draws), overlap)
    return drops


def control_drops(controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame) -> dict[str, float | int]:
    """Return {column: number} for a row of a table: a condition's drops from the baseline, and its controls' drops.

    A control does the condition's operations on as many random heads of each layer, drawn anew for each control.
    controls: a row for each draw and question, with draw, id, overlap and scores. scores, baseline: a row for each
    question, with id and scores, under the condition and the baseline. Drops are in points or nats per token.
      control_draws, control_questions: numbers of draws and questions in `controls`.
      control_overlap: share, 0 to 1, of the condition's heads with the same operation in a draw, mean over draws.
      own_drop_{metric}: the condition's drop on these questions; positive if the score is worse.
      control_drop_{metric}, ..._low, ..._high: mean, lowest and highest of the controls' drops.
    """
    drops = drops_of_draws(controls, scores, baseline)
    found = {
        "control_draws": controls["draw"].nunique(),
        "control_questions": controls["id"].nunique(),
        "control_overlap": next(iter(drops.values())).overlap,
    }
    for metric, drop in drops.items():
        ends = {"": drop.draws.mean(), "_low": drop.draws.min(), "_high": drop.draws.max()}
        found |= {f"control_drop_{metric}{end}": float(value) for end, value in ends.items()}
        found[f"own_drop_{metric}"] = drop.own
    return found


def read_scored(controls: StrPath, scores: StrPath, baseline: StrPath) -> tuple[pd.DataFrame, ...]:
    return tuple(read_parquet(path, "holds no scores", ["id"]) for path in (controls, scores, baseline))


# Inches: of a condition, of the legend and the scale, and of the conditions' names and the shares beside them.
_ROW, _AROUND, _NAMES, _SHARES = 0.27, 0.85, 1.75, 0.85
# A condition of several types: so dark that a colour-blind reader can tell it from the colour of every type.
_SEVERAL = "0.15"
_DRAW = "0.8"


@styled
def controls_figure(
    drops: Mapping[str, DropsOfDraws], operations: Mapping[str, Mapping[str, str]], partition: Partition
) -> Figure:
    styles = type_styles(partition.types)
    figure = Figure(figsize=(PAGE, _AROUND + _ROW * len(drops)))
    height = figure.get_figheight()
    box = (_NAMES / PAGE, 0.4 / height, 1 - (_NAMES + _SHARES) / PAGE, 1 - _AROUND / height)
    axes = figure.add_axes(box)
    for row, (condition, found) in enumerate(drops.items()):
        types = [name for name in operations[condition] if name in styles]
        look = styles[types[0]] if len(types) == len(operations[condition]) == 1 else None
        colour, marker = (look.colour, look.marker) if look else (_SEVERAL, "o")
        ends = found.draws.min(), found.draws.max()
        axes.plot(ends, [row, row], color=_DRAW, lw=7, solid_capstyle="butt", gid=f"draws-{condition}")
        axes.plot(found.draws.mean(), row, "|", color="black", ms=12, mew=1.4, gid=f"mean-{condition}")
        axes.plot([found.low, found.high], [row, row], color=colour, lw=1.6, gid=f"interval-{condition}")
        axes.plot(found.own, row, marker, color=colour, ms=5.5, mec="white", mew=0.5, zorder=3, gid=f"own-{condition}")
        axes.text(1.03, row, f"{100 * found.overlap:.0f} %", transform=axes.get_yaxis_transform(), va="center_baseline")
    axes.text(1.03, -0.85, "in common", transform=axes.get_yaxis_transform(), va="center_baseline", color="0.35")
    axes.axvline(0, color="0.75", lw=0.6, zorder=0)
    axes.set(yticks=range(len(drops)), yticklabels=drops, ylim=(len(drops) - 0.4, -0.6))
    draws = max(len(found.draws) for found in drops.values())
    (metric,) = {found.metric for found in drops.values()}
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
    drops = {}
    for condition, controls in inputs.controls.items():
        found = drops_of_draws(*read_scored(controls, inputs.scores[condition], inputs.baseline))
        drops[condition] = found[tested_metric(found).name]
    figure = controls_figure(drops, spec["conditions"], read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
