"""Planted heads to draw, and what is read back from a figure."""

import itertools

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from headtypes.analyses.types.partitions import Partition, build_partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import style
from tests.support.planted import TYPES, heads

LAYERS, HEADS = 3, 8
COUNTS = {"dense": 9, "diagonal": 6, "dense_vertical": 5, "vertical": 4}


def planted(seed: int = 0, doubtful: tuple[str, ...] = ("vertical",)) -> tuple[np.ndarray, Partition]:
    features, names = heads(COUNTS, noise=0.02, seed=seed)
    silhouette = np.round(np.random.default_rng(seed).random(len(names)), 3)
    columns = {"type": names.astype(object), "silhouette": silhouette, "doubtful": np.isin(names, doubtful)}
    return features, build_partition(features, (LAYERS, HEADS), cluster=0, **columns)


def drawn(figure: Figure, name: str) -> Artist:
    (found,) = figure.findobj(lambda artist: artist.get_gid() == name)
    return found


def texts(figure: Figure | Axes) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def colour(name: str) -> str:
    return type_styles(TYPES)[name].colour.lower()


def lettering(figure: Figure) -> list[Text]:
    with style():
        figure.draw_without_rendering()
    undrawn = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        undrawn |= {tick.label1 for tick in axis.majorTicks if not low <= tick.get_loc() <= high}
    shown = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    return [text for text in shown if text not in undrawn]


def check_lettering(figure: Figure) -> None:
    boxes = []
    for text in lettering(figure):
        assert text.get_fontsize() >= 5, text.get_text()
        # Of an annotation, the letters without the line.
        box = Text.get_window_extent(text)
        assert min(box.x0, box.y0, figure.bbox.x1 - box.x1, figure.bbox.y1 - box.y1) >= -0.5, text.get_text()
        boxes.append((text.get_text(), box))
    assert boxes
    for (one, box), (other, beside) in itertools.combinations(boxes, 2):
        wide = min(box.x1, beside.x1) - max(box.x0, beside.x0)
        tall = min(box.y1, beside.y1) - max(box.y0, beside.y0)
        assert min(wide, tall) < 2, (one, other)
