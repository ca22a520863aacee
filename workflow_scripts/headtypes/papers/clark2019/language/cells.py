"""What the cells of Clark's Tables 1 to 3 show: accuracies with their intervals, and heads as a person reads them."""

from collections.abc import Iterable

import pandas as pd

from headtypes.core.style import head_name
from headtypes.core.tables import Column, interval


def percent(name: str, label: str, ends: tuple[str, str] | None = None, **how) -> Column:
    """A column of percentages with one decimal; ends: as of `Column`, `{name}_low` and `{name}_high` by default."""
    return Column(name, label, digits=1, ends=ends or interval(name), **how)


def head_names(layers: Iterable, heads: Iterable) -> list[str]:
    """Names of heads, counted from 1, given from 0; empty where there is none, as where halves choose differently."""
    return [
        "" if pd.isna(layer) or pd.isna(head) else head_name(int(layer), int(head))
        for layer, head in zip(layers, heads, strict=True)
    ]


def signed(offset: float) -> str:
    """An offset, with its sign."""
    return f"{int(offset):+d}"


def spaced(name: str) -> str:
    """A name of a system as words."""
    return name.replace("_", " ")
