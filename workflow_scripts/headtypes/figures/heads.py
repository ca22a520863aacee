"""Figure 1: of each type two heads' attention, and the features of all its heads."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from headtypes.attention_maps import AttentionMaps
from headtypes.figures.style import (
    ATTENTION_COLOURS,
    PAGE,
    TOKEN,
    add_attention_bar,
    attention_scale,
    head_name,
    style,
    type_labels,
    type_styles,
)
from headtypes.partitions import Partition

_EXAMPLES = 2
# Inches: side of a map, height of a type's row, of the scale below them, of the room for tokens beside a map.
_MAP, _ROW, _FOOT, _TOKENS = 1.72, 2.38, 0.3, 0.47
_BOX_LEFT = _EXAMPLES * (_TOKENS + _MAP) + 0.46
# Windows that have their number below them, at most.
_NUMBERED = 16


def typical_heads(partition: Partition, type_name: str) -> np.ndarray:
    """The heads of a type that lie best within it: [two or fewer, 2] int, layer and head, from 0.

    By falling silhouette; heads of equal silhouette, or without one, by layer and head.
    """
    mine = partition.table[partition.table["type"] == type_name]
    first = mine.sort_values("silhouette", ascending=False, kind="stable", na_position="last")
    return first[["layer", "head"]].to_numpy()[:_EXAMPLES]


def column_labels(columns: int) -> list[str]:
    """What the columns of a head feature are called below a plot; of many windows, every few have their number."""
    windows = columns - 5
    step = -(-windows // _NUMBERED)
    numbers = [str(window) if window % step == 0 else "" for window in range(windows)]
    return [*numbers, "self", "[CLS]", "[SEP]", "comma", "period"]


@style()
def heads_figure(maps: AttentionMaps, features: np.ndarray, partition: Partition) -> Figure:
    """Draw a row per type: the maps of its two most typical heads, and a box plot of its heads' features.

    maps:     of a sample of some 25 tokens; of more than 30, not every one has its label.
    features: [layer * head, N + 5] head features: windows 0..N-1, self, cls, sep, comma, period.
    """
    labels, styles = type_labels([partition]), type_styles(partition.types)
    height = _ROW * len(labels) + _FOOT
    figure = Figure(figsize=(PAGE, height))
    by_head = features.reshape(*partition.shape, -1)

    def place(left: float, bottom: float, width: float, tall: float) -> Axes:
        return figure.add_axes((left / PAGE, bottom / height, width / PAGE, tall / height))

    for row, (name, label) in enumerate(labels.items()):
        top = height - row * _ROW - 0.34
        heads = partition.heads_of(name)
        count = f"{len(heads)} of {partition.type_of.size} heads"
        colour = styles[name].colour
        size = 0.11 / PAGE, 0.11 / height
        figure.add_artist(Rectangle((0.05 / PAGE, (top + 0.195) / height), *size, color=colour, lw=0))
        figure.text(0.21 / PAGE, (top + 0.25) / height, label, fontsize=9, weight="bold", va="center")
        figure.text(1 - 0.05 / PAGE, (top + 0.25) / height, count, ha="right", va="center")
        for column, (layer, head) in enumerate(typical_heads(partition, name)):
            axes = place(column * (_TOKENS + _MAP) + _TOKENS, top - _MAP, _MAP, _MAP)
            image = _draw_map(axes, maps.attention[layer, head], maps.tokens)
            axes.set_title(f"head {head_name(layer, head)}", pad=3, fontsize=7.5)
        _draw_boxes(place(_BOX_LEFT, top - _MAP, PAGE - _BOX_LEFT - 0.05, _MAP), by_head[tuple(heads.T)], colour)
    add_attention_bar(figure, image, ((_TOKENS + 0.6) / PAGE, 0.17 / height, 1.4 / PAGE, 0.07 / height))
    return figure


def _draw_map(axes: Axes, attention: np.ndarray, tokens: list[str]) -> AxesImage:
    image = axes.imshow(attention, cmap=ATTENTION_COLOURS, norm=attention_scale(), interpolation="auto")
    # As many labels as have room: all, or every second, third, ... token.
    step = max(1, int(np.ceil(len(tokens) * TOKEN / (_MAP * 72 * 1.1))))
    shown = range(0, len(tokens), step)
    texts = [tokens[index] if len(tokens[index]) <= 10 else f"{tokens[index][:9]}…" for index in shown]
    axes.set_xticks(shown, texts, rotation=90, fontsize=TOKEN)
    axes.set_yticks(shown, texts, fontsize=TOKEN)
    axes.tick_params(length=1.5, pad=1, width=0.4)
    axes.spines[:].set_visible(True)
    return image


def _draw_boxes(axes: Axes, features: np.ndarray, colour: str) -> None:
    columns = features.shape[1]
    axes.boxplot(
        features,
        positions=range(columns),
        widths=0.7,
        patch_artist=True,
        boxprops={"facecolor": colour, "linewidth": 0.4, "alpha": 0.7},
        medianprops={"color": "black", "linewidth": 0.9},
        whiskerprops={"linewidth": 0.5},
        capprops={"linewidth": 0.5},
        flierprops={"marker": ".", "markersize": 2, "markerfacecolor": "0.4", "markeredgecolor": "none"},
    )
    axes.set_xticks(range(columns), column_labels(columns), rotation=90, fontsize=TOKEN)
    axes.set(ylim=(0, 1), xlim=(-0.7, columns - 0.3))
    axes.tick_params(pad=1)
    axes.set_ylabel("share of attention", labelpad=2)
