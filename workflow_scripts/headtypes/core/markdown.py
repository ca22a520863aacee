"""Tables as Markdown, and pages of it as HTML."""

import re
from collections.abc import Iterable, Mapping
from html import escape, unescape

import pandas as pd
from markdown_it import MarkdownIt

from headtypes.core.files import canonical_json, write_text
from headtypes.core.table_files import write_csv

# A page shows what is in it: it runs nothing, and loads nothing from elsewhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
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
# What could begin code, a cell, emphasis, an image, the target of a link, HTML or a character's name. An asterisk or an
# underscore that emphasises stands before a letter, and an underscore not inside a word.
_MARKUP = re.compile(r"[\\`|]|[*~](?=\S)|(?<![^\W_])_(?=\S)|!(?=\[)|\](?=\()|<(?=[A-Za-z/!?])|&(?=#?\w+;)")


def plain(text: str) -> str:
    """Text from data, on one line, in which Markdown finds no markup: neither a cell of a table nor a link or image."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.splitlines()))


def markdown_table(table: pd.DataFrame) -> str:
    """One Markdown table: right-aligned numbers, fractions with two decimals, and empty cells for NaN."""
    aligned = [pd.api.types.is_numeric_dtype(table[column]) for column in table]
    return markdown_rows(table.columns, aligned, (map(_cell, row) for row in table.astype(object).to_numpy()))


def markdown_rows(labels: Iterable[str], is_number: Iterable[bool], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table of texts, in which markup is text; columns of numbers are aligned to the right."""
    aligned = ["---:" if right else "---" for right in is_number]
    return _line(map(plain, labels)) + _line(aligned) + "".join(_line(map(plain, row)) for row in rows)


def document(title: str, parts: Iterable[str]) -> str:
    """A page with a title and parts, each set off by a blank line."""
    return "\n".join([f"# {title}\n", *(part.rstrip("\n") + "\n" for part in parts)])


def anchor(title: str) -> str:
    """What a link to a part of a page ends with, by the title of the part."""
    return re.sub(r"[^\w.+-]+", "-", title)


def write_table(outputs: Mapping[str, str], table: pd.DataFrame, page: str, provenance: dict, ending: str = "") -> None:
    """A table as CSV and its page as Markdown and HTML; ending: of the names of these outputs."""
    write_csv(outputs[f"csv{ending}"], table)
    write_text(outputs[f"markdown{ending}"], page)
    write_text(outputs[f"html{ending}"], to_html(page, provenance))


def to_html(page: str, provenance: dict) -> str:
    """A page of Markdown as one HTML file that needs no other; what made it is kept in its head."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    body = _SENTENCE.sub('<td class="text">', renderer.render(page))
    body = re.sub(r"<h2>(.*?)</h2>", lambda heading: f'<h2 id="{anchor(unescape(heading[1]))}">{heading[1]}</h2>', body)
    title = escape(page.partition("\n")[0].removeprefix("# "))
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><title>{title}</title>'
        f'<meta name="provenance" content="{escape(canonical_json(provenance))}">'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}</body>\n</html>\n"
    )


def _cell(value: object) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
