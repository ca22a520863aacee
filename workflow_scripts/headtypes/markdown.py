"""Tables as Markdown."""

from collections.abc import Iterable

import pandas as pd


def markdown_table(table: pd.DataFrame) -> str:
    """One Markdown table: numbers to the right with two decimals, whole numbers as they are, nothing for NaN."""
    aligned = ["---:" if pd.api.types.is_numeric_dtype(table[column]) else "---" for column in table]
    rows = [map(_cell, row) for row in table.astype(object).itertuples(index=False)]
    return "".join(_line(cells) for cells in (table.columns, aligned, *rows))


def document(title: str, parts: Iterable[str]) -> str:
    """A page with a title and parts, each set off by a blank line."""
    return "\n".join([f"# {title}\n", *(part.rstrip("\n") + "\n" for part in parts)])


def _cell(value: object) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
