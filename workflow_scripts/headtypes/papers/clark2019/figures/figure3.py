"""Clark's Figure 3: how much the loss depends on the attention to each kind of token, by layer."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from headtypes.analyses.gradients.results import ATTENDED, Gradients, read_gradients
from headtypes.core.style import PAGE, PALETTE, legend_key, save_figure, styled
from headtypes.papers.clark2019.figures.by_layer import number_layers, say

# The paper has no line of its own for [CLS], which other models use as BERT uses [SEP].
_LINES = {
    "all": ("all tokens", "0.25", "o"),
    "sep": ("[SEP]", PALETTE[0], "s"),
    "punctuation": (". or ,", PALETTE[3], "^"),
    "cls": ("[CLS]", PALETTE[1], "D"),
}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LOSSES = {
    "masked_words": "loss of masked words",
    "next_token": "loss of the next token",
    "question_answering": "loss of answers",
    "sentence_pair": "loss of labels",
    "multiple_choice": "loss of right choices",
}


@styled
def gradient_figure(gradients: Gradients) -> Figure:
    """Draw the mean over the heads of each layer (from 1) of |dLoss / dA|, and each kind divided by all tokens.

    Where the model has no loss, the figure says why.
    """
    figure = Figure(figsize=(PAGE, 0.7 if gradients.loss is None else 2.2), layout="constrained")
    if gradients.loss is None:
        say(figure.subplots(), f"No gradients: the model {gradients.reason}.")
        return figure
    values, ratios = figure.subplots(1, 2)
    by_kind = {kind: gradients.values[..., index].mean(axis=-1) for index, kind in enumerate(ATTENDED)}
    layers = np.arange(1, len(gradients.values) + 1)
    power = int(np.floor(np.log10(np.nanmax(by_kind["all"]) or 1.0)))
    shown = [kind for kind in _LINES if not np.isnan(by_kind[kind]).any()]
    for kind in shown:
        _, colour, marker = _LINES[kind]
        look = {"color": colour, "marker": marker, "ms": 3, "mew": 0, "lw": 1.1, "gid": kind}
        values.plot(layers, by_kind[kind] / 10.0**power, **look)
        ratios.plot(layers, by_kind[kind] / by_kind["all"], **look)
    for axes in (values, ratios):
        number_layers(axes, len(layers))
        axes.set_ylim(bottom=0)
    unit = "" if power == 0 else f" / 10{str(power).translate(_SUPERSCRIPT)}"
    values.set_ylabel(f"mean |∂L/∂A|{unit}")
    values.set_title(LOSSES.get(gradients.loss, gradients.loss), loc="left")
    ratios.set_ylabel("ratio to all tokens")
    ratios.set_title("divided by the mean over all tokens", loc="left")
    lines = [
        legend_key(color=colour, marker=marker, ms=3, mew=0, lw=1.1, label=f"to {label}")
        for kind, (label, colour, marker) in _LINES.items()
        if kind in shown
    ]
    figure.legend(handles=lines, loc="outside upper right", ncols=len(lines), columnspacing=1.2, handletextpad=0.5)
    return figure


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `plot_gradients`."""
    save_figure(gradient_figure(read_gradients(inputs.gradients)), outputs.pdf, outputs.png, provenance)
