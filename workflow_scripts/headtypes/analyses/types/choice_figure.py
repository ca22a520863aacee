"""How many types and which method: each criterion by number of clusters, for every method."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from headtypes.analyses.types.choice_files import Choice
from headtypes.analyses.types.names import METHODS
from headtypes.core.style import PAGE, legend_key, styled

# From Paul Tol's muted and high-contrast schemes; all differ from the colours of the types, by a CIE76 distance of 27
# or more, even for a colour-blind reader who lacks one of the three kinds of cones.
COLOURS = dict(zip(METHODS, ("#000000", "#882255", "#DDAA33", "#44AA99"), strict=True))
MARKERS = dict(zip(METHODS, "os^D", strict=True))

_HEIGHT = 7.3
# How far apart, in clusters, the points of neighbouring methods are drawn, so that none hides another.
_APART = 0.17
# The value drawn in black; above one, so that a one is still grey.
_DARKEST = 1.3
# Size in points of the numbers written on the shades.
_NUMBER = 6
_BY_CHANCE, _RING = "0.87", {"marker": "o", "ms": 6.5, "mfc": "none", "mew": 0.8, "ls": "none"}


@styled
def choice_figure(choice: Choice, distance_bins: int) -> Figure:
    """Draw silhouettes, gaps, stability over halves of heads and of samples, and agreement, by number of clusters.

    distance_bins: the number of bins for which `choice` has gaps and stability.
    The whiskers of a silhouette reach to the lowest and the highest of the other numbers of bins, those of a gap are
    one standard error long. A ring marks what the criterion chooses for a method, as in `Choice.best`. A line says what
    the gap statistic chooses if that is one number for all methods.
    """
    figure = Figure(figsize=(PAGE, _HEIGHT), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
    # In figures of their own, since the row labels below would push the panels above to the right.
    above, below = figure.subfigures(2, 1, height_ratios=(2.15, 1))
    (silhouettes, gaps), (heads, samples) = above.subplots(2, 2)
    methods, counts = below.subplots(1, 2)
    of_bins = choice.table[choice.table["distance_bins"] == distance_bins]
    divided = of_bins[of_bins["k"] > 1]
    best = choice.best.set_index("method")

    for method, rows in _by_method(of_bins):
        _draw(gaps, method, rows["gap"], rows["gap_error"])
        _ring(gaps, method, rows["gap"], best["gap_k"])
    spread = choice.table.groupby(["method", "k"])["silhouette"]
    low, high = spread.min(), spread.max()
    for method, rows in _by_method(divided):
        value = rows["silhouette"]
        _draw(silhouettes, method, value, (value - low[method][value.index], high[method][value.index] - value))
        _ring(silhouettes, method, value, best["silhouette_k"])
        for axes, half in ((heads, "heads"), (samples, "samples")):
            _draw(axes, method, rows[f"{half}_all_agree"], style="--", mfc="white", ms=2.6, lw=0.7)
            _draw(axes, method, rows[f"{half}_pairwise"])
            _ring(axes, method, rows[f"{half}_pairwise"], best[f"{half}_k"])
    chance = divided.groupby("k")["chance"]
    for axes in (heads, samples):
        axes.fill_between(chance.min().index, chance.min(), chance.max(), color=_BY_CHANCE, lw=0, zorder=0)
        axes.set(ylim=(0, 106), ylabel="heads of the same type, %")
    silhouettes.set(
        ylabel="mean silhouette", title=f"silhouette, {distance_bins} distance bins (whiskers: other numbers)"
    )
    gaps.set(ylabel="gap", title="gap statistic, with its standard error")
    heads.set(title="stability: models of half of the heads")
    samples.set(title="stability: models of half of the samples")
    for axes in (silhouettes, gaps, heads, samples):
        axes.set(xlabel="number of clusters k")
        axes.set_xticks(sorted((of_bins if axes is gaps else divided)["k"].unique()))
        axes.grid(axis="y", color="0.92", lw=0.5)
        axes.set_axisbelow(True)
    _draw_rands(methods, _between_methods(choice.agreement, distance_bins), "adjusted Rand index of methods")
    _draw_rands(
        counts,
        _between_bins(choice.agreement, distance_bins),
        f"adjusted Rand index with {distance_bins} distance bins",
    )
    for letter, axes in zip("abcdef", (silhouettes, gaps, heads, samples, methods, counts), strict=True):
        axes.annotate(letter, (0, 1), (-14, 5), xycoords="axes fraction", textcoords="offset points", weight="bold")
    chosen = best["gap_k"].dropna().unique()
    if len(chosen) == 1:
        note = f"its rule chooses k = {chosen[0]:.0f} for every method"
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        gaps.annotate(note, (0.98, 0.04), xycoords="axes fraction", ha="right", color="0.35", bbox=behind)
    above.legend(handles=_keys(), loc="outside upper center", ncols=4, handlelength=2.2, columnspacing=2)
    return figure


def _by_method(table: pd.DataFrame):
    for method in METHODS:
        rows = table[table["method"] == method].set_index("k").sort_index()
        if len(rows):
            yield method, rows


def _positions(method: str, k: pd.Index) -> np.ndarray:
    middle = (len(METHODS) - 1) / 2
    return k.to_numpy(dtype=float) + _APART * (METHODS.index(method) - middle)


def _draw(axes: Axes, method: str, values: pd.Series, error=None, style: str = "-", **look) -> None:
    settings = {"color": COLOURS[method], "marker": MARKERS[method], "ms": 3.4, "lw": 1, "mew": 0.7} | look
    axes.errorbar(_positions(method, values.index), values, error, ls=style, elinewidth=0.7, capsize=0, **settings)


def _ring(axes: Axes, method: str, values: pd.Series, chosen: pd.Series) -> None:
    k = chosen[method]
    if pd.notna(k):
        axes.plot(_positions(method, pd.Index([k])), [values[k]], color=COLOURS[method], **_RING)


def _between_methods(agreement: pd.DataFrame, distance_bins: int) -> Mapping[str, pd.Series]:
    """Adjusted Rand indices by k, one series for each pair of methods."""
    of_bins = agreement[
        (agreement["distance_bins"] == distance_bins) & (agreement["other_distance_bins"] == distance_bins)
    ]
    pairs = of_bins.set_index("k").groupby(["method", "other_method"], sort=False)["adjusted_rand"]
    return {f"{one}, {other}": values for (one, other), values in pairs}


def _between_bins(agreement: pd.DataFrame, distance_bins: int) -> Mapping[str, pd.Series]:
    """Adjusted Rand indices by k, one series for each method and other number of distance bins."""
    rows = {}
    for method in METHODS:
        of_method = agreement[(agreement["method"] == method) & (agreement["other_method"] == method)]
        both = of_method[
            (of_method["distance_bins"] == distance_bins) | (of_method["other_distance_bins"] == distance_bins)
        ]
        other = both["distance_bins"] + both["other_distance_bins"] - distance_bins
        rows |= {
            f"{method}: {count}": pairs["adjusted_rand"]
            for count, pairs in both.set_index("k").groupby(other.to_numpy())
        }
    return rows


def _draw_rands(axes: Axes, rows: Mapping[str, pd.Series], title: str) -> None:
    axes.set_title(title)
    if not rows:
        axes.set(xticks=[], yticks=[])
        return
    rands = pd.DataFrame(rows).T.sort_index(axis=1)
    values = rands.to_numpy()
    axes.imshow(values, cmap="Greys", vmin=0, vmax=_DARKEST, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ink = "white" if value > 0.7 else "black"
            # With the typographic minus, and none before a zero.
            shown = f"{round(value, 2) + 0:.2f}".replace("-", "\N{MINUS SIGN}")
            number = axes.text(column, row, shown, color=ink, ha="center", va="center", fontsize=_NUMBER)
            number.set_in_layout(False)
    axes.set_xticks(range(rands.shape[1]), rands.columns)
    axes.set_yticks(range(len(rands)), rands.index)
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("number of clusters k")


def _keys() -> list:
    black = {"color": "0.25", "lw": 1}
    methods = [
        legend_key(color=COLOURS[method], marker=MARKERS[method], ms=3.4, lw=1, label=method) for method in METHODS
    ]
    others = [
        legend_key(label="pairwise agreement", **black),
        legend_key(ls="--", label="all models agree", **black),
        Patch(color=_BY_CHANCE, lw=0, label="pairwise, by chance"),
        legend_key(color="0.25", label="chosen by the criterion", **_RING),
    ]
    # A legend fills its columns downwards.
    return [key for pair in zip(methods, others, strict=True) for key in pair]
