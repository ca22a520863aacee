"""Clark's Figure 1: for each of four patterns, whom the tokens look at in the head that shows it best."""

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from headtypes.core.style import PAGE, PALETTE, clipped, head_name, styled
from headtypes.papers.clark2019.example_files import PATTERNS, Example, Examples
from headtypes.papers.clark2019.figures.by_layer import say

_TITLES = {
    "broad": "broadest",
    "next": "most to the next token",
    "sep": "most to [SEP]",
    "punctuation": "most to . and ,",
}
_MEANS = {"broad": "mean entropy: {:.2f} nats"}
_IMPOSSIBLE = {"next": "no token looks\nat the next one", "sep": "the input has\nno [SEP]"}
# Letters of a token that have room beside a panel.
_LETTERS = 11
# Inches of a token's line, and points of its letters.
_LINE, _SIZE = 0.125, 6.2


@styled
def examples_figure(examples: Examples) -> Figure:
    """Draw a panel for each pattern: lines from the tokens on the left to those on the right, as dark as the attention.

    An attention of 1 is black, since each row sums to one among the tokens shown.
    """
    figure = Figure(figsize=(PAGE, 0.65 + _LINE * len(examples.tokens)), layout="constrained")
    of_pattern = {example.pattern: example for example in examples.examples}
    for axes, pattern in zip(figure.subplots(1, len(PATTERNS)), PATTERNS, strict=True):
        if pattern not in of_pattern:
            axes.set_title(_TITLES[pattern], fontsize=7.5)
            say(axes, _IMPOSSIBLE.get(pattern, "not measured"))
            continue
        _draw_lines(axes, of_pattern[pattern], examples)
    return figure


def write_beside(axes: Axes, index: int, label: str, **how) -> None:
    """Write a token at both sides of the lines that lead from it and to it; how: of `Axes.text`."""
    for x, side in ((-0.06, "right"), (1.06, "left")):
        axes.text(x, index, label, ha=side, va="center", fontsize=_SIZE, **how)


def _draw_lines(axes: Axes, example: Example, examples: Examples) -> None:
    tokens = range(len(examples.tokens))
    lines = [((0, query), (1, key)) for query in tokens for key in tokens]
    axes.add_collection(
        LineCollection(
            lines, colors=PALETTE[0], linewidths=1, alpha=example.attention.clip(0, 1).ravel(), gid=example.pattern
        )
    )
    # As in the paper, dots stand for the tokens before those shown.
    labels = [clipped(token, _LETTERS) for token in examples.tokens]
    for index, label in enumerate(labels):
        write_beside(axes, index, label)
    if not examples.begins:
        write_beside(axes, -1, "⋯")
    axes.set(xlim=(-0.75, 1.75), ylim=(len(labels) - 0.5, -1.5), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_title(f"head {head_name(example.layer, example.head)}\n{_TITLES[example.pattern]}", fontsize=7.5)
    axes.set_xlabel(_MEANS.get(example.pattern, "mean attention: {:.2f}").format(example.value), labelpad=1)
