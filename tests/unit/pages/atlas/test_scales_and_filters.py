"""Scales say what they show, types are told without colours and on paper, and filters begin empty."""

import pytest
from playwright.sync_api import expect

from tests.support.atlases import show, tile
from tests.support.browser import opened

SIGNS = ["De", "Di", "DV", "V"] * 3
# Points of the smallest lettering on paper, in pixels of 96 to the inch.
SMALLEST = 6 * 96 / 72
# Text that can be seen, and its size in pixels.
SIZES = """() => [...document.querySelectorAll("body *")]
  .filter((it) => it.checkVisibility() && [...it.childNodes].some((text) => text.nodeType === 3 && text.data.trim()))
  .map((it) => [it.textContent.trim(), parseFloat(getComputedStyle(it).fontSize)])"""
# The colour of a scale at a share of it: its stops, between which it is mixed.
COLOUR = """(share) => {
  const stops = [[68, 1, 84], [72, 40, 120], [62, 73, 137]], at = share * 9, stop = Math.floor(at);
  const mixed = stops[stop].map((part, i) => Math.round(part + (stops[stop + 1][i] - part) * (at - stop)));
  return `rgb(${mixed.join(", ")})`;
}"""


def legend(page) -> str:
    return " ".join(page.locator("#legend").inner_text().split())


def test_small_scores_of_a_detector_do_not_fill_the_scale(chromium, page_file):
    """Planted: 0 to 11 %, of which a quarter is detected."""
    with opened(chromium, page_file, 1280) as page:
        show(page, "by=detector.induction")
        assert legend(page).startswith("0 % 100 % heads: 0 % to 11.0 % On random tokens")
        assert legend(page).endswith("Detected: 3 of 12 heads.")
        colour = tile(page, "3-4").evaluate("it => getComputedStyle(it).backgroundColor")
        assert colour == page.evaluate(COLOUR, 0.11)


def test_other_scales_say_whose_values_their_ends_are(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        show(page, "by=gradient.text.other")
        assert legend(page).startswith("0 0.917 from the lowest to the highest head")
        show(page, "by=gradient.text.sep")
        assert legend(page).startswith("every head: 1.0e-5")
        # Numbers too small for a tile are in units that are said.
        show(page, "by=gradient.text.cls")
        assert "numbers on tiles in 0.01" in legend(page)
        assert tile(page, "3-4").inner_text() == "1.1"
        page.get_by_role("button", name="maps").click()
        assert "numbers on tiles" not in legend(page)
        assert "attention: 0 % 100 % darkness: its square root" in legend(page)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_types_have_letters_that_can_be_read_wherever_they_have_colours(chromium, page_file, width, dark):
    with opened(chromium, page_file, width, dark=dark) as page:
        for view in ("", "show=maps", "only=type.qa-kmeans-k4~dense|vertical"):
            show(page, view)
            page.locator(".tile canvas").first.wait_for() if view == "show=maps" else None
            assert page.locator(".tile").all_inner_texts() == SIGNS
            assert page.locator("#legend .swatch").all_inner_texts() == SIGNS[:4]
            assert [text for text, size in page.evaluate(SIZES) if size < SMALLEST] == []


@pytest.mark.parametrize("kept", ["head=1-1", "head=1-1 1-4&map=matrix", "show=maps"])
def test_what_is_printed_is_light_whole_and_without_controls(chromium, page_file, kept):
    """On A4, which is 718 pixels wide between the margins: narrower than a tablet, and still not its layout."""
    with opened(chromium, page_file, 718, dark=True) as page:
        show(page, kept)
        page.locator(".map, .tile canvas").first.wait_for()
        page.emulate_media(media="print")
        expect(page.locator("html")).to_have_css("--paper", "#ffffff")
        assert page.locator(".controls, .bar, .title button").locator("visible=true").count() == 0
        assert page.locator(".tile").all_inner_texts() == SIGNS
        exact = page.locator(".tile").first.evaluate("it => getComputedStyle(it).printColorAdjust")
        assert exact == "exact"
        assert page.evaluate("document.documentElement.scrollWidth") <= 718
        opened_heads = page.locator("#opened")
        if opened_heads.is_visible():
            assert opened_heads.evaluate("it => getComputedStyle(it).position") == "static"
            fits = "it => it.scrollWidth <= it.clientWidth"
            assert all(it.evaluate(fits) for it in page.locator(".panel, div.matrix").all())


def test_chips_of_the_legend_filter(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        chip = page.locator("#legend").get_by_role("button", name="diagonal 3")
        chip.click()
        assert page.locator("#count").inner_text() == "3 of 12 heads pass the filters."
        assert chip.get_attribute("aria-pressed") == "true"
        # It is the filter of the same name; without any, there is no filter.
        assert page.get_by_role("checkbox", name="diagonal").is_checked()
        chip.click()
        assert page.locator("#count").inner_text() == "12 heads"
        assert page.locator(".filter").count() == 0
