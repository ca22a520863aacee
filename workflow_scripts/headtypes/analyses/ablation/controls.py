"""Drops under a condition, and under the same operations on random heads of the same layers; and a figure of both."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.files import StrPath
from headtypes.core.statistics import mean_intervals, mean_over
from headtypes.core.style import PAGE, legend_key, save_figure, styled
from headtypes.core.table_files import read_parquet
from headtypes.data.tasks import METRICS, Metric, metrics_in, sizes_in, tested_metric


class DropsOfDraws(NamedTuple):
    """Drops of one score from the baseline: under a condition, and under the same operations on random heads.

    metric: the name of the score. draws: [draw] the drop under each draw of random heads, in points or nats per token.
    own, low, high: the condition's drop, with its interval over questions. overlap: the share, 0 to 1, of the
        condition's heads that a draw changes in the same way, mean over draws.
    """

    metric: str
    own: float
    low: float
    high: float
    draws: np.ndarray
    overlap: float


def control_drops(controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame) -> dict[str, float | int]:
    """Return a condition's drops from the baseline, and those of its controls, on the controls' questions.

    Controls are the same operations on as many random heads of each layer, drawn several times.
    controls: a table with the scores of each draw and question (`evaluation.evaluate_controls`).
    scores, baseline: scores of each question under the condition and the baseline, of at least the controls' questions.

    The keys are (drops are in points or nats per token, positive if worse):
      control_draws, control_questions: numbers of draws and questions.
      control_overlap: the share of the condition's heads that a draw changes in the same way, mean over draws.
      control_drop_{metric}: for each metric the controls' mean drop over draws; with the ending _low or _high, the drop
          of the lowest or highest draw. own_drop_{metric}: for each metric the condition's drop.
    """
    metrics, lost, own_lost, sizes = lost_answers(controls, scores, baseline)
    found = {
        "control_draws": lost.shape[1],
        "control_questions": lost.shape[2],
        "control_overlap": _overlap(controls),
    }
    for metric, draws, own in zip(metrics, lost, own_lost, strict=True):
        drops, name = mean_over(draws, sizes), f"control_drop_{metric.name}"
        found |= {name: float(drops.mean()), f"{name}_low": float(drops.min()), f"{name}_high": float(drops.max())}
        found[f"own_drop_{metric.name}"] = float(mean_over(own, sizes))
    return found


def lost_answers(
    controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame
) -> tuple[list[Metric], np.ndarray, np.ndarray, np.ndarray | None]:
    """Return (metrics, lost, own_lost, sizes): what a condition, and random heads in its place, cost on each question.

    controls: a table with the scores of each draw of random heads and question. scores, baseline: tables with the
        scores of each question under the condition and the baseline, of at least the questions of `controls`.
    lost: [metric, draw, question] how much worse than the baseline's the score with random heads is. own_lost: [metric,
        question] the same under the condition. sizes: [question] tokens that scores are summed over, or None.
    """
    controls = controls.sort_values(["draw", "id"])
    draws, asked = controls["draw"].nunique(), controls["id"].unique()
    own, undisturbed = (table.set_index("id").loc[asked] for table in (scores, baseline))
    metrics = metrics_in(controls)
    columns = [metric.column for metric in metrics]
    before, after = (table[columns].to_numpy().T for table in (undisturbed, own))
    lost = before[:, None] - controls[columns].to_numpy().T.reshape(len(columns), draws, len(asked))
    # For the worse is positive.
    signs = np.array([metric.drop(1, 0) for metric in metrics])
    return metrics, signs[:, None, None] * lost, signs[:, None] * (before - after), sizes_in(own)


def read_scored(controls: StrPath, scores: StrPath, baseline: StrPath) -> tuple[pd.DataFrame, ...]:
    return tuple(read_parquet(path, "holds no scores", ["id"]) for path in (controls, scores, baseline))


def read_drops_of_draws(controls: StrPath, scores: StrPath, baseline: StrPath) -> DropsOfDraws:
    """Return the drops of a condition and of its controls (random heads), in the task's main score, such as F1.

    controls, scores, baseline: files with the scores of each draw of random heads and question, and of each question
        under the condition and under the baseline.
    """
    controls, *own = read_scored(controls, scores, baseline)
    metrics, lost, own_lost, sizes = lost_answers(controls, *own)
    metric = tested_metric([metric.name for metric in metrics])
    lost, own_lost = lost[metrics.index(metric)], own_lost[metrics.index(metric)]
    low, high = mean_intervals(own_lost, sizes=sizes, reach=metric.reach)
    value, drops = float(mean_over(own_lost, sizes)), mean_over(lost, sizes)
    return DropsOfDraws(metric.name, value, float(low), float(high), drops, _overlap(controls))


def _overlap(controls: pd.DataFrame) -> float:
    return float(controls.groupby("draw")["overlap"].first().mean())


# Inches: of a condition, of the legend and the scale, and of the conditions' names and the shares beside them.
_ROW, _AROUND, _NAMES, _SHARES = 0.27, 0.85, 1.75, 0.85
# A condition of several types: so dark that a colour-blind reader can tell it from the colour of every type.
_SEVERAL = "0.15"
_DRAW = "0.8"


@styled
def controls_figure(
    drops: Mapping[str, DropsOfDraws], operations: Mapping[str, Mapping[str, str]], partition: Partition
) -> Figure:
    """Draw a row for each condition: its drop with the interval, and a bar of the drops under random heads.

    drops: drops by condition, in the order of the rows. operations: {condition: {type or head: operation}}. A condition
        on one type has the colour of the type. The bar goes from the lowest to the highest drop of a draw of random
        heads. At the right of a row stands the share of the condition's heads that a draw changes in the same way.
    """
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
    (metric,) = {METRICS[found.metric] for found in drops.values()}
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
