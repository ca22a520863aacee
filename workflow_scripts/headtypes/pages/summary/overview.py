"""The first screen of the page as pictures: where types lie, what each looks at, and what leaving it out costs."""

import base64
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from PIL import Image

from headtypes.analyses.distances.features import SELF_AND_SPECIAL, read_head_features
from headtypes.analyses.maps import AttentionMaps
from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.style import ATTENTION_COLOURS, attention_scale
from headtypes.core.table_files import head_name
from headtypes.data.tasks import METRICS, Metric, tested_metric
from headtypes.papers.claims import join
from headtypes.papers.guan2020.figures import ink, typical_heads


class TypeCosts(NamedTuple):
    """The cost of one operation, such as setting outputs to 0, on the heads of each type alone.

    costs: indexed by type; columns: condition (the condition's name), heads (number of heads), drop (by how much the
        metric gets worse), low and high (the drop's interval), random (drop for as many random heads). NaN: unknown.
    whole: the metric's value with all heads.
    """

    costs: pd.DataFrame
    metric: Metric
    whole: float

    def text(self, number: float) -> str:
        return f"{number:z.{self.metric.decimals - 1}f}"

    def sentence(self, words: str, type_: str, model: str) -> str:
        """Return a type's cost in words, such as "Without its 28 dense heads bert loses 3.1 of its 88.2 points of F1".

        words: those after "Without", such as "its" or "attention between sentences in its". type_, model: their names.
        """
        without = f"Without {words} {self.costs.loc[type_, 'heads']:.0f} {type_} heads"
        drop, lower = self.costs.loc[type_, "drop"], self.costs.loc[type_, "drop"] < 0
        amount, whole, steps, title = self.text(abs(drop)), self.text(self.whole), self.metric.steps, self.metric.title
        if not self.metric.higher_is_better:
            return f"{without} the {title} of {model} {'falls' if lower else 'rises'} {amount} {steps} from {whole}"
        if lower:
            return f"{without} {model} gains {amount} {steps} of {title} beside {whole}"
        return f"{without} {model} loses {amount} of its {whole} {steps} of {title}"


def left_out_alone(
    table: pd.DataFrame, model: str, partition: str, types: Sequence[str], operation: str = "zero"
) -> TypeCosts | None:
    """Return how much an operation on all heads of one type alone worsens a metric, by type; None if not measured.

    table: our Table 2 or 3 of Guan et al. 2020: a row for each condition, a column `operation_{type}` for each type.
    operation: a value in these columns; "zero" sets outputs to 0. The metric is F1, or else accuracy, or else loss.
    """
    rows = table[(table["model"] == model) & (table["partition"] == partition)]
    named = rows[[column for column in rows if column.startswith("operation_")]]
    # A partition that nothing was done to may have types that the table has not.
    done = named.reindex(columns=[f"operation_{name}" for name in types]) == operation
    alone = done.any(axis=1) & (named.notna().sum(axis=1) == 1)
    known = [name for name in METRICS if name in rows and rows.loc[alone, f"drop_{name}"].notna().any()]
    if not known:
        return None
    metric, rows = tested_metric(known), rows[alone]
    drop = f"drop_{metric.name}"
    costs = rows.reindex(columns=["condition", "heads", drop, f"{drop}_low", f"{drop}_high", f"control_{drop}"])
    costs = costs.set_axis(["condition", "heads", "drop", "low", "high", "random"], axis=1)
    whole = (rows[metric.name] + (1 if metric.higher_is_better else -1) * costs["drop"]).iloc[0]
    of = done[alone].idxmax(axis=1).str.removeprefix("operation_")
    return TypeCosts(costs.set_axis(of, axis=0), metric, float(whole))


# The most heads whose types are written into the map, and the most columns or rows that are all numbered.
_LETTERED, _NUMBERED = 150, 12
_LETTERS = dict(zip(TYPES, ("De", "Di", "DV", "V"), strict=True))
_NAMED_LAYERS = 4
# What each column of the distance feature after the bins is called, in the order of `SELF_AND_SPECIAL`.
_AT = {"self": "the token itself", "cls": "[CLS]", "sep": "[SEP]", "comma": "commas", "period": "periods"}
_BEST = 4
_MARGIN = 0.08


class Best(NamedTuple):
    """The head of a model that scores highest at one dependency relation, one type of mentions or one position.

    head: `layer-head`, both from 1. at: name of the relation, type or position. task: name of the task with the texts.
    value: percent of words or mentions that the head guesses right; for a position, percent of the head's attention.
    beside: for a relation, percent right if each guess is the word at the best fixed offset; otherwise None.
    """

    head: str
    at: str
    task: str
    value: float
    beside: float | None


def best_heads(task: str, found: Iterable[Mapping]) -> list[Best]:
    """Return at most four of a task's best heads, those farthest above the best fixed offset first.

    found: one mapping for each best head, with the keys layer and head (from 0), at (the thing that the head is best
    at), value (the head's score in percent), and above (points above the score of the word at the best fixed offset,
    such as the next word; or None). A head with the same value at two things is listed once, with the larger `above`.
    """
    by_score = {}
    for entry in sorted(found, key=lambda entry: -(entry["above"] or 0)):
        head = head_name(int(entry["layer"]), int(entry["head"]))
        beside = None if entry["above"] is None else entry["value"] - entry["above"]
        by_score.setdefault((head, entry["value"]), Best(head, entry["at"], task, entry["value"], beside))
    return list(by_score.values())[:_BEST]


def overview(
    partition: Partition,
    features: StrPath,
    maps: StrPath,
    resolution: Mapping[str, Any],
    left_out: TypeCosts | None,
    costly: Collection[list[int]],
    best: Sequence[Best],
) -> dict[str, Any]:
    """Return a partition's pictures on the first screen of the page, {name in the page's template: value}.

    features, maps: paths of head features, and of one sample's attention. resolution: keyword arguments of
    `read_head_features`. costly: [layer, head], from 0, of heads that cost more than others, which the picture frames.
    left_out: costs of types. best: the heads that are best at a relation, mention or position, shown if no costs are.
    """
    layers, heads = partition.shape
    by_column = layers > heads
    number = {type_: index for index, type_ in enumerate(partition.types)}
    cells = [
        {
            "head": head_name(layer, head),
            "type": number[type_],
            "column": layer if by_column else head,
            "row": head if by_column else layer,
            "costly": [layer, head] in costly,
        }
        for (layer, head), type_ in np.ndenumerate(partition.type_of)
    ]
    columns, rows = (layers, heads) if by_column else (heads, layers)
    means, _ = read_head_features(features, **resolution)
    types = _types(partition, means, read_arrays(maps, AttentionMaps).attention)
    return {
        "columns": columns,
        "rows": rows,
        "by_column": by_column,
        "step": -(-max(columns, rows) // _NUMBERED),
        "lettered": len(cells) <= _LETTERED,
        "cells": cells,
        "types": types,
        "costs": _costs(partition, left_out),
        "best": best,
    }


def _types(partition: Partition, features: np.ndarray, attention: np.ndarray) -> list[dict[str, Any]]:
    styles, of_head = type_styles(partition.types), partition.type_of.ravel()
    grey, scale = matplotlib.colormaps[ATTENTION_COLOURS], attention_scale()
    profiles = {name: features[of_head == name].mean(axis=0) for name in partition.types}
    # Small shares show, as in the maps of attention.
    most = np.sqrt(max(profile.max() for profile in profiles.values()))
    shares = partition.table.groupby("type")[["near", "special", "far"]].mean()
    return [
        {
            "name": f"{name}?" if name in partition.doubtful else name,
            "colour": styles[name].colour,
            "ink": {"black": "#000", "white": "#fff"}[ink(styles[name].colour)],
            "letters": _LETTERS.get(name, name.removeprefix("type-")[:2]),
            "heads": int((of_head == name).sum()),
            "where": where((partition.type_of == name).sum(axis=1)),
            "looks": _looks(profile, most, 100 * shares.loc[name]),
            "examples": [
                {
                    "head": head_name(*head),
                    "map": data_uri(Image.fromarray(grey(scale(attention[*head]), bytes=True)).convert("L")),
                }
                for head in typical_heads(partition, name)
            ],
        }
        for name, profile in profiles.items()
    ]


def _looks(profile: np.ndarray, most: float, shares: pd.Series) -> list[dict[str, Any]]:
    bins = len(profile) - len(SELF_AND_SPECIAL)
    names = [f"distance bin {number}" for number in range(bins)] + [_AT[name] for name in SELF_AND_SPECIAL]
    bars = [
        {"at": at, "percent": 100 * share, "height": np.sqrt(share) / most}
        for at, share in zip(names, profile, strict=True)
    ]
    groups = {"near": [bars[bins], bars[0]], "far": bars[1:bins], "special": bars[bins + 1 :]}
    return [{"name": name, "percent": shares[name], "bars": of_group} for name, of_group in groups.items()]


# From [layer] numbers of a type's heads: "9 in layers 3 and 4", the fewest layers that have half of the heads; if these
# are more than four, "spread over 8 layers", all that have such heads.
def where(heads: np.ndarray) -> str:
    most = np.argsort(-heads, kind="stable")
    layers = np.sort(most[: 1 + int(np.argmax(np.cumsum(heads[most]) >= heads.sum() / 2))])
    if len(layers) > _NAMED_LAYERS:
        return f"spread over {np.count_nonzero(heads)} layers"
    inside, named = heads[layers].sum(), join([str(layer + 1) for layer in layers])
    which = "" if heads.sum() == 1 else "all " if inside == heads.sum() else f"{inside} "
    return f"{which}in {'layer' if len(layers) == 1 else 'layers'} {named}"


def data_uri(image: Image.Image) -> str:
    packed = io.BytesIO()
    image.save(packed, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(packed.getvalue()).decode()}"


def _costs(partition: Partition, found: TypeCosts | None) -> dict[str, Any] | None:
    if found is None:
        return None
    falls = 1 if found.metric.higher_is_better else -1
    scores = found.whole - falls * found.costs[["drop", "low", "high", "random"]]
    least, most = min(scores.min(axis=None), found.whole), max(scores.max(axis=None), found.whole)
    room = _MARGIN * ((most - least) or 1)

    # In percent of the chart's width.
    def place(score: float) -> float:
        return 100 * (score - least + room) / (most - least + 2 * room)

    rows = [
        {
            "type": partition.types.index(type_),
            "text": found.text(score["drop"]),
            "place": place(score["drop"]),
            "interval": None if pd.isna(score["low"]) else sorted(map(place, score[["low", "high"]])),
            "random": None if pd.isna(score["random"]) else place(score["random"]),
            "random_text": found.text(score["random"]),
        }
        for type_, score in scores.iterrows()
    ]
    whole = {"whole": place(found.whole), "whole_text": found.text(found.whole)}
    return {"title": found.metric.title, **whole, "rows": rows}
