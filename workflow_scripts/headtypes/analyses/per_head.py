"""Columns of the atlas: one value of each head."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from headtypes.core.style import PALETTE

_DIGITS = 4
# All that a share can be, in percent: a scale on which small shares look small.
WHOLE = (0, 100)
# Where a column has more categories than there are colours, the rarest share the last one.
_OTHERS = "#8A8F98"


@dataclass(frozen=True)
class Column:
    """One value of each head, layer by layer.

    key, label, group: for the address, for a reader, and the analysis that it belongs to; note: what values are.
    values: numbers, NaN or None where there is none; or indices of `categories` (name, colour, whether it is doubtful).
    unit: `%`, `nats` or nothing. low, high: ends of the 95 % interval of each value.
    scale: where its colours begin and end; from the lowest to the highest head where it is None.
    """

    key: str
    label: str
    group: str
    values: Sequence
    unit: str = ""
    low: Sequence | None = None
    high: Sequence | None = None
    scale: tuple[float, float] | None = None
    categories: Sequence[dict] | None = None
    note: str = ""

    def named(self) -> Sequence:
        if self.categories is None:
            return self.values
        return [None if pd.isna(index) else self.categories[index]["name"] for index in self.values]

    def as_dict(self) -> dict:
        """Return the fields as JSON holds them: rounded, and without empty ones."""
        numbers = {name: rounded(getattr(self, name)) for name in ("values", "low", "high", "scale")}
        fields = {**vars(self), **numbers}
        return {name: value for name, value in fields.items() if value is not None and value != ""}


def rounded(values: Any) -> Any:
    """Round numbers to four significant digits, at any depth; None for one that is missing."""
    if isinstance(values, str) or values is None:
        return values
    if isinstance(values, Iterable):
        return [rounded(value) for value in values]
    if isinstance(values, int | np.integer):
        return int(values)
    if not math.isfinite(values):
        return None
    return float(f"{values:.{_DIGITS}g}")


def categories_of(names: pd.Series) -> tuple[list[dict], list[int | None]]:
    """Return the categories of texts, the most frequent first, and the index of each head's."""
    known = list(names.dropna().value_counts().sort_index().sort_values(ascending=False, kind="stable").index)
    categories = [
        {"name": name, "colour": PALETTE[index] if index < len(PALETTE) else _OTHERS, "doubtful": False}
        for index, name in enumerate(known)
    ]
    return categories, [None if pd.isna(name) else known.index(name) for name in names]


def by_head(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(["layer", "head"], ignore_index=True)
