"""Clark's Figures 1 and 5: whom tokens look at in the heads that show a pattern best, or that find relations."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from headtypes.analyses.coreference.mentions import CANDIDATES
from headtypes.analyses.maps.results import PATTERNS, Examples
from headtypes.analyses.relations.accuracy import chosen_and_scored_on_file
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.heads import head_name
from headtypes.core.style import PAGE, PALETTE, clipped, save_figure, styled
from headtypes.papers.clark2019.figures.by_layer import say
from headtypes.papers.clark2019.published import our_relation

# Of each pattern: the title of its panel, and why a model may not have it.
_PATTERNS = {
    "broad": ("broadest", "not measured"),
    "next": ("most to the next token", "no token looks\nat the next one"),
    "sep": ("most to [SEP]", "the input has\nno [SEP]"),
    "punctuation": ("most to . and ,", "not measured"),
}
_MEANS = {"broad": "mean entropy: {:.2f} nats"}
COREFERENCE = "coreference"
# What Figure 5 shows, relations by the paper's names: what the head does where a word looks at its head in the tree,
# and where its head looks at it.
_DOES = {
    "dobj": ("objects\nlook at their verbs", "verbs\nlook at their objects"),
    "det": ("determiners\nlook at their nouns", "nouns\nlook at their determiners"),
    "poss": ("possessors\nlook at what is theirs", "words\nlook at their possessors"),
    "auxpass": ("passive auxiliaries\nlook at their verbs", "verbs look at their\npassive auxiliaries"),
    "pobj": ("objects\nlook at their prepositions", "prepositions\nlook at their objects"),
    COREFERENCE: ("mentions\nlook at their antecedents", ""),
}
_PANELS = 4
# Letters of a token and of a word that have room beside a panel.
_TOKEN, _WORD = 11, 12
# Inches of a token's line and of the titles of a row of sentences, and points of a token's letters.
_LINE, _TITLE, _SIZE = 0.125, 0.72, 6.2


class BestHead(NamedTuple):
    """A head, from 0, that is best at a phenomenon of Figure 5, with its accuracy in percent.

    direction: as in `relations.guesses.DIRECTIONS`; coreference has none.
    """

    phenomenon: str
    layer: int
    head: int
    direction: str
    accuracy: float


def best_of_relations(table: pd.DataFrame) -> Iterator[BestHead]:
    """Yield the best head of each relation in the table, chosen and scored on the same sentences, as in the paper."""
    rows = chosen_and_scored_on_file(table).set_index(["annotation", "relation"])
    for relation in _DOES:
        if (name := our_relation(relation)) in rows.index:
            row = rows.loc[name]
            yield BestHead(relation, int(row["layer"]), int(row["head"]), row["direction"], float(row["accuracy"]))


def best_of_mentions(table: pd.DataFrame) -> BestHead:
    best = table[(table["system"] == "best_head") & (table["candidates"] == CANDIDATES[0])]
    row = best[(best["type"] == "all") & (best["chosen"] == "documents")].iloc[0]
    return BestHead(COREFERENCE, int(row["layer"]), int(row["head"]), "", float(row["accuracy"]))


class SentenceMap(NamedTuple):
    """The attention of the best head for a phenomenon, among the words of one sentence or of a few.

    words:     [index] with the special tokens, where they are shown.
    marked:    indices of the words that have the relation, or are head words of mentions.
    attention: [index, index] float32.
    """

    best: BestHead
    words: list[str]
    marked: list[int]
    attention: np.ndarray


@styled
def examples_figure(examples: Examples) -> Figure:
    """Draw Figure 1, a panel for each pattern: lines from the tokens on the left to those on the right.

    They are as dark as the attention: 1 is black, since each row sums to one among the tokens shown.
    """
    figure = Figure(figsize=(PAGE, 0.65 + _LINE * len(examples.tokens)), layout="constrained")
    for axes, pattern in zip(figure.subplots(1, len(PATTERNS)), PATTERNS, strict=True):
        if pattern in examples.patterns:
            _draw_example(axes, pattern, examples)
        else:
            title, why = _PATTERNS[pattern]
            axes.set_title(title, fontsize=7.5)
            say(axes, why)
    return figure


@styled
def sentences_figure(maps: Sequence[SentenceMap]) -> Figure:
    """Draw Figure 5, a panel for each sentence, in the same way; without a sentence the figure says so.

    Lines from and to the words that have the relation are of another colour, as are these words.
    """
    rows = [maps[start : start + _PANELS] for start in range(0, len(maps), _PANELS)]
    if not rows:
        figure = Figure(figsize=(PAGE, 1), layout="constrained")
        say(figure.subplots(), "On no sentence of a few words is the best head right.")
        return figure
    heights = [_TITLE + _LINE * max(len(shown.words) for shown in row) for row in rows]
    figure = Figure(figsize=(PAGE, sum(heights)), layout="constrained")
    panels = figure.subplots(len(rows), _PANELS, squeeze=False, height_ratios=heights)
    for row, of_row in zip(rows, panels, strict=True):
        for axes, shown in zip(of_row, row, strict=False):
            _draw_sentence(axes, shown, max(len(sentence.words) for sentence in row))
        for axes in of_row[len(row) :]:
            axes.set_axis_off()
    return figure


def _draw_example(axes: Axes, pattern: str, examples: Examples) -> None:
    number = examples.patterns.index(pattern)
    attention, (layer, head) = examples.attention[number], examples.heads[number]
    _draw_lines(axes, attention, np.ndindex(attention.shape), PALETTE[0], gid=pattern)
    for index, token in enumerate(examples.tokens):
        _write_beside(axes, index, clipped(token, _TOKEN))
    # As in the paper, dots stand for the tokens before those shown.
    if not examples.begins:
        _write_beside(axes, -1, "⋯")
    axes.set(xlim=(-0.75, 1.75), ylim=(len(examples.tokens) - 0.5, -1.5), xticks=[], yticks=[])
    title, _ = _PATTERNS[pattern]
    axes.set_title(f"head {head_name(layer, head)}\n{title}", fontsize=7.5)
    axes.set_xlabel(_MEANS.get(pattern, "mean attention: {:.2f}").format(examples.value[number]), labelpad=1)


def _draw_sentence(axes: Axes, shown: SentenceMap, lines: int) -> None:
    marked, best = set(shown.marked), shown.best
    for is_marked, colour in ((False, PALETTE[0]), (True, PALETTE[1])):
        pairs = [pair for pair in np.ndindex(shown.attention.shape) if bool(marked & {*pair}) == is_marked]
        gid = f"{best.phenomenon}-{'marked' if is_marked else 'others'}"
        _draw_lines(axes, shown.attention, pairs, colour, zorder=1 + is_marked, gid=gid)
    for index, word in enumerate(shown.words):
        how = {"color": PALETTE[1], "fontweight": "bold"} if index in marked else {}
        _write_beside(axes, index, clipped(word, _WORD), **how)
    axes.set(xlim=(-0.95, 1.95), ylim=(lines - 0.5, -0.8), xticks=[], yticks=[])
    does = _DOES[best.phenomenon][best.direction == "head_to_dependent"]
    title = f"head {head_name(best.layer, best.head)}\n{does}\n{best.phenomenon}: {best.accuracy:.1f} %"
    axes.set_title(title, fontsize=7)


def _draw_lines(axes: Axes, attention: np.ndarray, pairs: Iterable[tuple[int, int]], colour: str, **how) -> None:
    pairs = list(pairs)
    lines, dark = [((0, query), (1, key)) for query, key in pairs], [float(attention[it].clip(0, 1)) for it in pairs]
    axes.add_collection(LineCollection(lines, colors=colour, linewidths=1, alpha=dark, **how))
    axes.spines[:].set_visible(False)


def _write_beside(axes: Axes, index: int, label: str, **how) -> None:
    for x, side in ((-0.06, "right"), (1.06, "left")):
        axes.text(x, index, label, ha=side, va="center", fontsize=_SIZE, **how)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    save_figure(examples_figure(read_arrays(inputs.examples, Examples)), outputs.pdf, outputs.png, provenance)
