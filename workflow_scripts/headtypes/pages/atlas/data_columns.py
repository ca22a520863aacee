"""Columns of the atlas: one value of each head, from the results of an analysis."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.importance_files import read_importance
from headtypes.analyses.detectors.results import read_detector_table
from headtypes.analyses.gradients.results import ATTENDED, read_gradients
from headtypes.analyses.surface.results import read_surface
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import PALETTE
from headtypes.core.table_files import read_csv

_DIGITS = 4
_SURFACE = {
    "self": "to the token itself",
    "previous": "to the previous token",
    "next": "to the next token",
    "cls": "to [CLS]",
    "sep": "to [SEP]",
    "punctuation": "to comma and period",
    "special": "to [CLS], [SEP], comma and period",
    "sep_to_sep": "from [SEP] to [SEP]",
    "other_to_sep": "from other tokens to [SEP]",
    "entropy": "entropy",
    "entropy_cls": "entropy of [CLS]",
    "peak": "largest weight of a row",
    "first": "to the first token",
}
_NATS = ("entropy", "entropy_cls")
_KINDS = {
    "sep": "[SEP]",
    "cls": "[CLS]",
    "punctuation": "comma and period",
    "other": "other tokens",
    "all": "all tokens",
}
# Totals are no relations, and a name with a star unites some.
_NO_RELATIONS = ("all", "without punctuation", "without punctuation and root")
# Where a column has more categories than there are colours, the rarest share the last one.
_OTHERS = "#8A8F98"


@dataclass(frozen=True)
class Column:
    """One value of each head, layer by layer.

    key, label, group: for the address, for a reader, and the analysis that it belongs to.
    values: numbers, NaN or None where there is none; or, of a column with categories, their places.
    unit:   `%`, `nats` or nothing.
    low, high: ends of the 95 % interval of each value.
    categories: name, colour, and whether the name is doubtful.
    note:   what the values are, in a sentence.
    """

    key: str
    label: str
    group: str
    values: Sequence
    unit: str = ""
    low: Sequence | None = None
    high: Sequence | None = None
    categories: Sequence[dict] | None = None
    note: str = ""

    def as_dict(self) -> dict:
        """As JSON holds it: rounded, and without what is empty."""
        numbers = {name: rounded(getattr(self, name)) for name in ("values", "low", "high")}
        fields = {**vars(self), **numbers}
        return {name: value for name, value in fields.items() if value is not None and value != ""}


def type_column(name: str, partition: Partition, *, of_parent: bool = False) -> Column:
    """The type of each head; or, with of_parent, in the model that this one was fine-tuned from."""
    styles = type_styles(partition.types)
    categories = [
        {"name": type_, "colour": styles[type_].colour, "doubtful": type_ in partition.doubtful}
        for type_ in partition.types
    ]
    places = [partition.types.index(type_) for type_ in partition.table["type"]]
    key, label = ("parent", "type in its parent") if of_parent else ("type", "type")
    note = "Types of heads after Guan et al. 2020. A name is doubtful where the type's attention does not fit it."
    if of_parent:
        note = "Types in the parent, whose clusters were named by themselves: clusters may have exchanged their names."
    return Column(f"{key}.{name}", f"{label} ({name})", "Types", places, categories=categories, note=note)


def confidence_columns(name: str, path: str | Path) -> list[Column]:
    """Near, special and far of each head, and how often it keeps its type; name: of the partition."""
    table = _by_head(read_csv(path, "does not say how certain heads are", ("layer", "head", "near", "near_low")))
    shares = {
        "near": "near: itself and distance bin 1",
        "special": "special: [CLS], [SEP], comma, period",
        "far": "far: everything else",
    }
    columns = [
        Column(
            f"share.{share}",
            label,
            "Shares of attention",
            100 * table[share],
            "%",
            100 * table[f"{share}_low"],
            100 * table[f"{share}_high"],
        )
        for share, label in shares.items()
    ]
    drawn = {"samples": "other samples", "seeds": "other seeds"}
    return columns + [
        Column(
            f"keeps.{kind}",
            f"keeps its type with {what}",
            "Confidence",
            table[f"keeps_type_{kind}"],
            "%",
            note=f"Percent of repeated clusterings in which the head keeps its type ({name}).",
        )
        for kind, what in drawn.items()
        if table[f"keeps_type_{kind}"].notna().any()
    ]


def importance_columns(task: str, path: str | Path) -> list[Column]:
    """The gradient-based importance of each head on a task."""
    note = "How much the loss depends on the head, by gradients (Michel et al. 2019); each layer's vector has length 1."
    return [
        Column(f"importance.{task}", f"importance on {task}", "Importance", read_importance(path).ravel(), note=note)
    ]


def detector_columns(task: str, path: str | Path) -> list[Column]:
    """What detectors say of each head: their scores, and of which kinds it is."""
    table = read_detector_table(path)
    note = "On random tokens; a head is of a kind if it exceeds what chance gives (docs/understand/method.md)."
    detected = table[table["detected"]].groupby(["layer", "head"])["detector"].agg(", ".join)
    heads = pd.MultiIndex.from_frame(table[["layer", "head"]].drop_duplicates().sort_values(["layer", "head"]))
    categories, places = _categories(detected.reindex(heads))
    return [
        Column("detected", "kind of head", "Detectors", places, categories=categories, note=note),
        *(
            Column(f"detector.{name}", f"{name} on {task}", "Detectors", 100 * _by_head(rows)["score"], "%", note=note)
            for name, rows in table.groupby("detector", sort=False)
        ),
    ]


def surface_columns(task: str, path: str | Path) -> list[Column]:
    """The surface patterns of each head on a task of text, those that the model can have."""
    surface = read_surface(path)
    means = {name: surface.mean(name).ravel() for name in _SURFACE}
    return [
        Column(
            f"surface.{task}.{name}",
            label,
            f"Surface patterns on {task}",
            means[name] * (1 if name in _NATS else 100),
            "nats" if name in _NATS else "%",
            note="Mean over segments (Clark et al. 2019, section 3)."
            + (" 0: a single token." if name in _NATS else ""),
        )
        for name, label in _SURFACE.items()
        if not np.isnan(means[name]).all()
    ]


def gradient_columns(task: str, path: str | Path) -> list[Column]:
    """How much the loss depends on each head's attention to each kind of token."""
    table = read_gradients(path).table()
    note = "Mean of |dLoss/dA| over attention to this kind of token (Clark et al. 2019, section 3.2)."
    return [
        Column(f"gradient.{task}.{kind}", f"gradient, {_KINDS[kind]}", f"Gradients on {task}", table[kind], note=note)
        for kind in ATTENDED
        if table[kind].notna().any()
    ]


def relation_columns(task: str, path: str | Path, best: str | Path) -> list[Column]:
    """The dependency relation that each head finds best: farthest above the best fixed offset, if above it at all.

    No columns where no head is above it, as where no relation of a small treebank is listed (`relations.least`).
    """
    names = ("annotation", "relation", "part", "layer", "head", "accuracy")
    table = read_csv(path, "holds no accuracies of relations", names)
    offsets = read_csv(best, "holds no best heads", ("annotation", "relation", "chosen", "scored", "offset_accuracy"))
    offsets = offsets[(offsets["chosen"] == "file") & (offsets["scored"] == "file")]
    table = table[(table["part"] == "file") & (table["annotation"] == "universal")]
    table = table[~table["relation"].isin(_NO_RELATIONS) & ~table["relation"].str.endswith(":*")]
    table = table.merge(offsets[["annotation", "relation", "offset_accuracy"]], on=["annotation", "relation"])
    table["above"] = table["accuracy"] - table["offset_accuracy"]
    top = _by_head(table.dropna(subset=["above"]).sort_values("above").drop_duplicates(["layer", "head"], keep="last"))
    is_above = top["above"] > 0
    if not is_above.any():
        return []
    found = top["relation"].where(is_above, None)
    categories, places = _categories(found)
    group = f"Relations of {task}"
    note = "The relation at which the head is farthest above the best fixed offset (Clark et al. 2019, section 4.2)."
    above = f"points of {task}'s best relation above the best fixed offset"
    return [
        Column(f"relation.{task}", "best relation", group, places, categories=categories, note=note),
        Column(f"above.{task}", above, group, top["above"].where(is_above), note=note),
    ]


def coreference_columns(task: str, path: str | Path) -> list[Column]:
    """How often each head finds an antecedent, by the type of mention."""
    names = ("system", "candidates", "type", "layer", "head", "accuracy")
    table = read_csv(path, "holds no accuracies of coreference", names)
    table = table[(table["system"] == "head") & (table["candidates"] == "mentions")]
    note = (
        "Percent of mentions whose antecedent the head finds among earlier mentions (Clark et al. 2019, section 4.3)."
    )
    return [
        Column(
            f"coreference.{task}.{type_}",
            f"antecedents, {'all mentions' if type_ == 'all' else type_}",
            f"Coreference of {task}",
            _by_head(rows)["accuracy"],
            "%",
            note=note,
        )
        for type_, rows in table.groupby("type", sort=False)
    ]


def rounded(values: Any) -> Any:
    """Numbers to four significant digits, at any depth; None for one that is missing."""
    if isinstance(values, str) or values is None:
        return values
    if isinstance(values, Iterable):
        return [rounded(value) for value in values]
    if isinstance(values, int | np.integer):
        return int(values)
    if not math.isfinite(values):
        return None
    return float(f"{values:.{_DIGITS}g}")


def _categories(names: pd.Series) -> tuple[list[dict], list[int | None]]:
    """Categories of text, the most frequent first, and the place of each head's."""
    known = list(names.dropna().value_counts().sort_index().sort_values(ascending=False, kind="stable").index)
    categories = [
        {"name": name, "colour": PALETTE[place] if place < len(PALETTE) else _OTHERS, "doubtful": False}
        for place, name in enumerate(known)
    ]
    return categories, [None if pd.isna(name) else known.index(name) for name in names]


def _by_head(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(["layer", "head"], ignore_index=True)
