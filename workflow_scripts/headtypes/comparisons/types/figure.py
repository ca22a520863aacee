"""Types beside analyses: where a type lies among random heads, and the projection of heads."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from headtypes.analyses.divergence.results import read_projection
from headtypes.analyses.registry import ANALYSES, analysis_named, by_analysis
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import frame_projection, scatter_types, type_labels, type_styles
from headtypes.comparisons.types.table import compare_files, read_compared_types, shown_rows
from headtypes.core.files import read_each
from headtypes.core.statistics import ALPHA
from headtypes.core.style import PAGE, SMALL, save_figure, styled
from headtypes.core.table_files import write_csv

# Inches: a row, what stands left of the cells, the gap between columns, a heading of a group, the types' names, the
# legend, the side of a projection, and its title.
_ROW, _NAMES, _GAP, _GROUP, _HEAD, _LEGEND, _PROJECTION, _TITLE = 0.145, 1.25, 0.2, 0.22, 0.62, 0.35, 2.1, 0.32
# The width of a cell below which a number would not fit.
_NARROW = 0.25
# Orange where a type has more than random heads of the same layers, blue where it has less; the darker the surer.
_SHADES = {(1, 2): "#D98032", (1, 1): "#F3C999", (0, 0): "#F2F2F2", (-1, 1): "#A9CBE6", (-1, 2): "#4A90C4"}
_LEGENDS = {
    (-1, 2): "less, corrected p < .05",
    (-1, 1): "less, p < .01",
    (1, 2): "more, corrected p < .05",
    (1, 1): "more, p < .01",
    (0, 0): "neither",
}
# The p-value below which a comparison is shaded by itself.
_SINGLE = 0.01
_TITLE_OF_LOSS = "rise of the loss without the heads (nats)"


class _Line(NamedTuple):
    """A row of the figure: its name, and what the table says of each type."""

    name: str
    cells: Mapping[str, pd.Series]


class _Group(NamedTuple):
    """Rows of one analysis."""

    analysis: str
    task: str
    lines: list[_Line]

    @property
    def title(self) -> str:
        of_loss = self.analysis == "ablation" and all(line.name.endswith("rise of loss") for line in self.lines)
        return _TITLE_OF_LOSS if of_loss else analysis_named(self.analysis).title

    @property
    def of_language(self) -> bool:
        return analysis_named(self.analysis).of_language


@styled
def compared_types_figure(table: pd.DataFrame, partition: Partition, projections: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw a cell for every type and analysis, shaded by where the type lies among random heads.

    table: as `table.compare_types` returns it.
    projections: by task, the places of the heads (`divergence.projection.project_heads`).
    """
    groups = [
        _Group(analysis, task, lines)
        for (analysis, task), rows in shown_rows(table).groupby(["analysis", "task"], sort=False)
        if (lines := list(_lines(analysis, rows, partition)))
    ]
    # What is known of language stands at the right; if nothing is, and there is no projection, half of the rest.
    columns = [[group for group in groups if group.of_language == side] for side in (False, True)]
    if groups and not all(columns) and not projections:
        ends = np.cumsum([_height(group) for group in groups])
        half = 1 + int(np.searchsorted(ends, ends[-1] / 2))
        columns = [groups[:half], groups[half:]]
    tall = [_HEAD + sum(map(_height, column)) if column else 0.0 for column in columns]
    below = int(np.argmin(tall))
    tall_with_projections = [
        size + len(projections) * (_PROJECTION + _TITLE) * (side == below) for side, size in enumerate(tall)
    ]
    height = max(*tall_with_projections, _ROW) + _LEGEND
    figure = Figure(figsize=(PAGE, height))
    width = (PAGE - _GAP) / 2
    for side, column in enumerate(columns):
        if column:
            left, size = side * (width + _GAP), tall[side]
            axes = figure.add_axes((left / PAGE, 1 - size / height, width / PAGE, size / height))
            _draw_column(axes, column, partition, width, size)
    left = below * (width + _GAP) + 0.03
    for index, (task, places) in enumerate(projections.items()):
        bottom = height - tall[below] - (index + 1) * (_PROJECTION + _TITLE)
        axes = figure.add_axes((left / PAGE, bottom / height, _PROJECTION / PAGE, _PROJECTION / height))
        _mark_types(axes, places, partition, f"Clark's Figure 6, {task}")
    _add_legend(figure.add_axes((0, 0, 1, _LEGEND / height)))
    return figure


def _lines(analysis: str, rows: pd.DataFrame, partition: Partition) -> Iterator[_Line]:
    if analysis == "divergence":
        order = ["inside", *(f"to {name}" for name in partition.types)]
        rows = rows.sort_values("statistic", key=lambda column: column.map(order.index), kind="stable")
    for (quantity, statistic), some in rows.groupby(["quantity", "statistic"], sort=False):
        if some["value"].notna().any():
            cells = {row["type"]: row for _, row in some.iterrows() if row["draws"]}
            yield _Line(analysis_named(analysis).line(quantity, statistic), cells)


def _height(group: "_Group") -> float:
    return _GROUP + _ROW * len(group.lines)


def _draw_column(axes: Axes, column: Sequence[_Group], partition: Partition, width: float, tall: float) -> None:
    """Draw groups of rows one below the other; axes are in inches from the left and from the top."""
    axes.set(xlim=(0, width), ylim=(tall, 0))
    axes.axis("off")
    # The last of the names, at an angle, needs room at the right.
    cell = min(0.5, (width - _NAMES - 0.4) / max(len(partition.types), 1))
    styles, labels = type_styles(partition.types), type_labels(partition)
    centre = {name: _NAMES + (index + 0.5) * cell for index, name in enumerate(partition.types)}
    for name, x in centre.items():
        axes.plot([x], [_HEAD - 0.08], styles[name].marker, color=styles[name].colour, ms=4)
        axes.text(x, _HEAD - 0.15, _short(labels[name]), rotation=30, ha="left", va="bottom")
    y = _HEAD
    for group in column:
        axes.text(0, y + _GROUP - 0.04, f"{group.title}, {group.task}", weight="bold", va="bottom")
        y += _GROUP
        for line in group.lines:
            axes.text(_NAMES - 0.06, y + _ROW / 2, line.name, ha="right", va="center")
            for name, row in line.cells.items():
                _draw_cell(axes, centre[name], y, cell, row)
            y += _ROW


def _draw_cell(axes: Axes, x: float, y: float, cell: float, row: pd.Series) -> None:
    shade = shade_of(row)
    axes.add_patch(
        Rectangle(
            (x - cell / 2, y),
            cell,
            _ROW,
            facecolor=_SHADES[shade],
            edgecolor="white",
            lw=0.8,
            gid=f"{shade[0]}{shade[1]}",
        )
    )
    text = "" if math.isnan(row["value"]) or cell < _NARROW else _number(row)
    axes.text(x, y + _ROW / 2, text, ha="center", va="center", fontsize=SMALL - 0.5)


def shade_of(row: Mapping) -> tuple[int, int]:
    """Return whether a type has more (1) or less (-1) than random heads, and how surely (0 to 2).

    2: corrected for all comparisons, p is below .05. 1: uncorrected, it is below .01.
    """
    side = 1 if row["value"] > row["random"] else -1
    if row["p_holm"] < ALPHA:
        return side, 2
    return (side, 1) if row["p"] < _SINGLE else (0, 0)


def _number(row: pd.Series) -> str:
    value = row["value"]
    # How many heads, or things of which the best head is here.
    if row["statistic"].endswith(" here"):
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.95 else f"{value:z.2f}"


def _mark_types(axes: Axes, places: pd.DataFrame, partition: Partition, title: str) -> None:
    scatter_types(axes, places, partition, 16)
    frame_projection(axes, places)
    axes.set_title(title, loc="left")
    handles, labels = axes.get_legend_handles_labels()
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0.1, "handletextpad": 0.2}
    axes.legend(handles, map(_short, labels), **beside)


def _short(label: str) -> str:
    return label.replace(" (doubtful)", "?")


def _add_legend(axes: Axes) -> None:
    axes.axis("off")
    handles = [Rectangle((0, 0), 1, 1, facecolor=_SHADES[shade], label=label) for shade, label in _LEGENDS.items()]
    axes.legend(handles=handles, loc="center", ncols=3, handlelength=1.4, columnspacing=1.2)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    files = {analysis.name: inputs[analysis.name] for analysis in ANALYSES if analysis.is_compared}
    files |= by_analysis(inputs.own)
    partition = read_partition(inputs.partition)
    left_out = [
        (spec["left_out"][condition], controls, inputs.scores[condition], inputs.baseline)
        for condition, controls in inputs.controls.items()
    ]
    write_csv(
        outputs.compared_types,
        compare_files(partition, files, left_out=left_out, tested=spec["tested"], seed=spec["seed"]),
    )
    projections = read_each(read_projection, inputs.projections)
    figure = compared_types_figure(read_compared_types(outputs.compared_types), partition, projections)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
