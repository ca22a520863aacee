"""Planted heads to draw, and what is read back from a figure: its texts, and its colours as readers see them."""

import itertools

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from headtypes.analyses.maps import AttentionMaps
from headtypes.analyses.types.partitions import Partition, build_partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import style
from tests.support.planted import TYPES, heads

LAYERS, HEADS, TOKENS = 3, 8, 7
COUNTS = {"dense": 9, "diagonal": 6, "dense_vertical": 5, "vertical": 4}
WORDS = ["[CLS]", "who", "$", "$x$", ",", "it", "[SEP]"]


def planted(seed: int = 0, doubtful: tuple[str, ...] = ("vertical",)) -> tuple[np.ndarray, Partition]:
    """Features [layer * head, 21] and the partition into the planted types."""
    features, names = heads(COUNTS, noise=0.02, seed=seed)
    silhouette = np.round(np.random.default_rng(seed).random(len(names)), 3)
    partition = build_partition(
        features,
        (LAYERS, HEADS),
        cluster=np.zeros(len(names), int),
        types=names.astype(object),
        silhouette=silhouette,
        doubtful=np.isin(names, doubtful),
    )
    return features, partition


def planted_maps() -> AttentionMaps:
    attention = np.random.default_rng(1).dirichlet(np.ones(TOKENS), (LAYERS, HEADS, TOKENS)).astype(np.float32)
    return AttentionMaps(attention, WORDS, "0", False)


def drawn(figure: Figure, name: str) -> Artist:
    """What was drawn under a name."""
    (found,) = figure.findobj(lambda artist: artist.get_gid() == name)
    return found


def texts(figure: Figure | Axes) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def legend_texts(figure: Figure) -> list[str]:
    legends = figure.legends or [figure.axes[0].get_legend()]
    return [text.get_text() for text in legends[0].get_texts()]


def colour(name: str) -> str:
    return type_styles(TYPES)[name].colour.lower()


def family() -> tuple[dict[str, Partition], dict[str, str | None]]:
    partitions = {name: planted(seed)[1] for seed, name in enumerate(("bert", "bert_squad", "bert_mrpc", "other"))}
    partitions["bert_mrpc"] = planted(2, doubtful=())[1]
    return partitions, {"bert": None, "bert_squad": "bert", "bert_mrpc": "bert", "other": "elsewhere"}


# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0; on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(colour: str, deficiency: str) -> np.ndarray:
    """CIE Lab under D65 of a colour as a reader without one kind of cones sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    x, y, z = np.cbrt(xyz / (0.9505, 1, 1.089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


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
    """All lettering is legible, lies inside the figure, and none is written over other lettering.

    Boxes are as high as the highest letters, so that those of neighbouring lines may touch: 2 of 100 dots an inch.
    """
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
