"""Clark's Figure 5: whom words look at in the heads that find dependency relations and antecedents."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from headtypes.core.style import PAGE, PALETTE, clipped, head_name, styled
from headtypes.papers.clark2019.figures.by_layer import say
from headtypes.papers.clark2019.figures.figure1 import write_beside
from headtypes.papers.clark2019.language.sentence_files import COREFERENCE, SentenceMap

# What the head does where a word looks at its head in the tree; and where its head looks at it.
_TITLES = {
    "det": ("determiners\nlook at their nouns", "nouns\nlook at their determiners"),
    "dobj": ("objects\nlook at their verbs", "verbs\nlook at their objects"),
    "poss": ("possessors\nlook at what is theirs", "words\nlook at their possessors"),
    "auxpass": ("passive auxiliaries\nlook at their verbs", "verbs look at their\npassive auxiliaries"),
    "pobj": ("objects\nlook at their prepositions", "prepositions\nlook at their objects"),
    COREFERENCE: ("mentions\nlook at their antecedents", ""),
}
_PANELS = 4
# Letters of a word that have room beside a panel.
_LETTERS = 12
# Inches of a word's line, and of a row's titles.
_LINE, _TITLE = 0.125, 0.72


@styled
def sentences_figure(maps: Sequence[SentenceMap]) -> Figure:
    """Draw a panel for each sentence: lines from words on the left to those on the right, as dark as the attention.

    Lines from and to the words that have the relation are of another colour, as are these words. Without a sentence the
    figure says so.
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
            _draw(axes, shown, max(len(it.words) for it in row))
        for axes in of_row[len(row) :]:
            axes.set_axis_off()
    return figure


def _draw(axes: Axes, shown: SentenceMap, lines: int) -> None:
    indices, marked = range(len(shown.words)), set(shown.marked)
    for is_marked, colour in ((False, PALETTE[0]), (True, PALETTE[1])):
        pairs = [(query, key) for query in indices for key in indices if bool({query, key} & marked) == is_marked]
        axes.add_collection(
            LineCollection(
                [((0, query), (1, key)) for query, key in pairs],
                colors=colour,
                linewidths=1,
                alpha=[float(shown.attention[pair].clip(0, 1)) for pair in pairs],
                zorder=1 + is_marked,
                gid=f"{shown.phenomenon}-{'marked' if is_marked else 'others'}",
            )
        )
    for index, word in enumerate(shown.words):
        how = {"color": PALETTE[1], "fontweight": "bold"} if index in marked else {}
        write_beside(axes, index, clipped(word, _LETTERS), **how)
    axes.set(xlim=(-0.95, 1.95), ylim=(lines - 0.5, -0.8), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    does = _TITLES[shown.phenomenon][shown.direction == "head_to_dependent"]
    title = f"head {head_name(shown.layer, shown.head)}\n{does}\n{shown.phenomenon}: {shown.accuracy:.1f} %"
    axes.set_title(title, fontsize=7)
