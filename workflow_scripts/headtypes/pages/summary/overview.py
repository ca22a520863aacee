"""The first screen of the page: where the types lie, what each looks at, and what leaving it out costs, as pictures."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb

from headtypes.analyses.distances.columns import SELF_AND_SPECIAL
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.files import StrPath
from headtypes.core.heads import head_name
from headtypes.data.kinds.metrics import METRICS
from headtypes.pages.summary.findings import left_out_alone

# The most heads whose types are also written into the map.
_LETTERED = 150
# The most layers or heads that are all numbered.
_NUMBERED = 16
_LETTERS = dict(zip(TYPES, ("De", "Di", "DV", "V"), strict=True))
# Below the bars of the special tokens, in the order of `SELF_AND_SPECIAL`.
_SIGNS = {"self": "self", "cls": "C", "sep": "S", "comma": ",", "period": "."}
# Room beside the largest and smallest score, as a share of what lies between them.
_MARGIN = 0.08


class Cell(NamedTuple):
    """A head in the map: its name, its type's number, and its column and row there, from 0; costly: if it is known to
    cost more than others of its layer.
    """

    head: str
    type: int
    column: int
    row: int
    costly: bool


class Bar(NamedTuple):
    """One column of the distance feature: percent of attention, height from 0 to 1, and what is written below it."""

    percent: float
    height: float
    sign: str


class Type(NamedTuple):
    """A type: its name, with a question mark if that is doubtful, and what its heads look at on average."""

    name: str
    colour: str
    ink: str
    letters: str
    heads: int
    near: float
    special: float
    far: float
    bars: Sequence[Bar]


class Cost(NamedTuple):
    """The score without a type, with the interval of its drop, and that without as many other heads.

    type: its number. Places are percent of the chart's width; text and random_text: the scores.
    """

    type: int
    text: str
    place: float
    interval: tuple[float, float] | None
    random: float | None
    random_text: str


class Costs(NamedTuple):
    """The costs of leaving types out; whole: the place of the whole model's score, and whole_text the score."""

    title: str
    whole: float
    whole_text: str
    rows: Sequence[Cost]


class Overview(NamedTuple):
    """The pictures of one partition.

    columns, rows: of the map, of whose numbers each `step`-th is written. by_column: whether a column is a layer and a
        row a head, as in models with more layers than heads, else the other way round. lettered: whether the types are
        also written into the map. costs: None where no type was left out by itself.
    """

    columns: int
    rows: int
    by_column: bool
    step: int
    lettered: bool
    cells: Sequence[Cell]
    types: Sequence[Type]
    costs: Costs | None


def overview(
    partition: Partition,
    features: StrPath,
    resolution: Mapping[str, Any],
    costs: pd.DataFrame | None,
    model: str,
    name: str,
    costly: Collection[list[int]] = (),
) -> Overview:
    """Read what the first screen shows of a partition.

    features: of the model on the partition's task; resolution: as `read_head_features` takes it.
    costs: Guan's Table 2, None where nothing was left out; name: of the partition; costly: layer and head of those
        that are known to cost more than others of their layer.
    """
    layers, heads = partition.shape
    by_column = layers > heads
    number = {type_: index for index, type_ in enumerate(partition.types)}
    cells = [
        Cell(
            head_name(layer, head),
            number[type_],
            *((layer, head) if by_column else (head, layer)),
            [layer, head] in costly,
        )
        for (layer, head), type_ in np.ndenumerate(partition.type_of)
    ]
    columns, rows = (layers, heads) if by_column else (heads, layers)
    means, _ = read_head_features(features, **resolution)
    types, left_out = _types(partition, means), _costs(partition, costs, model, name)
    lettered, step = len(cells) <= _LETTERED, -(-max(columns, rows) // _NUMBERED)
    return Overview(columns, rows, by_column, step, lettered, cells, types, left_out)


def _types(partition: Partition, features: np.ndarray) -> list[Type]:
    styles = type_styles(partition.types)
    of_head = partition.type_of.ravel()
    profiles = {name: features[of_head == name].mean(axis=0) for name in partition.types}
    # Small shares show, as in the maps of attention.
    most = np.sqrt(max(profile.max() for profile in profiles.values()))
    signs = [""] * (features.shape[1] - len(SELF_AND_SPECIAL)) + [_SIGNS[name] for name in SELF_AND_SPECIAL]
    looks = partition.table.groupby("type")[["near", "special", "far"]].mean()
    return [
        Type(
            f"{name}?" if name in partition.doubtful else name,
            styles[name].colour,
            _ink(styles[name].colour),
            _LETTERS.get(name, name.removeprefix("type-")[:2]),
            int((of_head == name).sum()),
            *(100 * looks.loc[name, ["near", "special", "far"]]),
            [Bar(100 * share, np.sqrt(share) / most, sign) for share, sign in zip(profile, signs, strict=True)],
        )
        for name, profile in profiles.items()
    ]


def _ink(colour: str) -> str:
    """Return black or white, by which letters on a colour have more contrast (WCAG 2, relative luminance)."""
    red, green, blue = (((it + 0.055) / 1.055) ** 2.4 for it in to_rgb(colour))
    return "#000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#fff"


def _costs(partition: Partition, costs: pd.DataFrame | None, model: str, name: str) -> Costs | None:
    if costs is None:
        return None
    rows = costs[(costs["model"] == model) & (costs["partition"] == name)]
    alone, of, metric = left_out_alone(rows, partition.types)
    if metric is None:
        return None
    measured = METRICS[metric]
    falls = 1 if measured.higher_is_better else -1
    drops = alone.reindex(columns=[*(f"drop_{metric}{end}" for end in ("", "_low", "_high")), f"control_drop_{metric}"])
    drops = drops.set_axis(["drop", "low", "high", "random"], axis=1)
    whole = float((alone[metric] + falls * drops["drop"]).iloc[0])
    scores = whole - falls * drops
    least, most = min(scores.min(axis=None), whole), max(scores.max(axis=None), whole)
    room = _MARGIN * ((most - least) or 1)

    def place(score: float) -> float:
        return 100 * (score - least + room) / (most - least + 2 * room)

    def said(score: float) -> str:
        return f"{score:z.{measured.decimals - 1}f}"

    def cost(type_: str, score: pd.Series) -> Cost:
        interval = None if pd.isna(score["low"]) else tuple(sorted(map(place, score[["low", "high"]])))
        random = (None, "") if pd.isna(score["random"]) else (place(score["random"]), said(score["random"]))
        return Cost(partition.types.index(type_), said(score["drop"]), place(score["drop"]), interval, *random)

    return Costs(measured.title, place(whole), said(whole), [cost(of[row], score) for row, score in scores.iterrows()])
