"""Every type of a partition beside as many random heads, in every analysis of its model, as a table and a figure."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from headtypes.analyses.ablation.controls import drops_of_draws, read_scored
from headtypes.analyses.declaration import Measure
from headtypes.analyses.divergence.results import read_projection
from headtypes.analyses.registry import ANALYSES, analysis_named, by_analysis
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import frame_projection, scatter_types, type_labels, type_styles
from headtypes.core.files import StrPath, derive_seed, read_each
from headtypes.core.statistics import ALPHA, EQUAL, holm
from headtypes.core.style import PAGE, SMALL, save_figure, styled
from headtypes.core.table_files import table_reader, write_csv

# Heads that are drawn at once: 8 MB of random numbers.
_BLOCK = 2**20


# All arrays together have `draws` random sets of heads; a set has as many heads in each layer as the set `own`.
def draw_heads(
    own: Bool[np.ndarray, "layer head"], draws: int, seed: int
) -> Iterator[Bool[np.ndarray, "draw layer*head"]]:
    rng, rows = np.random.default_rng(seed), max(1, _BLOCK // own.size)
    for start in range(0, draws, rows):
        keys = rng.random((min(rows, draws - start), *own.shape))
        ranks = keys.argsort(axis=-1).argsort(axis=-1)
        yield (ranks < own.sum(axis=-1)[:, None]).reshape(len(keys), -1)


def place_among(value: float, drawn: Float[np.ndarray, " draw"]) -> dict[str, float]:
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not len(drawn):
        return {"draws": len(drawn)}
    # The value itself counts, and comes last of equal ones (Phipson and Smyth 2010).
    as_large = 1 + int((drawn >= value - EQUAL).sum())
    as_small = 1 + int((drawn <= value + EQUAL).sum())
    low, high = np.quantile(drawn, [0.025, 0.975])
    p = min(1.0, 2 * min(as_large, as_small) / (1 + len(drawn)))
    of_random = {"random": drawn.mean(), "random_low": low, "random_high": high}
    return {**of_random, "rank": as_large, "p": p, "draws": len(drawn)}


# The least number of draws, and that for each comparison: with fewer than 40, none would be told after the correction.
_DRAWS, _DRAWS_EACH = 20_000, 50
COLUMNS = {
    "type": str,
    "doubtful": bool,
    "heads": int,
    **dict.fromkeys(("analysis", "task", "quantity", "statistic"), str),
    **dict.fromkeys(("value", "low", "high", "random", "random_low", "random_high"), float),
    "rank": "Int64",
    **dict.fromkeys(("p", "p_holm"), float),
    "draws": int,
    "overlap": float,
}
# Statistics that are in the table alone.
_HIDDEN = ("smallest", "largest")


# {"type", "operation", "task": its names}, and a model's scores of questions without random heads, without the type's
# heads, and with all heads.
LeftOut = tuple[Mapping[str, str], pd.DataFrame, pd.DataFrame, pd.DataFrame]


def compare_types(
    partition: Partition, measures: Sequence[Measure], left_out: Sequence[LeftOut], *, tested: Sequence[str], seed: int
) -> pd.DataFrame:
    """Return each type's value of each measure beside the values of random sets of heads, as a table.

    A random set has as many heads in each layer as the type. measures: what is measured on sets of heads.
    left_out: for each condition without a type's heads, {"type": ..., "operation": ..., "task": ...}, and three tables
        of scores of questions: without random heads, without the type's heads, and with all heads.
    tested: names of the analyses whose rows have a p; minima, maxima and quantities that repeat others have none. Rows
        of `left_out` have neither p nor rank, since their random sets are few; other rows have 20,000 sets or more.
    seed: seed of the random sets.

    Columns of the table:
    - type; heads: number of its heads; doubtful: whether the partition marks the type's name as uncertain;
    - analysis, task, quantity: what is measured; statistic: how heads' values become one, or the ablation's operation;
    - value: the type's value; low, high: ends of its 95 % interval over samples or questions (99 % over fewer than 20;
      NaN over fewer than 8, or if the measure has no interval);
    - random, random_low, random_high: mean, 2.5 and 97.5 % quantiles of the random sets' values; draws: number of these
      values; rank: rank of `value` among them, 1 for the largest;
    - p: two-sided p-value of the rank; p_holm: p corrected by Holm for all rows with p;
    - overlap: mean share, 0 to 1, of the heads in a random set that are of the type.
    """
    compared = len(partition.types) * sum(measure.statistic not in _HIDDEN for measure in measures)
    draws = max(_DRAWS, _DRAWS_EACH * compared)
    rows = []
    for name in partition.types:
        own = partition.type_of == name
        about = {"type": name, "doubtful": name in partition.doubtful, "heads": int(own.sum())}
        asked = [measure for measure in measures if measure.about != name]  # no distance from itself
        values = [measure.values(own.reshape(1, -1))[0] for measure in asked]
        beside = _beside(asked, values, own, draw_heads(own, draws, derive_seed(seed, "random_heads", name)))
        for measure, value, place in zip(asked, values, beside, strict=True):
            low, high = (np.nan, np.nan) if measure.interval is None else measure.interval(own.ravel())
            rows.append(about | _row(*measure[:4], value, low, high) | place)
        for names, *scores in left_out:
            if names["type"] == name:
                rows += [about | row for row in _cost_rows(names, *scores)]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    shown = shown_rows(table)
    table["p"] = shown.loc[shown["analysis"].isin(tested), "p"].reindex(table.index)
    table["p_holm"] = holm(table["p"].to_numpy())
    return table


# Without minima, maxima and quantities that repeat others (`Analysis.repeats`). Relations of Universal Dependencies are
# left out if the task has Stanford relations, which are derived from them.
def shown_rows(table: pd.DataFrame) -> pd.DataFrame:
    of_relations = table["analysis"] == "relations"
    derived = of_relations & table["quantity"].str.endswith("(stanford)")
    left_out = of_relations & ~derived & table["task"].isin(table.loc[derived, "task"])
    for analysis in ANALYSES:
        left_out |= (table["analysis"] == analysis.name) & table["quantity"].isin(analysis.repeats)
    return table[~left_out & ~table["statistic"].isin(_HIDDEN)]


read_compared_types = table_reader("holds no types beside random heads", COLUMNS, rows=0)


def _beside(
    measures: Sequence[Measure], values: Sequence[float], own: np.ndarray, drawn: Iterable[np.ndarray]
) -> list[dict]:
    of_blocks, overlaps = [], []
    for sets in drawn:
        of_blocks.append([measure.values(sets) for measure in measures])
        overlaps.append((sets @ own.ravel().astype(float)) / own.sum())
    overlap = float(np.concatenate(overlaps).mean())
    return [
        place_among(value, np.concatenate(of_draws)) | {"overlap": overlap}
        for value, of_draws in zip(values, zip(*of_blocks, strict=True), strict=True)
    ]


def _row(*row: Any) -> dict:
    return dict(zip(("analysis", "task", "quantity", "statistic", "value", "low", "high"), row, strict=True))


# The sets of random heads are few, so that there is neither p nor rank.
def _cost_rows(names: Mapping[str, str], *scores: pd.DataFrame) -> Iterator[dict]:
    for drops in drops_of_draws(*scores).values():
        quantity = f"{drops.metric.change} of {drops.metric.name}"
        row = _row("ablation", names["task"], quantity, names["operation"], drops.own, drops.low, drops.high)
        yield row | place_among(drops.own, drops.draws) | {"rank": None, "p": np.nan, "overlap": drops.overlap}


def compare_files(
    partition: Partition,
    files: Mapping[str, Mapping[str, StrPath]],
    *,
    left_out: Sequence[tuple[Mapping[str, str], StrPath, StrPath, StrPath]] = (),
    tested: Sequence[str],
    seed: int,
) -> pd.DataFrame:
    types = {name: (partition.type_of == name).ravel() for name in partition.types}
    measures = []
    for name, of_tasks in files.items():
        for task, path in of_tasks.items():
            measures += analysis_named(name).per_set(task, path, types, derive_seed(seed, name, task))
    costs = [(names, *read_scored(*paths)) for names, *paths in left_out]
    return compare_types(partition, measures, costs, tested=tested, seed=seed)


# Inches: a row, what stands left of the cells, the gap between columns, a heading of a group, the types' names, the
# legend, the side of a projection, and its title.
_ROW, _NAMES, _GAP, _GROUP, _HEAD, _LEGEND, _PROJECTION, _TITLE = 0.145, 1.25, 0.2, 0.22, 0.62, 0.35, 2.1, 0.32
# The width of a cell below which a number would not fit.
_NARROW = 0.25
# Orange where a type has more than random heads of the same layers, blue where it has less; the darker the surer.
_SHADES = {
    (-1, 2): ("#4A90C4", "less, corrected p < .05"),
    (-1, 1): ("#A9CBE6", "less, p < .01"),
    (1, 2): ("#D98032", "more, corrected p < .05"),
    (1, 1): ("#F3C999", "more, p < .01"),
    (0, 0): ("#F2F2F2", "neither"),
}
# The p-value below which a comparison is shaded by itself.
_SINGLE = 0.01
_DOUBTFUL = " (doubtful)"
_TITLE_OF_LOSS = "rise of the loss without the heads (nats)"


class _Group(NamedTuple):
    title: str
    of_language: bool
    # The name of each line, and by type the rows of its cells.
    lines: list[tuple[str, Mapping[str, pd.Series]]]

    @property
    def height(self) -> float:
        return _GROUP + _ROW * len(self.lines)


@styled
def compared_types_figure(table: pd.DataFrame, partition: Partition, projections: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw types' values beside those of random heads: a line for each quantity and statistic, a cell for each type.

    table: the table of `compare_types`. projections: {task: table with layer, head, x and y}; each is drawn below, with
        a point for each head, in the colour of the head's type in `partition`.
    A cell is coloured if p < 0.01 (pale) or p_holm < 0.05 (darker): orange if the type's value is above the mean of
    random heads, blue if it is below. All other cells are grey.
    """
    groups = []
    for (name, task), rows in shown_rows(table).groupby(["analysis", "task"], sort=False):
        if lines := list(_lines(name, rows, partition)):
            analysis = analysis_named(name)
            of_loss = name == "ablation" and all(line.endswith("rise of loss") for line, _ in lines)
            title = f"{_TITLE_OF_LOSS if of_loss else analysis.title}, {task}"
            groups.append(_Group(title, analysis.of_language, lines))
    # What is known of language stands at the right; if nothing is, and there is no projection, half of the rest.
    columns = [[group for group in groups if group.of_language == side] for side in (False, True)]
    if groups and not all(columns) and not projections:
        ends = np.cumsum([group.height for group in groups])
        half = 1 + int(np.searchsorted(ends, ends[-1] / 2))
        columns = [groups[:half], groups[half:]]
    tall = [_HEAD + sum(group.height for group in column) if column else 0.0 for column in columns]
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
        scatter_types(axes, places, partition, 16)
        frame_projection(axes, places)
        axes.set_title(f"Clark's Figure 6, {task}", loc="left")
        handles, labels = axes.get_legend_handles_labels()
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0.1, "handletextpad": 0.2}
        axes.legend(handles, [label.replace(_DOUBTFUL, "?") for label in labels], **beside)
    axes = figure.add_axes((0, 0, 1, _LEGEND / height))
    axes.axis("off")
    handles = [Rectangle((0, 0), 1, 1, facecolor=colour, label=label) for colour, label in _SHADES.values()]
    axes.legend(handles=handles, loc="center", ncols=3, handlelength=1.4, columnspacing=1.2)
    return figure


def _lines(analysis: str, rows: pd.DataFrame, partition: Partition) -> Iterator[tuple[str, dict]]:
    if analysis == "divergence":
        order = ["inside", *(f"to {name}" for name in partition.types)]
        rows = rows.sort_values("statistic", key=lambda column: column.map(order.index), kind="stable")
    for (quantity, statistic), some in rows.groupby(["quantity", "statistic"], sort=False):
        if some["value"].notna().any():
            cells = {row["type"]: row for _, row in some.iterrows() if row["draws"]}
            yield analysis_named(analysis).line(quantity, statistic), cells


def _draw_column(axes: Axes, column: Sequence[_Group], partition: Partition, width: float, tall: float) -> None:
    axes.set(xlim=(0, width), ylim=(tall, 0))
    axes.axis("off")
    # The last of the names, at an angle, needs room at the right.
    cell = min(0.5, (width - _NAMES - 0.4) / max(len(partition.types), 1))
    styles, labels = type_styles(partition.types), type_labels(partition)
    centre = {name: _NAMES + (index + 0.5) * cell for index, name in enumerate(partition.types)}
    for name, x in centre.items():
        axes.plot([x], [_HEAD - 0.08], styles[name].marker, color=styles[name].colour, ms=4)
        axes.text(x, _HEAD - 0.15, labels[name].replace(_DOUBTFUL, "?"), rotation=30, ha="left", va="bottom")
    y = _HEAD
    for group in column:
        axes.text(0, y + _GROUP - 0.04, group.title, weight="bold", va="bottom")
        y += _GROUP
        for line, cells in group.lines:
            axes.text(_NAMES - 0.06, y + _ROW / 2, line, ha="right", va="center")
            for name, row in cells.items():
                _draw_cell(axes, centre[name], y, cell, row)
            y += _ROW


def _draw_cell(axes: Axes, x: float, y: float, cell: float, row: pd.Series) -> None:
    # The side of the random mean on which the value lies, and how sure that is: 2 after the correction, 1 by itself.
    sureness = 2 if row["p_holm"] < ALPHA else int(row["p"] < _SINGLE)
    shade = (1 if row["value"] > row["random"] else -1, sureness) if sureness else (0, 0)
    style = {"facecolor": _SHADES[shade][0], "edgecolor": "white", "lw": 0.8, "gid": f"{shade[0]}{shade[1]}"}
    axes.add_patch(Rectangle((x - cell / 2, y), cell, _ROW, **style))
    value = row["value"]
    if not math.isnan(value) and cell >= _NARROW:
        # How many heads, or things of which the best head is here.
        counts = row["statistic"].endswith(" here")
        text = f"{value:.0f}" if counts else f"{value:.1f}" if abs(value) >= 9.95 else f"{value:z.2f}"
        axes.text(x, y + _ROW / 2, text, ha="center", va="center", fontsize=SMALL - 0.5)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    files = {analysis.name: inputs[analysis.name] for analysis in ANALYSES if analysis.is_compared}
    files |= by_analysis(inputs.own)
    partition = read_partition(inputs.partition)
    left_out = [
        (spec["left_out"][condition], controls, inputs.scores[condition], inputs.baseline)
        for condition, controls in inputs.controls.items()
    ]
    table = compare_files(partition, files, left_out=left_out, tested=spec["tested"], seed=spec["seed"])
    write_csv(outputs.compared_types, table)
    projections = read_each(read_projection, inputs.projections)
    figure = compared_types_figure(read_compared_types(outputs.compared_types), partition, projections)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
