"""Kinds of heads over models as a reader sees them: how many heads of each kind are where, and which these are."""

import numpy as np
import pandas as pd
import pytest

from headtypes.comparisons.heads.kinds import kinds_table
from headtypes.comparisons.heads.profiles import Profiles
from headtypes.pages.kinds.page import page_of
from headtypes.pages.rendering import render
from tests.support.browser import BEYOND_THE_EDGE, LOW_CONTRAST, NAMELESS, browser, opened
from tests.support.places import SCRIPTS

PAGES = SCRIPTS / "headtypes" / "pages"
SOURCES = {
    "html": [PAGES / "base.html", PAGES / "kinds" / "page.html"],
    "css": [PAGES / "summary" / "page.css", PAGES / "kinds" / "page.css"],
    "js": [PAGES / "tables.js"],
}
MODELS = ["one", "two", "three"]
# Of each model, the kind of each of its heads, by layer.
KINDS = {"one": [[1, 1], [2, 0]], "two": [[0, 0], [0, 1]], "three": [[0, 2], [0, 0]]}


def made(kinds: dict[str, list[list[int]]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    heads = pd.DataFrame(
        [
            {"model": model, "layer": layer, "head": head, "kind": kind}
            for model in MODELS
            for layer, of_layer in enumerate(kinds[model])
            for head, kind in enumerate(of_layer)
        ]
    )
    shares = np.eye(3)[heads["kind"]]
    profiles = Profiles(heads[["model", "layer", "head"]], shares, ["far", "to [SEP]", "near <b>"])
    families = {"one": "one", "two": "one", "three": "untrained"}
    return heads, kinds_table(profiles, heads["kind"].to_numpy(), families, seed=1)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "text.html"
    values = page_of("text", *made(KINDS), {"one": "one", "two": "one", "three": "untrained"})
    path.write_text(render(values, SOURCES, {}))
    return path


@pytest.fixture(scope="module")
def chromium():
    with browser() as it:
        yield it


def test_each_cell_has_the_heads_of_a_model_that_are_of_a_kind(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        assert page.locator("thead th").all_inner_texts() == ["100 % to [SEP]", "100 % near <b>", "of no kind"]
        rows = [row.locator("td > button").all_inner_texts() for row in page.locator("tbody tr").all()]
        assert rows == [["2", "1", "1"], ["1", "3"], ["1", "3"]]
        assert page.locator("tbody th").all_inner_texts() == ["one", "two\none", "three\nuntrained"]
        feet = {
            row.locator("th").inner_text(): row.locator("td").all_inner_texts()
            for row in page.locator("tfoot tr").all()
        }
        assert feet["heads"] == ["3", "2", ""]
        assert (feet["models"], feet["families"]) == (["2", "2", ""], ["1", "2", ""])


def test_a_press_on_a_number_lists_the_heads_each_with_a_link_to_its_atlas(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        button = page.get_by_role("button", name="2 of one: 100 % to [SEP]")
        listed = page.locator("[popover]").first
        assert not listed.is_visible()
        button.click()
        assert listed.is_visible()
        links = listed.locator("a")
        assert links.all_inner_texts() == ["1-1", "1-2"]
        assert [it.get_attribute("href") for it in links.all()] == [
            "../atlas/one.html#head=1-1",
            "../atlas/one.html#head=1-2",
        ]
        page.keyboard.press("Escape")
        assert not listed.is_visible()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_has_contrast_and_named_controls(chromium, page_file, width, dark):
    with opened(chromium, page_file, width, dark=dark) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BEYOND_THE_EDGE) == []
        assert page.evaluate(LOW_CONTRAST, 4.5) == []
        assert page.evaluate(NAMELESS) == []


def test_without_kinds_the_page_says_so(chromium, tmp_path):
    heads, kinds = made({model: [[0, 0], [0, 0]] for model in MODELS})
    (tmp_path / "text.html").write_text(
        render(page_of("text", heads, kinds, dict.fromkeys(MODELS, "one")), SOURCES, {})
    )
    with opened(chromium, tmp_path / "text.html", 1280) as page:
        assert page.get_by_text("No kind of heads stands out.").is_visible()
        assert page.locator("table").count() == 0
