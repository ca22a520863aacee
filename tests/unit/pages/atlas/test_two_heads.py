"""A cell that is read by a tap, and two heads beside one another, as a reader sees them."""

import re

import numpy as np
import pytest

from headtypes.analyses.distances.features import read_head_features
from tests.support.atlases import WORDS, atlas, maps_of, show, state, tile, write_page
from tests.support.browser import opened

# Pixels beside and above a matrix.
WORD_ROOM = 64
# As many tokens as a page shows.
LONG = ["[CLS]", *(f"word{place}" for place in range(46)), "[SEP]"]


def tap(page, query: int, key: int) -> None:
    """Tap a cell of the matrix that is shown."""
    canvas = page.locator("div.matrix canvas:not(.rows):visible")
    side = canvas.evaluate("it => it.cell")
    canvas.tap(position={"x": (key + 0.5) * side, "y": WORD_ROOM + (query + 0.5) * side})


def said_of(attention: np.ndarray, words: list[str], query: int, key: int) -> str:
    value = 100 * attention[query, key]
    return f"“{words[query]}” → “{words[key]}”: {value:.{1 if value < 9.95 else 0}f} %"


def test_a_tap_reads_a_cell(chromium, page_file):
    attention = maps_of(3, 4, WORDS, 0).attention[1, 2]
    with opened(chromium, page_file, 390) as page:
        show(page, "head=2-3&map=matrix")
        for query, key in ((3, 2), (0, 7)):
            tap(page, query, key)
            assert page.locator(".said").inner_text() == said_of(attention, WORDS, query, key)
        # It is kept, in the address too, until it is tapped again.
        assert "word=from-1-8" in state(page)
        kept = page.evaluate("location.hash")[1:]
        show(page, kept)
        assert page.locator(".said").inner_text() == said_of(attention, WORDS, 0, 7)
        tap(page, 0, 7)
        assert "word=" not in state(page)
        assert page.locator(".said").inner_text().startswith("Tap a cell")


def test_on_a_phone_a_map_has_its_words_and_cells_that_a_finger_finds(chromium, tmp_path):
    write_page(tmp_path / "long.html", atlas(tmp_path, 2, 2, [LONG]))
    attention = maps_of(2, 2, LONG, 0).attention[0, 1]
    with opened(chromium, tmp_path / "long.html", 390) as page:
        show(page, "head=1-2&map=matrix")
        matrix, rows = page.locator("div.matrix"), page.locator("div.matrix .rows")
        assert page.locator("div.matrix canvas:not(.rows)").evaluate("it => it.cell") >= 16
        # The map is scrolled and the page is not; the words of the rows stay where they are.
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        before = rows.bounding_box()
        assert before["width"] == WORD_ROOM
        matrix.evaluate("it => it.scrollLeft = it.scrollWidth")
        assert matrix.evaluate("it => it.scrollLeft") > 300
        assert rows.bounding_box() == before
        inked = "it => new Set(it.getContext('2d').getImageData(0, 0, it.width, it.height).data).size"
        assert rows.evaluate(inked) > 2
        far = int(attention[20:, 30:].max(0).argmax()) + 30
        query = int(attention[:, far].argmax())
        tap(page, query, far)
        assert page.locator(".said").inner_text() == said_of(attention, LONG, query, far)


def test_two_heads_share_one_table_with_their_differences(chromium, page_file):
    features, _ = read_head_features(page_file.with_name("features.h5"), 16)
    with opened(chromium, page_file, 1400) as page:
        show(page, "head=1-2 3-1")
        both = page.get_by_role("article", name="Both heads")
        assert both.locator(".numbers thead th").all_inner_texts() == ["1-2", "3-1", "difference"]
        rows = both.locator(".numbers tbody tr").all_inner_texts()
        assert len(rows) == 21
        for text, first, second in zip(rows, features[1], features[8], strict=True):
            *_, one, other, difference = re.split(r"\t", text)
            assert float(one.split()[0]) == pytest.approx(100 * first, abs=0.51)
            assert float(other.split()[0]) == pytest.approx(100 * second, abs=0.51)
            signed = float(difference.split()[0])
            assert signed == pytest.approx(100 * (second - first), abs=0.051)
        assert both.get_by_role("row", name="gradient, other tokens").inner_text().split("\t")[1:] == [
            *("0.0833", "0.667", "+0.583")
        ]
        # Conditions that change either, and which of them.
        costs = re.sub(r"\s+", " ", both.locator(".costs tbody").inner_text())
        assert "one-head 1-2: zero: this head 0.5" in costs
        assert "zero-dense 3-1: zero: all 3 dense heads 7.3" in costs
        one, other = page.locator(".panel").all()
        one.get_by_role("group", name="Words that look").get_by_role("button", name="old").hover()
        assert other.locator(".said").inner_text().startswith("“old” looks at")
        # One alone has no difference.
        page.get_by_role("button", name="Close head 3-1").click()
        assert page.get_by_role("article", name="Both heads").count() == 0
        assert "difference" not in page.locator(".panel").inner_text()


def test_on_a_phone_two_heads_are_in_tabs(chromium, page_file):
    with opened(chromium, page_file, 390) as page:
        tile(page, "2-3").tap()
        page.get_by_role("button", name="Compare with another head").tap()
        tile(page, "1-1").tap()
        shown = page.locator(".panel:visible h2")
        assert shown.all_inner_texts() == ["Layer 1, head 1"]
        page.get_by_role("button", name="Show the map of head 2-3").tap()
        assert shown.all_inner_texts() == ["Layer 2, head 3"]
        assert page.locator(".panel:visible .lines canvas").bounding_box()["width"] > 60
        assert page.locator(".both .numbers thead").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
