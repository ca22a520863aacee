"""Tables as a page shows them: columns, and cells with their text and what they are sorted by."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from headtypes.core.tables import Cell


@dataclass(frozen=True)
class Column:
    """The head of a column; note: a longer explanation, shown where the reader points at it."""

    label: str
    is_number: bool = True
    note: str = ""


def words(text: Any, below: str = "") -> Cell:
    """A cell of text; empty for what is missing."""
    text = "" if pd.isna(text) else str(text)
    return Cell(text, text.lower(), below)


def number(value: Any, digits: int = 1, low: Any = None, high: Any = None) -> Cell:
    """A cell of a number, with its interval below; empty for NaN."""
    if value is None or pd.isna(value):
        return Cell("", math.inf)
    ends = "" if low is None or pd.isna(low) else f"{low:z.{digits}f} to {high:z.{digits}f}"
    return Cell(f"{value:z.{digits}f}", float(value), ends)


def probability(p: Any) -> Cell:
    """A cell of a p-value or a rate."""
    if p is None or pd.isna(p):
        return Cell("", math.inf)
    return Cell("<0.001" if p < 0.001 else f"{p:.3f}", float(p))
