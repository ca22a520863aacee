"""The look of every figure: sizes of print, colours, and files of equal bytes for equal figures."""

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure, FigureBase
from matplotlib.font_manager import findfont, fontManager, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Text

from headtypes.core.files import StrPath, atomic_write, canonical_json

# Inches: the widths of a column and of a page's text in print, and the height of a page less that of a caption.
COLUMN, PAGE, PAGE_HEIGHT = 3.3, 6.9, 9.2
_LINE = 0.145  # inches of a line of a legend
SMALL = 7  # points: the smallest lettering of a figure

# Okabe and Ito 2008, without black. The first four are those of their palette that stay farthest apart
# (CIE76 distance of 20 and more) for a reader without one of the three cones.
PALETTE = ("#0072B2", "#D55E00", "#56B4E9", "#CC79A7", "#E69F00", "#009E73", "#F0E442")
ATTENTION_COLOURS = "Greys"
_SETTINGS = {
    "font.family": "DejaVu Sans",  # Comes with Matplotlib: figures in its letters are the same on every machine.
    "font.size": SMALL,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    **{f"{axis}tick.major.{of}": points for axis in "xy" for of, points in (("width", 0.6), ("size", 2.5))},
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "hatch.linewidth": 0.5,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # Letters that can be searched and edited.
    "svg.hashsalt": "headtypes",
    "text.parse_math": False,  # A dollar sign in a token is a dollar sign.
}
_UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
_DIGITS = 9  # of a position, as a share of the figure, that its layout decides
_NUMBERED = 12  # the largest number of layers for which each one is numbered


def style():
    return matplotlib.style.context(["default", _SETTINGS])


styled = style()


def legend_height(labels: Mapping[str, str], columns: int) -> float:
    return _LINE * -(-len(labels) // columns)


def legend_key(**look) -> Line2D:
    return Line2D([], [], **look)


def attention_scale() -> PowerNorm:
    """Return the colour scale of attention, 0 to 1, by the square root, so that small values are visible."""
    return PowerNorm(0.5, 0, 1)


def add_attention_bar(figure: Figure, image, box: tuple[float, float, float, float]) -> None:
    """Draw the colour bar of an image of attention; box: its left, bottom, width, height as shares of the figure."""
    bar = figure.colorbar(image, cax=figure.add_axes(box), orientation="horizontal", ticks=[0, 0.05, 0.2, 0.5, 1])
    bar.ax.set_xticklabels(["0", ".05", ".2", ".5", "1"])
    bar.ax.tick_params(length=2, pad=1)
    bar.outline.set_linewidth(0.5)
    bar.ax.text(-0.04, 0.5, "attention (root scale)", transform=bar.ax.transAxes, ha="right", va="center")


def layer_ticks(layers: int) -> list[int]:
    """Return the layers, from 1, that an axis numbers: 1 and the multiples of k, which is `layers` / 12, rounded up."""
    step = -(-layers // _NUMBERED)
    return sorted({1, *range(step, layers + 1, step)})


def clipped(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def save_figure(figure: Figure, vector: StrPath, png: StrPath, provenance: dict) -> None:
    """Write a figure to `vector`, PDF or SVG by its ending, and to `png` at 300 dots per inch, each with the
    provenance.
    """
    if isinstance(engine := figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.set_layout_engine(_RoundedLayout(**engine.get()))
    # Ticks are made here.
    with style():
        lacking = _ask_for_fonts(figure)
    if lacking:
        print(
            f"{png}: no font of this machine has {lacking}, which are boxes there; install one that has, such as Noto "
            "Sans, delete the figure and run again.",
            file=sys.stderr,
        )
    for path in (Path(vector), Path(png)):
        kind = path.suffix.lstrip(".").lower()
        metadata = _UNDATED[kind] | {"Subject" if kind == "pdf" else "Description": canonical_json(provenance)}
        with style(), atomic_write(path) as temporary, warnings.catch_warnings():
            # One for each letter that no font has, of which one sentence has been said.
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(temporary, format=kind, metadata=metadata)


def _ask_for_fonts(figure: Figure) -> str:
    family = _SETTINGS["font.family"]
    texts = figure.findobj(Text)
    letters = {letter for text in texts for letter in text.get_text() if letter.isprintable()}
    ours = letters & _letters_of(findfont(family))
    lacking, families = letters - ours, [family]
    for font in sorted(fontManager.ttflist, key=lambda font: (font.weight != 400, font.name, font.fname)):
        # The last resort has a box for every letter.
        if lacking and not font.name.startswith("Last") and (found := lacking & _letters_of(font.fname)):
            families.append(font.name)
            lacking -= found
    for text in texts:
        if not ours.issuperset(text.get_text()):
            text.set_fontfamily(families)
    return "".join(sorted(lacking))


def _letters_of(font: str) -> set[str]:
    try:
        opened = get_font(font)
        return set(map(chr, opened.get_charmap())) if opened.scalable else set()
    except (OSError, RuntimeError):
        return set()


class _RoundedLayout(ConstrainedLayoutEngine):
    # The layout's solver adds numbers in the order of memory addresses, on which the last bits of a sum depend.
    def execute(self, figure: Figure) -> None:
        super().execute(figure)
        _round(figure)


def _round(figure: FigureBase) -> None:
    for axes in figure.axes:
        # To set a position takes axes out of the layout.
        in_layout = axes.get_in_layout()
        axes.set_position(np.round(axes.get_position(original=True).bounds, _DIGITS), which="original")
        axes.set_in_layout(in_layout)
    for part in figure.subfigs:
        part.bbox_relative.set_points(np.round(part.bbox_relative.get_points(), _DIGITS))
        _round(part)
