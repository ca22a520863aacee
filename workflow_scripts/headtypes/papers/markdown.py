"""Tables as Markdown, and pages of it as HTML."""

import re
from collections.abc import Iterable
from html import escape

import pandas as pd
from markdown_it import MarkdownIt

from headtypes.core.files import canonical_json

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: .25em .6em; border-bottom: 1px solid #ccc }
td { white-space: nowrap; vertical-align: top }
td.text { white-space: normal; min-width: 18em }
thead th { border-bottom: 2px solid #222; text-align: left; vertical-align: bottom }
"""


# Cells with sentences, which may be broken into lines; numbers and their intervals may not.
_SENTENCE = re.compile(r"<td>(?=[^<]{50})")


def markdown_table(table: pd.DataFrame) -> str:
    """One Markdown table: right-aligned numbers, fractions with two decimals, and empty cells for NaN."""
    aligned = ["---:" if pd.api.types.is_numeric_dtype(table[column]) else "---" for column in table]
    rows = [map(_cell, row) for row in table.astype(object).itertuples(index=False)]
    return "".join(_line(cells) for cells in (table.columns, aligned, *rows))


def document(title: str, parts: Iterable[str]) -> str:
    """A page with a title and parts, each set off by a blank line."""
    return "\n".join([f"# {title}\n", *(part.rstrip("\n") + "\n" for part in parts)])


def to_html(page: str, provenance: dict) -> str:
    """A page of Markdown as one HTML file that needs no other; what made it is kept in its head."""
    body = _SENTENCE.sub('<td class="text">', MarkdownIt("commonmark", {"html": False}).enable("table").render(page))
    title = page.partition("\n")[0].removeprefix("# ")
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="provenance" content="{escape(canonical_json(provenance))}">'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}</body>\n</html>\n"
    )


def _cell(value: object) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
