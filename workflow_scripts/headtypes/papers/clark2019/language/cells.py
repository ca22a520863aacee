"""What the cells of Clark's Tables 1 to 3 show: accuracies with their intervals, and heads as a person reads them."""

import math
from collections.abc import Iterable

import pandas as pd

from headtypes.core.style import head_name


def with_ends(value: float, low: float, high: float, form: str = "{:.1f}") -> str:
    """A value and its interval, or the value alone; empty where there is none."""
    if math.isnan(value):
        return ""
    shown = form.format(value)
    return shown if math.isnan(low) else f"{shown} [{form.format(low)}, {form.format(high)}]"


def column_with_ends(table: pd.DataFrame, name: str, low: str | None = None, high: str | None = None) -> list[str]:
    """A column as `with_ends` shows it; its ends are in `{name}_low` and `{name}_high`, or in the columns named."""
    ends = table[[name, low or f"{name}_low", high or f"{name}_high"]].astype(float)
    return [with_ends(*row) for row in ends.itertuples(index=False)]


def head_names(layers: Iterable, heads: Iterable) -> list[str]:
    """Names of heads, counted from 1, given from 0; empty where there is none, as where halves choose differently."""
    return [
        "" if pd.isna(layer) or pd.isna(head) else head_name(int(layer), int(head))
        for layer, head in zip(layers, heads, strict=True)
    ]


def signed(offset: float) -> str:
    """An offset, with its sign; empty where there is none."""
    return "" if pd.isna(offset) else f"{int(offset):+d}"
