"""Text from data stays text in tables of Markdown and in their pages, which load nothing."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headtypes.core.tables import document, markdown_table, to_html


class _Cells(HTMLParser):
    """The texts of all cells, and the names of all tags."""

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
