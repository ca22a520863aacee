"""The job that clusters heads, with its figure; jobs that read clusters alone do not depend on the figure's code."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from headtypes.analyses.distances.features import read_distance, read_head_features
from headtypes.analyses.types.clustering import (
    chosen_numbers,
    cluster_heads,
    compare_numbers,
    measure_stability,
    own_cluster_share,
    partition_of,
)
from headtypes.analyses.types.gaps import head_gaps
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_labels, type_patches, type_styles
from headtypes.core.files import derive_seed, write_json
from headtypes.core.progress import warn
from headtypes.core.style import (
    PAGE,
    PAGE_HEIGHT,
    PALETTE,
    SMALL,
    layer_ticks,
    legend_height,
    legend_key,
    save_figure,
    styled,
)
from headtypes.core.table_files import write_csv

# Inches: of the panels above, of a layer at most, and around the tiles of a model.
_ABOVE, _LAYER, _AROUND = 2.3, 0.21, 0.55
# Heads of a layer that have room in half the width of a page.
_BESIDE = 16
_COLUMNS = 4
_COLOURS, _BY_CHANCE = {"heads": PALETTE[0], "samples": PALETTE[1]}, "0.87"
_RING = {"marker": "o", "ms": 7, "mfc": "none", "mec": "0.25", "mew": 0.8, "ls": "none"}


@styled
def stability_figure(stability: dict, numbers: pd.DataFrame, partition: Partition) -> Figure:
    layers, heads = partition.shape
    labels = type_labels(partition)
    columns = 2 if heads <= _BESIDE else 1
    rows, legend = 2 // columns, legend_height(labels, _COLUMNS) + 0.1
    tall = min(layers * _LAYER, (PAGE_HEIGHT - _ABOVE - legend) / rows - _AROUND)
    below = legend + rows * (tall + _AROUND)
    figure = Figure(figsize=(PAGE, _ABOVE + below), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.05, h_pad=0.04)
    # In figures of their own, since the labels of the one would push the panels of the other.
    upper, lower = figure.subfigures(2, 1, height_ratios=(_ABOVE, below))
    silhouettes, line, halves = upper.subplots(1, 3)
    _draw_numbers(silhouettes, halves, stability["chosen"], numbers.set_index("k"), len(partition.types))
    keys = [
        *(legend_key(color=colour, lw=1, label=f"half of the {half}") for half, colour in _COLOURS.items()),
        legend_key(color="0.25", lw=1, label="two agree"),
        legend_key(color="0.25", lw=0.8, ls="--", label="all agree"),
        Patch(color=_BY_CHANCE, lw=0, label="two agree by chance"),
        legend_key(label="chosen", **_RING),
    ]
    upper.legend(handles=keys, loc="outside upper center", ncols=6, handlelength=1.6, columnspacing=1.5)
    colours = [to_rgb(type_styles(partition.types)[name].colour) for name in partition.type_of.reshape(-1)]
    line.set(title="heads along a line", xlabel="between two clusters", ylabel="percent of the heads")
    if (gaps := stability["gaps"]) is not None:
        order = np.argsort(gaps["position"])
        percent = 100 * (1 + np.arange(len(order))) / len(order)
        line.scatter(np.array(gaps["position"])[order], percent, s=5, c=np.array(colours)[order], lw=0)
    tiles = lower.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes, half in zip(tiles, _COLOURS, strict=True):
        percent = np.reshape(stability[half]["by_head"], partition.shape)
        _draw_tiles(axes, percent, np.reshape(colours, (layers, heads, 3)), min(PAGE / columns / heads, tall / layers))
        axes.set(title=f"clusterings of half of the {half} that give a head its type, %", xlabel="head", ylabel="layer")
        axes.title.set_fontsize(SMALL)
    # Tiles and points have colours alone.
    keys = type_patches(type_styles(partition.types), labels, hatched=False)
    lower.legend(handles=keys, loc="outside lower center", ncols=_COLUMNS)
    return figure


def _draw_numbers(silhouettes: Axes, halves: Axes, chosen: dict[str, int | None], by_k: pd.DataFrame, k: int) -> None:
    silhouettes.plot(by_k["silhouette"].dropna(), "o-", color="0.25", ms=3, lw=1)
    silhouettes.set(title="silhouette", ylabel="mean over heads")
    chance = by_k["chance"].dropna()
    halves.fill_between(chance.index, chance, color=_BY_CHANCE, lw=0, zorder=0)
    for half, colour in _COLOURS.items():
        halves.plot(by_k[f"{half}_pairwise"].dropna(), "o-", color=colour, ms=3, lw=1)
        halves.plot(by_k[f"{half}_all_agree"].dropna(), "--", color=colour, lw=0.8)
    halves.set(title="stability", ylabel="heads of the same type, %", ylim=(0, 105))
    rings = {"silhouette": silhouettes, "heads": halves, "samples": halves}
    for name, axes in rings.items():
        if (best := chosen[name]) is not None:
            axes.plot(best, by_k.loc[best, name if axes is not halves else f"{name}_pairwise"], **_RING)
    for axes in (silhouettes, halves):
        axes.axvline(k, color="0.6", lw=0.7, ls=":", zorder=0)
        axes.set(xlabel="number of clusters", xticks=by_k.index)


def _draw_tiles(axes: Axes, percent: np.ndarray, colours: np.ndarray, inches: float) -> None:
    layers, heads = percent.shape
    strength = (0.12 + 0.88 * percent / 100)[..., None]
    axes.imshow(1 - strength * (1 - colours), aspect="auto", extent=(0.5, heads + 0.5, layers + 0.5, 0.5))
    for (layer, head), value in np.ndenumerate(percent):
        if value < 100:
            # Black on white, since a colour may have any strength.
            box = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
            about = {"ha": "center", "va": "center_baseline", "fontsize": min(SMALL, 40 * inches), "bbox": box}
            axes.text(head + 1, layer + 1, f"{value:.0f}", **about).set_in_layout(False)
    axes.hlines(np.arange(1, layers) + 0.5, 0.5, heads + 0.5, color="white", lw=0.8)
    axes.vlines(np.arange(1, heads) + 0.5, 0.5, layers + 0.5, color="white", lw=0.8)
    axes.set(xticks=range(1, heads + 1, 1 + heads // 33), yticks=layer_ticks(layers))
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    read, seeds = spec.pop("features"), spec.pop("stability")
    features, shape = read_head_features(inputs.features, **read)
    clustering, distance = cluster_heads(features, **spec), read_distance(inputs.features, **read)
    stability = measure_stability(distance, clustering.labels, **{**spec, "seed": seeds["seed"]})
    numbers, mixtures = compare_numbers(distance, **{**spec, "seed": seeds["numbers_seed"]})
    stability |= {
        "own_cluster": own_cluster_share(distance, clustering.labels),
        "gaps": head_gaps(distance.mean(axis=0, dtype=float), derive_seed(seeds["numbers_seed"], "gaps")),
        "chosen": chosen_numbers(numbers),
        "mixtures": mixtures,
    }
    clustering = clustering.named_again(stability["profiles"])
    warn(provenance, filter(None, clustering.naming.doubts))
    write_json(outputs.naming, {**clustering.naming.as_dict(), "provenance": provenance})
    partition = partition_of(clustering, features, shape)
    write_csv(outputs.partition, partition.table)
    write_json(outputs.stability, {**stability, "provenance": provenance})
    write_csv(outputs.numbers, numbers)
    save_figure(stability_figure(stability, numbers, partition), outputs.pdf, outputs.png, provenance)
