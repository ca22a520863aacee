"""Clark's Figure 6: the heads in two dimensions by how differently they attend, marked in three ways."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure

from headtypes.analyses.coreference.accuracy import read_coreference
from headtypes.analyses.divergence.results import read_projection, read_projection_fit
from headtypes.analyses.relations.accuracy import read_best_heads
from headtypes.analyses.surface.results import Surface
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import frame_projection, scatter_heads, scatter_types
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.heads import head_name
from headtypes.core.style import PAGE, PALETTE, SMALL, layer_ticks, save_figure, styled
from headtypes.papers.clark2019.claims.statistics import behaviours_of, whole_statistics
from headtypes.papers.clark2019.figures.by_layer import add_legend_above
from headtypes.papers.clark2019.figures.lines import best_of_mentions, best_of_relations
from headtypes.papers.clark2019.published import Clark2019

# Label, colour and marker of each behaviour; a second sign beside the colour, as everywhere.
_BEHAVIOURS = {
    "next": ("next token", PALETTE[1], ">"),
    "previous": ("previous token", PALETTE[0], "<"),
    "broad": ("broad", PALETTE[4], "^"),
    "cls": ("[CLS]", PALETTE[3], "D"),
    "sep": ("[SEP]", PALETTE[5], "s"),
    "punctuation": (". or ,", PALETTE[2], "P"),
}
# As many kinds of crosses as Clark's Figure 6 has relations, and one for coreference.
_CROSSES = ("x", "+", "1", "2", "3", "4")
_NONE = ("none of these", "0.7", ".")
_SIZE = 13
_LEGEND = {"handletextpad": 0.1, "columnspacing": 0.6}
# Lengths that a bar of scale may have, in the unit of the projection.
_BARS = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
# Inches: a line of the legends; the side of a panel, the room at its left, between panels and below them; a title.
_LINE, _SIDE, _LEFT, _GAP, _BELOW, _TITLE = 0.15, 2.2, 0.03, 0.12, 0.28, 0.2


def phenomena_of_heads(relations: Sequence[StrPath], mentions: Sequence[StrPath]) -> dict[tuple[int, int], str]:
    """Name the relations or mentions that heads of a model are best at, by layer and head, from its first tables of
    both.
    """
    best_heads = [best for path in relations[:1] for best in best_of_relations(read_best_heads(path))]
    best_heads += [best_of_mentions(read_coreference(path)) for path in mentions[:1]]
    heads: dict[tuple[int, int], list[str]] = {}
    for best in best_heads:
        heads.setdefault((best.layer, best.head), []).append(best.phenomenon)
    return {head: ", ".join(phenomena) for head, phenomena in heads.items()}


@styled
def divergence_figure(
    places: pd.DataFrame,
    summary: Mapping,
    behaviours: np.ndarray,
    partition: Partition | None,
    best: Mapping[tuple[int, int], str],
) -> Figure:
    """Draw each head at its place, marked by its behaviour, by its layer and, where heads have types, by its type.

    places, summary: as `projection.project_heads` returns them.
    behaviours: [layer, head] str, as `statistics.behaviours_of` returns them.
    best: what heads are best at, by layer and head from 0: crosses on their places, which the legend explains.
    """
    kinds = max(len(set(behaviours.ravel())) + len(best), 0 if partition is None else len(partition.types))
    lines = -(-kinds // 2)
    above = _LINE * (lines + 0.5)
    height = _BELOW + _SIDE + above + _TITLE
    figure = Figure(figsize=(PAGE, height))
    panels = [
        figure.add_axes((left / PAGE, _BELOW / height, _SIDE / PAGE, _SIDE / height))
        for left in (_LEFT + index * (_SIDE + _GAP) for index in range(2 if partition is None else 3))
    ]
    _mark_behaviours(panels[0], places, behaviours, best)
    _mark_layers(figure, panels[1], places)
    if partition is not None:
        scatter_types(panels[2], places, partition, _SIZE)
        add_legend_above(panels[2], **_LEGEND)
    titles = ("by behaviour", "by layer", "by Guan's type")
    for axes, title in zip(panels, titles, strict=False):
        # Above the legend.
        axes.set_title(title, loc="left", pad=72 * above)
        half = frame_projection(axes, places)
    _add_bar(panels[0], half, "nats a row")
    figure.text(_LEFT / PAGE, 0.08 / height, _fit(summary), fontsize=SMALL, ha="left", va="bottom")
    return figure


def _mark_behaviours(
    axes: Axes, places: pd.DataFrame, behaviours: np.ndarray, best: Mapping[tuple[int, int], str]
) -> None:
    of_head = behaviours[places["layer"], places["head"]]
    for name in ["", *_BEHAVIOURS]:
        label, colour, marker = _BEHAVIOURS.get(name, _NONE)
        # A dot is half as wide as other markers of its size.
        size = 2 * _SIZE if marker == "." else _SIZE
        scatter_heads(axes, places[of_head == name], colour, marker, label, size)
    for ((layer, head), what), marker in zip(best.items(), _CROSSES, strict=False):
        place = places[(places["layer"] == layer) & (places["head"] == head)]
        label = f"{what}: {head_name(layer, head)}"
        axes.scatter(place["x"], place["y"], s=26, c="black", marker=marker, lw=0.9, label=label, gid=label)
    add_legend_above(axes, **_LEGEND)


def _mark_layers(figure: Figure, axes: Axes, places: pd.DataFrame) -> None:
    layers = int(places["layer"].max()) + 1
    colours = matplotlib.colormaps["viridis"].resampled(layers)
    for layer, heads in places.groupby("layer"):
        scatter_heads(axes, heads, colours(layer), "o", str(layer + 1), _SIZE)
    scale = ScalarMappable(BoundaryNorm(np.arange(0.5, layers + 1), layers), colours)
    bar = figure.colorbar(
        scale,
        cax=axes.inset_axes((0, 1.08, 1, 0.05)),
        orientation="horizontal",
        ticks=layer_ticks(layers),
    )
    bar.ax.tick_params(length=0, pad=1.5)
    bar.ax.minorticks_off()
    bar.outline.set_linewidth(0.5)


def _add_bar(axes: Axes, half: float, unit: str) -> None:
    """Show how long a distance is, since places have no other scale; half: half the width of the panel."""
    length = next((bar for bar in _BARS if bar <= 0.6 * half), None)
    if length is None:
        return
    left, low = axes.get_xlim()[0] + 0.08 * half, axes.get_ylim()[0] + 0.1 * half
    axes.plot([left, left + length], [low, low], color="black", lw=1.2, solid_capstyle="butt", gid="scale")
    axes.annotate(
        f"{length:g} {unit}",
        (left + length, low),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
    )


def _fit(summary: Mapping) -> str:
    stress, correlation, layers = summary["stress"], summary["correlation"], summary["layers"]
    parts = [] if stress is None else [f"stress-1: {stress:.2f}"]
    parts += [] if correlation is None else [f"correlation of distances: {correlation:.2f}"]
    if layers["difference"] is not None:
        parts.append(
            f"mean divergence within layers {layers['within']:.3f}, between {layers['between']:.3f} nats a row"
        )
    return "; ".join(parts)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Clark2019.read(inputs.reference)
    figure = divergence_figure(
        read_projection(inputs.projection),
        read_projection_fit(inputs.fit),
        behaviours_of(published.behaviours, whole_statistics(read_arrays(inputs.surface, Surface), None, published)),
        read_partition(inputs.partition) if inputs.partition else None,
        phenomena_of_heads(list(inputs.relations.values()), list(inputs.coreference.values())),
    )
    save_figure(figure, outputs.pdf, outputs.png, provenance)
