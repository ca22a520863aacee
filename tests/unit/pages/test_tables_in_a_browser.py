import pytest

from headtypes.core.tables import document, markdown_rows, to_html
from tests.support.browser import BROKEN_WORDS, LOW_CONTRAST, opened


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1400])
def test_a_wide_table_is_scrolled_and_its_page_is_not(chromium, tmp_path, width, dark):
    labels = [f"quantity_{number}" for number in range(16)]
    table = markdown_rows(
        labels, [False] * 16, [["inferred", "dense_vertical-most-heads", "A sentence. " * 9, *["0.50"] * 13]] * 5
    )
    (tmp_path / "table.html").write_text(to_html(document("Beside the paper", ["A paragraph. " * 30, table]), {}))
    with opened(chromium, tmp_path / "table.html", width, dark=dark) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.locator("p").bounding_box()["width"] <= width
        assert page.locator(".scroll").evaluate("it => it.scrollWidth > it.clientWidth")
        assert page.evaluate(BROKEN_WORDS) == []
        assert page.evaluate(LOW_CONTRAST, 4.5) == []
        lightness = page.evaluate("getComputedStyle(document.body).color")
        assert lightness == ("rgb(255, 255, 255)" if dark else "rgb(0, 0, 0)")
