"""Figure 1: for each type, the attention of two of its heads, and the features of all of them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from headtypes.analyses.distances.columns import SELF_AND_SPECIAL
from headtypes.analyses.maps.results import AttentionMaps
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_labels, type_styles
from headtypes.core.heads import head_name
from headtypes.core.style import ATTENTION_COLOURS, PAGE, SMALL, add_attention_bar, attention_scale, clipped, styled

_EXAMPLES = 2
# Types beside each other, at most.
_BESIDE = 4
# Inches: the room for tokens beside the first map of a row and below the last of a column, between columns, a map's
# side, its title, a type's name with its strip of colour.
_TOKENS, _APART, _MAP, _TITLE, _NAME = 0.48, 0.06, 1.55, 0.17, 0.27
# Inches: a box plot, what stands below it, and the scale of grey at the foot.
_BOX, _BELOW, _FOOT = 1.15, 0.55, 0.18
_BLOCK = _NAME + _EXAMPLES * (_TITLE + _MAP) + _TOKENS + _TITLE + _BOX + _BELOW
# Points: of `maps.measure.LEGIBLE_TOKENS`, each has its label.
_TOKEN = 6.0
# Letters of a token that have room there.
_LETTERS = 8
# Labels from below upwards, on one line whatever letters they have.
_UPRIGHT = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center_baseline", "fontsize": _TOKEN}
# Bins that have their number below them, at most.
_NUMBERED = 16
_TOKENS_AS_SHOWN = {"cls": "[CLS]", "sep": "[SEP]"}
_COLUMNS = "distance bin (0: the nearest), the token itself, special tokens"


def typical_heads(partition: Partition, type_name: str) -> np.ndarray:
    """Return the heads that fit best into their type: [two or fewer, 2] int, layer and head, from 0.

    In descending order of silhouette; heads of equal silhouette, or without one, by layer and head.
    """
    heads = partition.table[partition.table["type"] == type_name]
    first = heads.sort_values("silhouette", ascending=False, kind="stable", na_position="last")
    return first[["layer", "head"]].to_numpy()[:_EXAMPLES]


def column_labels(columns: int) -> list[str]:
    """Label a head feature's columns below a plot; if there are many bins, only some are numbered."""
    bins = columns - len(SELF_AND_SPECIAL)
    step = -(-bins // _NUMBERED)
    numbers = [str(bin) if bin % step == 0 else "" for bin in range(bins)]
    return [*numbers, *(_TOKENS_AS_SHOWN.get(name, name) for name in SELF_AND_SPECIAL)]


@styled
def heads_figure(maps: AttentionMaps, features: np.ndarray, partition: Partition) -> Figure:
    """Draw a column per type: the maps of its two most typical heads, and a box plot of its heads' features.

    maps:     of a sample of some 25 tokens; of more than that, not every one has its label. All maps of a row have the
        same tokens, so they stand beside the first and below the last.
    features: [layer * head, column] head features: bins 0..N-1, and `SELF_AND_SPECIAL`.
    """
    labels, styles = type_labels(partition), type_styles(partition.types)
    height = _BLOCK * -(-len(labels) // _BESIDE) + _FOOT
    figure = Figure(figsize=(PAGE, height))
    by_head = features.reshape(*partition.shape, -1)

    def place(left: float, top: float, tall: float) -> Axes:
        return figure.add_axes((left / PAGE, 1 - (top + tall) / height, _MAP / PAGE, tall / height))

    for number, (name, label) in enumerate(labels.items()):
        block, column = divmod(number, _BESIDE)
        left, top = _TOKENS + column * (_MAP + _APART), block * _BLOCK
        colour = styles[name].colour
        strip = Rectangle((left / PAGE, 1 - (top + 0.06) / height), _MAP / PAGE, 0.05 / height, color=colour, lw=0)
        figure.add_artist(strip)
        middle = (left + _MAP / 2) / PAGE
        figure.text(middle, 1 - (top + 0.18) / height, label, ha="center", va="center", fontsize=7.5, weight="bold")
        typical = typical_heads(partition, name)
        for row, (layer, head) in enumerate(typical):
            axes = place(left, top + _NAME + row * (_TITLE + _MAP) + _TITLE, _MAP)
            image = draw_map(axes, maps.attention[layer, head], maps.tokens, _MAP)
            axes.tick_params(labelleft=column == 0, labelbottom=row == len(typical) - 1)
            axes.set_title(f"head {head_name(layer, head)}", pad=2.5, fontsize=SMALL)
        heads = by_head[partition.type_of == name]
        axes = place(left, top + _BLOCK - _BELOW - _BOX, _BOX)
        _draw_boxes(axes, heads, colour)
        axes.set(ylim=(0, 1.03 * features.max()))
        axes.tick_params(axis="y", labelleft=column == 0)
        axes.set_title(f"{len(heads)} of {partition.type_of.size} heads", pad=2.5, fontsize=SMALL)
        if column == 0:
            axes.set_ylabel("share of attention", labelpad=2)
            foot = 1 - (top + _BLOCK - 0.06) / height
            figure.text(_TOKENS / PAGE, foot, _COLUMNS, ha="left", va="center", fontsize=SMALL)
    add_attention_bar(figure, image, (1 - 1.3 / PAGE, 0.15 / height, 1.2 / PAGE, 0.07 / height))
    return figure


def draw_map(axes: Axes, attention: np.ndarray, tokens: list[str], inches: float) -> AxesImage:
    """Draw a head's attention, [query, key], queries downwards, and as many tokens as `inches` have room for."""
    image = axes.imshow(attention, cmap=ATTENTION_COLOURS, norm=attention_scale(), interpolation="auto")
    # As many labels as fit: of every token, or of every second, third, ..., and of the last, which heads often look at.
    step = max(1, int(np.ceil(len(tokens) * _TOKEN / (inches * 72 * 1.1))))
    shown = [*range(0, len(tokens) - step, step), len(tokens) - 1]
    texts = [clipped(tokens[index], _LETTERS) for index in shown]
    axes.set_xticks(shown, texts, **_UPRIGHT)
    axes.set_yticks(shown, texts, fontsize=_TOKEN)
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
