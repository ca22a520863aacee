"""Clark's Figures 2 to 4: attention to special tokens and neighbours, gradients, and entropy, by layer.

In Figures 2 and 4 a statistic of every head is a dot, and the layers' means are a line; Figure 3 has means alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headtypes.analyses.gradients.results import ATTENDED, Gradients, read_gradients
from headtypes.analyses.surface.results import Surface
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.style import PAGE, PALETTE, layer_ticks, legend_key, save_figure, styled
from headtypes.data.kinds.metrics import MEASURES
from headtypes.papers.clark2019.claims.statistics import Statistics, published_statistics, whole_statistics
from headtypes.papers.clark2019.published import Clark2019

# Where heads of several series lie in a layer, in layers; all of them together.
_SPREAD = 0.5
_BLUE, _VERMILION, _SKY, _PURPLE, _ORANGE, _GREEN = PALETTE[:6]


class Series(NamedTuple):
    """A statistic, and how it is drawn and called."""

    statistic: str
    label: str
    colour: str
    marker: str

    def key(self, label: str = "", **look) -> Line2D:
        return legend_key(
            **{"color": self.colour, "marker": self.marker, "ms": 3, "mew": 0, "lw": 1.1, **look},
            label=label or self.label,
        )


# The first token stands in where a model has no [CLS].
_SHARES = {
    "special tokens": (
        Series("cls", "[CLS]", _VERMILION, "o"),
        Series("first", "first token", _VERMILION, "o"),
        Series("sep", "[SEP]", _BLUE, "s"),
        Series("punctuation", ". or ,", _PURPLE, "^"),
    ),
    "[SEP]": (
        Series("other_to_sep", "others to [SEP]", _BLUE, "s"),
        Series("sep_to_sep", "[SEP] to [SEP]", _GREEN, "D"),
    ),
    "neighbours": (
        Series("previous", "previous token", _BLUE, "<"),
        Series("next", "next token", _VERMILION, ">"),
        Series("self", "token itself", _PURPLE, "o"),
    ),
}
_ENTROPIES = (Series("entropy", "all tokens", _BLUE, "o"), Series("entropy_cls", "from [CLS]", _VERMILION, "o"))
# The paper has no line of its own for [CLS], which other models use as BERT uses [SEP].
_GRADIENTS = (
    Series("all", "to all tokens", "0.25", "o"),
    Series("sep", "to [SEP]", _BLUE, "s"),
    Series("punctuation", "to . or ,", _PURPLE, "^"),
    Series("cls", "to [CLS]", _VERMILION, "D"),
)
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOSSES = {
    "masked_words": "loss of masked words",
    "next_token": "loss of the next token",
    **{kind: f"loss on {counted}" for kind, (_, counted) in MEASURES.items()},
}


@styled
def surface_figure(statistics: Statistics, published: Statistics | None) -> Figure:
    """Draw Figure 2: a dot per head in its layer (from 1) and, but for neighbours, lines of the layers' means.

    published: the paper's means by layer, drawn as pale lines if the model has as many layers; None to leave them out.
    """
    published = _of_same_depth(published, statistics)
    figure = Figure(figsize=(PAGE, 2.5), layout="constrained")
    panels = figure.subplots(1, len(_SHARES), sharey=True)
    for axes, (title, series) in zip(panels, _SHARES.items(), strict=True):
        shown = [one for one in series if one.statistic in statistics.layers]
        if any(one.statistic == "cls" for one in shown):
            shown = [one for one in shown if one.statistic != "first"]
        axes.set_title(title, loc="left", pad=26)
        if not shown:
            say(axes, statistics.missing[series[0].statistic])
            continue
        means = title != "neighbours"
        _draw_heads(axes, shown, statistics, published, means)
        axes.set(ylim=(-0.02, 1.02))
        keys = [one.key(lw=1.1 if means else 0) for one in shown]
        if published is not None and any(one.statistic in published.layers for one in shown):
            keys.append(_published_key())
        add_legend_above(axes, handles=keys, columnspacing=0.9, handletextpad=0.4)
    panels[0].set_ylabel("share of attention")
    return figure


@styled
def gradient_figure(gradients: Gradients) -> Figure:
    """Draw Figure 3: layers' means of |dLoss / dA|, and each divided by all tokens'; or say why there are none."""
    figure = Figure(figsize=(PAGE, 0.7 if gradients.loss is None else 2.2), layout="constrained")
    if gradients.loss is None:
        say(figure.subplots(), f"No gradients: the model {gradients.reason}.")
        return figure
    values, ratios = figure.subplots(1, 2)
    by_kind = {kind: gradients.values[..., index].mean(axis=-1) for index, kind in enumerate(ATTENDED)}
    layers = np.arange(1, len(gradients.values) + 1)
    power = int(np.floor(np.log10(np.nanmax(by_kind["all"]) or 1.0)))
    shown = [one for one in _GRADIENTS if not np.isnan(by_kind[one.statistic]).any()]
    for kind, _, colour, marker in shown:
        look = {"color": colour, "marker": marker, "ms": 3, "mew": 0, "lw": 1.1, "gid": kind}
        values.plot(layers, by_kind[kind] / 10.0**power, **look)
        ratios.plot(layers, by_kind[kind] / by_kind["all"], **look)
    for axes in (values, ratios):
        _number_layers(axes, len(layers))
        axes.set_ylim(bottom=0)
    unit = "" if power == 0 else f" / 10{str(power).translate(_SUPERSCRIPT)}"
    values.set_ylabel(f"mean |∂L/∂A|{unit}")
    values.set_title(_LOSSES[gradients.loss], loc="left")
    ratios.set_ylabel("ratio to all tokens")
    ratios.set_title("divided by the mean over all tokens", loc="left")
    _add_legend(figure, [one.key() for one in shown])
    return figure


@styled
def entropy_figure(statistics: Statistics, published: Statistics | None) -> Figure:
    """Draw Figure 4: dots, means, and the entropy of uniform attention; published: as of `surface_figure`."""
    published = _of_same_depth(published, statistics)
    figure = Figure(figsize=(PAGE, 2.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    layers = np.arange(1, len(statistics.uniform) + 1)
    for axes, series in zip(panels, _ENTROPIES, strict=True):
        axes.set_title(series.label, loc="left")
        if series.statistic not in statistics.heads:
            say(axes, statistics.missing[series.statistic])
            continue
        _draw_heads(axes, [series], statistics, published)
        ends = np.concatenate([[0.5], layers, [layers[-1] + 0.5]])
        uniform = np.pad(statistics.uniform, 1, mode="edge")
        axes.plot(ends, uniform, color="black", lw=0.9, ls=(0, (4, 2)), gid="uniform")
        axes.set_ylim(-0.03 * statistics.uniform.max(), 1.08 * statistics.uniform.max())
    panels[0].set_ylabel("entropy of attention (nats)")
    keys = [
        _ENTROPIES[0].key("head", color="0.35", lw=0),
        legend_key(color="0.35", lw=1.1, label="mean of the layer"),
        legend_key(color="black", lw=0.9, ls=(0, (4, 2)), label="uniform attention"),
    ]
    _add_legend(figure, keys if published is None else [*keys, _published_key()])
    return figure


def say(axes: Axes, sentence: str) -> None:
    axes.text(0.5, 0.5, sentence, transform=axes.transAxes, ha="center", va="center", color="0.35", wrap=True)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def add_legend_above(axes: Axes, **how) -> None:
    """Add a legend of two columns above a panel; how: arguments of `Axes.legend`."""
    pads = {"borderpad": 0.1, "borderaxespad": 0.1, "labelspacing": 0.25}
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, handlelength=1.4, **pads, **how)


def _of_same_depth(published: Statistics | None, statistics: Statistics) -> Statistics | None:
    depths = [len(next(iter(values.layers.values()))) for values in (published, statistics) if values is not None]
    return published if len(set(depths)) == 1 else None


def _draw_heads(
    axes: Axes, series: Sequence[Series], statistics: Statistics, published: Statistics | None, means: bool = True
) -> None:
    """Draw a dot for each head of each series, the series side by side, and lines of the layers' means."""
    for index, (name, _, colour, marker) in enumerate(series):
        heads = statistics.heads[name]
        layers = np.arange(1, len(heads) + 1)
        shift = _SPREAD * ((index + 0.5) / len(series) - 0.5)
        if published is not None and name in published.layers:
            pale = {"lw": 4, "alpha": 0.25, "solid_capstyle": "round", "zorder": 1}
            axes.plot(layers, published.layers[name], color=colour, gid=f"published-{name}", **pale)
        dots = {"ls": "", "ms": 2.2, "mew": 0, "alpha": 0.65, "zorder": 2}
        places = np.repeat(layers + shift, heads.shape[1])
        axes.plot(places, heads.ravel(), color=colour, marker=marker, gid=f"heads-{name}", **dots)
        if means:
            axes.plot(layers, statistics.layers[name], color=colour, lw=1.1, zorder=3, gid=f"mean-{name}")
    _number_layers(axes, len(layers))


def _number_layers(axes: Axes, layers: int) -> None:
    axes.set_xticks(layer_ticks(layers))
    axes.set(xlabel="layer", xlim=(0.5, layers + 0.5))


def _published_key() -> Line2D:
    return legend_key(color="0.5", lw=4, alpha=0.35, label="published means")


def _add_legend(figure: Figure, keys: Sequence[Line2D]) -> None:
    figure.legend(handles=keys, loc="outside upper right", ncols=len(keys), columnspacing=1.2, handletextpad=0.5)


def run_surface(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Clark2019.read(inputs.reference)
    ours = whole_statistics(read_arrays(inputs.surface, Surface), None, published)
    theirs = published_statistics(published) if spec["beside"] else None
    save_figure(surface_figure(ours, theirs), outputs.pdf_2, outputs.png_2, provenance)
    save_figure(entropy_figure(ours, theirs), outputs.pdf_4, outputs.png_4, provenance)


def run_gradients(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    save_figure(gradient_figure(read_gradients(inputs.gradients)), outputs.pdf, outputs.png, provenance)
