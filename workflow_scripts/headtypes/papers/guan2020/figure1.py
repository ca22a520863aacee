"""Figure 1: for each type, the attention of two of its heads, and the features of all of them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from headtypes.attention.map_files import AttentionMaps
from headtypes.figures.style import (
    ATTENTION_COLOURS,
    PAGE,
    TOKEN,
    add_attention_bar,
    attention_scale,
    head_name,
    styled,
    type_labels,
    type_styles,
)
from headtypes.types.partitions import Partition

_EXAMPLES = 2
# Inches: a type's name at the left; the room for tokens beside and below a map, the map's side, its title.
_NAME, _TOKENS, _MAP, _TITLE = 0.22, 0.46, 1.65, 0.17
_ROW = _TITLE + _MAP + _TOKENS
_BOX_LEFT = _NAME + _EXAMPLES * (_TOKENS + _MAP) + 0.43
# Letters of a token that have room there.
_LETTERS = 8
# The scale of grey, below the last box plot, whose labels leave room for a part of it.
_FOOT = 0.12
# Labels from below upwards, on one line whatever letters they have.
_UPRIGHT = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center_baseline", "fontsize": TOKEN}
# Bins that have their number below them, at most.
_NUMBERED = 16


def typical_heads(partition: Partition, type_name: str) -> np.ndarray:
    """The heads that fit best into their type: [two or fewer, 2] int, layer and head, from 0.

    In descending order of silhouette; heads of equal silhouette, or without one, by layer and head.
    """
    heads = partition.table[partition.table["type"] == type_name]
    first = heads.sort_values("silhouette", ascending=False, kind="stable", na_position="last")
    return first[["layer", "head"]].to_numpy()[:_EXAMPLES]


def column_labels(columns: int) -> list[str]:
    """The labels of a head feature's columns below a plot; if there are many bins, only some are numbered."""
    bins = columns - 5
    step = -(-bins // _NUMBERED)
    numbers = [str(bin) if bin % step == 0 else "" for bin in range(bins)]
    return [*numbers, "self", "[CLS]", "[SEP]", "comma", "period"]


@styled
def heads_figure(maps: AttentionMaps, features: np.ndarray, partition: Partition) -> Figure:
    """Draw a row per type: the maps of its two most typical heads, and a box plot of its heads' features.

    maps:     of a sample of some 25 tokens; of more than 30, not every one has its label.
    features: [layer * head, N + 5] head features: bins 0..N-1, self, cls, sep, comma, period.
    """
    labels, styles = type_labels(partition), type_styles(partition.types)
    height = _ROW * len(labels) + _FOOT
    figure = Figure(figsize=(PAGE, height))
    by_head = features.reshape(*partition.shape, -1)

    def place(left: float, bottom: float, width: float, tall: float) -> Axes:
        return figure.add_axes((left / PAGE, bottom / height, width / PAGE, tall / height))

    for row, (name, label) in enumerate(labels.items()):
        bottom = height - row * _ROW - _TITLE - _MAP
        heads = partition.heads_of(name)
        colour = styles[name].colour
        strip = Rectangle((0.02 / PAGE, bottom / height), 0.07 / PAGE, _MAP / height, color=colour, lw=0)
        figure.add_artist(strip)
        middle = (bottom + _MAP / 2) / height
        figure.text(0.19 / PAGE, middle, label, rotation=90, ha="center", va="center", fontsize=8, weight="bold")
        for column, (layer, head) in enumerate(typical_heads(partition, name)):
            left = _NAME + column * (_TOKENS + _MAP) + _TOKENS
            axes = place(left, bottom, _MAP, _MAP)
            image = _draw_map(axes, maps.attention[layer, head], maps.tokens)
            axes.set_title(f"head {head_name(layer, head)}", pad=2.5, fontsize=7.5)
        axes = place(_BOX_LEFT, bottom, PAGE - _BOX_LEFT - 0.03, _MAP)
        _draw_boxes(axes, by_head[tuple(heads.T)], colour)
        axes.set(ylim=(0, 1.03 * features.max()))
        axes.set_title(f"{len(heads)} of {partition.type_of.size} heads", pad=2.5, fontsize=7.5)
    add_attention_bar(figure, image, (1 - 1.3 / PAGE, 0.15 / height, 1.2 / PAGE, 0.07 / height))
    return figure


def _draw_map(axes: Axes, attention: np.ndarray, tokens: list[str]) -> AxesImage:
    image = axes.imshow(attention, cmap=ATTENTION_COLOURS, norm=attention_scale(), interpolation="auto")
    # As many labels as fit: of every token, or of every second, third, ..., and of the last, which heads often look at.
    step = max(1, int(np.ceil(len(tokens) * TOKEN / (_MAP * 72 * 1.1))))
    shown = [*range(0, len(tokens) - step, step), len(tokens) - 1]
    texts = [
        tokens[index] if len(tokens[index]) <= _LETTERS else f"{tokens[index][: _LETTERS - 1]}…" for index in shown
    ]
    axes.set_xticks(shown, texts, **_UPRIGHT)
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
        boxprops={"facecolor": colour, "linewidth": 0.4},
        medianprops={"color": "black", "linewidth": 0.9},
        whiskerprops={"linewidth": 0.5},
        capprops={"linewidth": 0.5},
        flierprops={"marker": ".", "markersize": 2, "markerfacecolor": "0.4", "markeredgecolor": "none"},
    )
    axes.set_xticks(range(columns), column_labels(columns), **_UPRIGHT)
    axes.set_xlim(-0.7, columns - 0.3)
    axes.tick_params(pad=1)
    axes.set_ylabel("share of attention", labelpad=2)
