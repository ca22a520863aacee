"""Tables as a reader sees them, built once: as Markdown and HTML, as LaTeX, and in brief as the cells of a page."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape, unescape
from itertools import repeat
from typing import Any

import pandas as pd
from markdown_it import MarkdownIt

from headtypes.core.files import canonical_json, write_text
from headtypes.core.table_files import write_csv

# A page shows what is in it: it runs nothing, and loads nothing from elsewhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark }
body {
  font: 15px/1.5 system-ui, sans-serif; margin: clamp(.75em, 3vw, 2em); overflow-wrap: break-word;
  color: CanvasText; background: Canvas;
}
.scroll { overflow-x: auto; margin: 1em 0 }
table { border-collapse: collapse }
th, td { padding: .25em .6em; border-bottom: 1px solid #8886 }
td { white-space: nowrap; vertical-align: top }
td.text { white-space: normal; min-width: 18em }
thead th { border-bottom: 2px solid; text-align: left; vertical-align: bottom }
"""


# Cells with sentences, which may be broken into lines; numbers and their intervals may not.
_SENTENCE = re.compile(r"<td>(?=[^<]{50})")
# What could begin code, a cell, emphasis, an image, the target of a link, HTML or a character's name. An asterisk or an
# underscore that emphasises stands before a letter, and an underscore not inside a word.
_MARKUP = re.compile(r"[\\`|]|[*~](?=\S)|(?<![^\W_])_(?=\S)|!(?=\[)|\](?=\()|<(?=[A-Za-z/!?])|&(?=#?\w+;)")


@dataclass(frozen=True)
class Cell:
    """A table cell on a page for readers.

    sort: key to sort the column by. below: a smaller second line. verdict: such as "holds", colours the cell, or "".
    """

    text: str
    sort: float | str = ""
    below: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a `Table`: which values it has, and how they are written.

    name: column of the data frame with the values; label: heading; note: a longer explanation of the heading.
    is_number: true if values are sorted and aligned as numbers; digits: number of decimals.
    write: function from a value to its text; None to write numbers with `digits` decimals.
    ends: the two columns of the data frame with the low and high end of each value's interval; None for no interval.
    between: text of the interval, with {} for each end.
    heads: true if values are names of heads, such as 3-1 for layer 3, head 1, both from 1.
    brief, brief_digits: heading and decimals in the short form of the table; "" and None for `label` and `digits`.
    after, below, verdict: columns of the data frame for the short form alone: text behind the value, text below it if
        it has no interval, and the verdict that colours the cell; "" for none.
    """

    name: str
    label: str
    is_number: bool = True
    digits: int = 2
    write: Callable[[Any], str] | None = None
    ends: tuple[str, str] | None = None
    between: str = " [{}, {}]"
    note: str = ""
    heads: bool = False
    brief: str = ""
    brief_digits: int | None = None
    after: str = ""
    below: str = ""
    verdict: str = ""

    def texts(self, values: pd.DataFrame) -> list[str]:
        # In each row the value with its interval, such as "0.31 [0.20, 0.40]"; "" for a missing value.
        texts = []
        for value, *ends in zip(values[self.name], *self._ends(values), strict=False):
            texts.append(self._text(value, "", self.digits))
            if not _is_missing(ends[0], value):
                texts[-1] += self.between.format(*(f"{end:.{self.digits}f}" for end in ends))
        return texts

    def cells(self, values: pd.DataFrame) -> list[Cell]:
        digits = self.digits if self.brief_digits is None else self.brief_digits
        low, high = self._ends(values)
        others = (values[name] if name else repeat("") for name in (self.after, self.below, self.verdict))
        return [
            self._cell(value, *row, digits) for value, *row in zip(values[self.name], low, high, *others, strict=False)
        ]

    def _cell(self, value: Any, low: Any, high: Any, after: str, below: str, verdict: str, digits: int) -> Cell:
        if _is_missing(value):
            return Cell("", math.inf if self.is_number else "", below)
        text = self._text(value, "z", digits) + after
        if not _is_missing(low):
            below = f"{low:z.{digits}f} to {high:z.{digits}f}"
        if isinstance(value, str):
            return Cell(text, text.lower(), below, verdict)
        return Cell(text, float(value) if self.is_number and self.write is None else value, below, verdict)

    def _text(self, value: Any, sign: str, digits: int) -> str:
        if _is_missing(value):
            return ""
        if self.write is not None:
            return self.write(value)
        return f"{value:{sign}.{digits}f}" if self.is_number else str(value)

    def _ends(self, values: pd.DataFrame) -> tuple[Iterable, Iterable]:
        return (repeat(None), repeat(None)) if self.ends is None else tuple(values[end] for end in self.ends)


@dataclass(frozen=True)
class TextColumn(Column):
    """A column of texts, or of other values that are neither sorted nor aligned as numbers."""

    is_number: bool = False


@dataclass(frozen=True)
class Shown:
    """The short form of a table, ready for a page: headings, and rows of cells.

    about: sentences for the reader; file: path of the full table; model: the model whose heads the table names, or "".
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    about: str = ""
    file: str = ""
    model: str = ""


@dataclass(frozen=True)
class Table:
    """A table for readers: a data frame `data`, and `columns`: the columns to show, with their headings and formats.

    brief: names of the columns in the short form for a page; empty for all. brief_rows: [row] bool, true for a row in
        the short form; None for all rows.
    printed: names of the columns in the LaTeX table; empty for all. Names are those in `data`, not headings.
    about: sentences for the reader. model: the model whose heads the table names, "" for none.
    """

    title: str
    data: pd.DataFrame
    columns: Sequence[Column]
    brief: Sequence[str] = ()
    brief_rows: pd.Series | None = None
    about: str = ""
    model: str = ""
    printed: Sequence[str] = ()

    def where(self, rows: pd.Series) -> "Table":
        return replace(self, data=self.data[rows])

    def markdown(self, *names: str) -> str:
        columns = self._named(names)
        rows = zip(*(column.texts(self.data) for column in columns), strict=True)
        plain_numbers = [column.is_number and not (column.write or column.ends) for column in columns]
        return markdown_rows([column.label for column in columns], plain_numbers, rows)

    def latex(self) -> str:
        """Return a LaTeX table (booktabs) of the columns `printed` and rows `brief_rows`; its title is a comment."""
        columns, values = self._named(self.printed), self._rows_in_brief()
        texts = {column.brief or column.label: column.texts(values) for column in columns}
        aligned = "".join("r" if column.is_number else "l" for column in columns)
        return f"% {self.title}\n" + pd.DataFrame(texts).to_latex(index=False, escape=True, column_format=aligned)

    def in_brief(self, file: str = "") -> Shown:
        """Return the columns `brief` and rows `brief_rows` for a page; file: link to the full table, or "" for none."""
        columns = self._named(self.brief)
        values = self._rows_in_brief()
        rows = list(zip(*(column.cells(values) for column in columns), strict=True))
        named = [replace(column, label=column.brief or column.label) for column in columns]
        return Shown(self.title, named, rows, self.about, file, self.model)

    def _rows_in_brief(self) -> pd.DataFrame:
        return self.data if self.brief_rows is None else self.data[self.brief_rows]

    def _named(self, names: Sequence[str]) -> list[Column]:
        by_name = {column.name: column for column in self.columns}
        return [by_name[name] for name in names] if names else list(self.columns)


def interval(name: str) -> tuple[str, str]:
    return f"{name}_low", f"{name}_high"


def probability(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def p_value(p: float) -> str:
    text = probability(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def _is_missing(*values: Any) -> bool:
    return any(value is None or pd.isna(value) for value in values)


def plain(text: str) -> str:
    """Return a text with its Markdown characters escaped and its lines joined, so that the text contains no markup."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.splitlines()))


def markdown_table(table: pd.DataFrame) -> str:
    """Return a data frame as a Markdown table: numbers right-aligned, floats with two decimals, NaN as empty cells."""
    aligned = [pd.api.types.is_numeric_dtype(table[column]) for column in table]
    return markdown_rows(table.columns, aligned, (map(_cell, row) for row in table.astype(object).to_numpy()))


def markdown_rows(labels: Iterable[str], is_number: Iterable[bool], rows: Iterable[Iterable[str]]) -> str:
    aligned = ["---:" if right else "---" for right in is_number]
    return _line(map(plain, labels)) + _line(aligned) + "".join(_line(map(plain, row)) for row in rows)


def document(title: str, parts: Iterable[str]) -> str:
    return "\n".join([f"# {title}\n", *(part.rstrip("\n") + "\n" for part in parts)])


def anchor(title: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", title)


def write_table(
    outputs: Mapping[str, str],
    table: pd.DataFrame,
    page: str,
    provenance: dict,
    ending: str = "",
    printed: Iterable[Table] = (),
) -> None:
    """Write `table` as CSV, `page` (Markdown text) as Markdown and HTML, and the tables `printed` as LaTeX.

    outputs: {name: path} with the names csv, markdown, html and, if `printed` is not empty, tex. An `ending` is added
        to each name: "_7" makes "csv_7". provenance: origin of the result, for the head of the HTML file.
    """
    write_csv(outputs[f"csv{ending}"], table)
    write_text(outputs[f"markdown{ending}"], page)
    write_text(outputs[f"html{ending}"], to_html(page, provenance))
    if printed:
        latex = (shown.latex() for shown in printed)
        write_text(outputs[f"tex{ending}"], "\n".join(["% These need the package booktabs.\n", *latex]))


def to_html(page: str, provenance: dict) -> str:
    """Return a Markdown page as one self-contained HTML file, with the provenance in its head."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    body = _SENTENCE.sub('<td class="text">', renderer.render(page))
    body = re.sub(r"<h2>(.*?)</h2>", lambda heading: f'<h2 id="{anchor(unescape(heading[1]))}">{heading[1]}</h2>', body)
    body = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    title = escape(page.partition("\n")[0].removeprefix("# "))
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
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
