"""A table is built once: whole as Markdown, and in brief as cells with what they are sorted by; text stays text."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headtypes.core.tables import Cell, Column, Table, document, interval, markdown_table, probability, to_html

DATA = pd.DataFrame(
    {
        "name": ["Two", "one|", None],
        "score": [51.25, -0.001, np.nan],
        "score_low": [40, np.nan, np.nan],
        "score_high": [60.5, np.nan, np.nan],
        "count": [1000, 2, 3],
        "p": [0.0004, 0.25, np.nan],
        "mark": ["?", "", "?"],
        "line": ["below", "", ""],
        "verdict": ["holds", "fails", "open"],
    }
)
COLUMNS = [
    Column("name", "type", is_number=False, after="mark", below="line", note="what it is called"),
    Column("score", "score", ends=interval("score"), brief="in brief", brief_digits=1),
    Column("count", "count", digits=0),
    Column("p", "p", write=probability, verdict="verdict"),
]
TABLE = Table("Title", DATA, COLUMNS, brief=["name", "score", "p"], brief_rows=DATA["count"] != 2, about="About.")


def test_markdown_shows_all_columns_or_those_named():
    assert TABLE.markdown() == (
        "| type | score | count | p |\n"
        "| --- | --- | ---: | --- |\n"
        "| Two | 51.25 [40.00, 60.50] | 1000 | <0.001 |\n"
        "| one\\| | -0.00 | 2 | 0.250 |\n"
        "|  |  | 3 |  |\n"
    )
    assert TABLE.where(DATA["count"] == 3).markdown("count", "name") == "| count | type |\n| ---: | --- |\n| 3 |  |\n"


def test_in_brief_a_table_has_fewer_columns_rows_and_decimals_and_what_is_missing_is_sorted_last():
    shown = TABLE.in_brief("file.csv")
    assert (shown.title, shown.about, shown.file) == ("Title", "About.", "file.csv")
    assert [(it.label, it.is_number, it.note) for it in shown.columns] == [
        ("type", False, "what it is called"),
        ("in brief", True, ""),
        ("p", True, ""),
    ]
    assert shown.rows == [
        (Cell("Two?", "two?", "below"), Cell("51.2", 51.25, "40.0 to 60.5"), Cell("<0.001", 0.0004, "", "holds")),
        (Cell("", "", ""), Cell("", np.inf), Cell("", np.inf, "")),
    ]
    (row,) = Table("", DATA[1:2], COLUMNS).in_brief().rows
    assert [cell.text for cell in row] == ["one|", "0.0", "2", "0.250"]


def test_latex_has_the_printed_columns_of_the_rows_in_brief_and_no_markup_of_the_data():
    odd = DATA.assign(name=["50 % of a_b & {c}", "", "\\input~#1^$"])
    text = replace(TABLE, data=odd, printed=["name", "score", "count"]).latex()
    title, *body = text.splitlines()
    assert title == "% Title"
    assert body == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"type & in brief & count \\",
        r"\midrule",
        r"50 \% of a\_b \& \{c\} & 51.25 [40.00, 60.50] & 1000 \\",
        r"\textbackslash input\textasciitilde \#1\textasciicircum \$ &  & 3 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_probability_has_three_decimals_unless_they_are_zeros():
    assert [probability(p) for p in (0.0009, 0.001, 0.005, 1)] == ["<0.001", "0.001", "0.005", "1.000"]


class _Cells(HTMLParser):
    def __init__(self, page: str):
        super().__init__()
        self.cells, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def _page(table: pd.DataFrame) -> _Cells:
    return _Cells(to_html(document("Title", [markdown_table(table)]), {}))


def test_numbers_are_shown_as_numbers_and_nothing_as_nothing():
    table = pd.DataFrame({"name": ["a", None], "figure": [1.005, np.nan], "whole": pd.array([3, None], "Int64")})
    assert markdown_table(table) == "| name | figure | whole |\n| --- | ---: | ---: |\n| a | 1.00 | 3 |\n|  |  |  |\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b", r"a\|b"),
        ("![x](http://host/x.png)", r"\![x\](http://host/x.png)"),
        ("[x](http://host)", r"[x\](http://host)"),
        ("<img src=x>", r"\<img src=x>"),
        ("*a* __b__ `c` &lt; \\", r"\*a* \_\_b__ \`c\` \&lt; " + "\\\\"),
        ("a\n| b\r\n# c", r"a \| b # c"),
        # As they are: no markup begins here.
        ("poss* dense_vertical, p < 0.05, 1.0 [0.5, 1.5], a & b!", None),
    ],
)
def test_markup_in_a_cell_or_a_label_is_text(text, written):
    table = pd.DataFrame({text: [text], "next": ["1"]})
    assert markdown_table(table).count(f"| {written or text} | ") == 2
    page = _page(table)
    on_one_line = " ".join(text.splitlines())
    assert [cell.strip("\n") for cell in page.cells] == [on_one_line, "next", on_one_line, "1"]
    assert not {"img", "a", "em", "strong", "code"} & set(page.tags)


@settings(max_examples=300)
@given(st.text(r"""ab1 \`*_~!|[](){}<>&;:#"'/?=+-.""", min_size=1).map(str.strip))
def test_a_cell_holds_any_text(text):
    cells = _page(pd.DataFrame({"x": [text], "y": ["end"]})).cells
    assert (cells[2].split(), len(cells)) == (text.split(), 4)


def test_a_page_loads_nothing_and_its_title_is_text():
    page = to_html(document("A <b>", ["![x](http://host/x.png) <script>"]), {"a": "</head>"})
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none';")
    assert "script-src" not in policy
    assert "<title>A &lt;b&gt;</title>" in page
    assert not {"img", "script"} & set(_Cells(page).tags)
