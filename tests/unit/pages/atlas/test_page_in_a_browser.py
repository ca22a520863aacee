"""The atlas as a reader sees it: by mouse, keyboard and touch, on a screen and on a phone, in light and dark."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import expect

from headtypes.pages.atlas.page import gather
from tests.support.atlases import (
    MARKUP,
    WORDS,
    atlas,
    made_up,
    maps_of,
    results,
    show,
    state,
    tile,
    write_page,
    write_relations,
)
from tests.support.browser import LOW_CONTRAST, opened

# Roles of what can be operated (WAI-ARIA).
CONTROLS = {"button", "combobox", "spinbutton", "checkbox", "gridcell", "link", "listbox", "textbox", "option"}


def test_tiles_are_coloured_by_any_column(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        page.get_by_label("Colour by").select_option(label="gradient, other tokens")
        assert "0.0833" in tile(page, "1-2").get_attribute("aria-label")
        colours = page.locator(".tile").evaluate_all("all => all.map((it) => getComputedStyle(it).backgroundColor)")
        assert len(set(colours)) == 12
        page.get_by_label("Colour by").select_option(label="divergence from a head")
        page.get_by_label("from head", exact=True).select_option(label="2-1")
        expect(tile(page, "2-1")).to_have_attribute("aria-label", re.compile("divergence from head 2-1 0 nats$"))
        # Planted: the difference of two heads' places, over 24 rows.
        assert tile(page, "2-4").get_attribute("aria-label").endswith(f" {3 / 24} nats")
        assert "by=divergence.text&from=2-1" in state(page)


def test_heads_are_filtered_by_types_and_by_numbers(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        assert page.locator("#count").inner_text() == "12 heads"
        page.get_by_label("Filter", exact=True).select_option(label="type (qa-kmeans-k4)")
        # A filter is empty at first, and keeps every head.
        assert page.get_by_role("checkbox", checked=True).count() == 0
        assert page.locator("#count").inner_text() == "12 of 12 heads pass the filters."
        for name in ("dense_vertical", "vertical"):
            page.get_by_label(name, exact=True).check()
        assert page.locator("#count").inner_text() == "6 of 12 heads pass the filters."
        page.get_by_label("Filter", exact=True).select_option(label="gradient, other tokens")
        page.get_by_label("at least").fill("0.5")
        assert page.locator("#count").inner_text() == "4 of 12 heads pass the filters."
        assert tile(page, "3-4").get_attribute("aria-label").endswith("vertical (doubtful)")
        assert tile(page, "1-1").get_attribute("aria-label").endswith("filtered out")
        page.get_by_role("button", name="Remove the filter by gradient, other tokens").click()
        assert page.locator("#count").inner_text() == "6 of 12 heads pass the filters."


def test_an_opened_head_shows_its_numbers_costs_and_values(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        tile(page, "1-2").click()
        panel = page.get_by_role("article", name="Layer 1, head 2")
        assert panel.locator(".numbers tr").count() == 21
        costs = panel.locator(".costs tbody tr").all_inner_texts()
        assert [re.sub(r"\s+", " ", text) for text in costs] == ["one-head zero: this head 0.5 -1.0 to 2.0"]
        assert "1.0 %" in panel.get_by_role("row", name="keeps its type with half of the samples").inner_text()
        assert "11 of 12" in panel.get_by_role("row", name="gradient, other tokens").inner_text()
        tile(page, "1-1").click()
        costs = page.get_by_role("article", name="Layer 1, head 1").locator(".costs tbody").inner_text()
        assert "all 3 dense heads" in costs
        assert "7.3" in costs


def test_pointing_at_a_word_says_what_it_looks_at(chromium, page_file):
    attention = maps_of(3, 4, WORDS, 0).attention[1, 2]
    with opened(chromium, page_file, 1280) as page:
        tile(page, "2-3").click()
        page.get_by_role("group", name="Words that look").get_by_role("button", name="house").hover()
        most = int(attention[3].argmax())
        share = 100 * attention[3, most]
        said = page.locator(".said").inner_text()
        assert said.startswith(f"“house” looks at: {WORDS[most]} {share:.0f} %")
        page.get_by_role("group", name="Words looked at").get_by_role("button", name="##side").hover()
        most = int(attention[:, 5].argmax())
        assert page.locator(".said").inner_text().startswith(f"“##side” is looked at by: {WORDS[most]}")
        page.get_by_role("button", name="matrix").click()
        box = page.get_by_role("img", name="Attention matrix").bounding_box()
        cell = (box["width"] - 1) / len(WORDS)
        page.mouse.move(box["x"] + 2.5 * cell, box["y"] + 64 + 3.5 * cell)
        assert page.locator(".said").inner_text().startswith(f"“house” → “old”: {100 * attention[3, 2]:.0f}")


def test_maps_are_shown_by_norms_where_these_were_read(chromium, page_file, tmp_path):
    lengths = np.random.default_rng(1).exponential(size=(3, 4, len(WORDS))).astype(np.float32)
    # A token that hands over nothing, and a head whose tokens all do.
    lengths[1, 2, 3], lengths[0, 0] = 0, 0
    maps = replace(maps_of(3, 4, WORDS, 0), lengths=lengths)
    types = {"partitions": results(tmp_path, 3, 4)["partitions"]}
    data = gather(made_up(3, 4), [("qa", [maps])], types, distance_bins=16, conditions={})
    write_page(tmp_path / "norms.html", data)
    norms = (maps.attention * lengths[:, :, None])[1, 2]
    norms /= norms.sum(-1, keepdims=True)
    with opened(chromium, tmp_path / "norms.html", 1280) as page:
        tile(page, "2-3").click()
        page.get_by_role("button", name="norms", exact=True).click()
        assert "of=norms" in state(page)
        assert page.evaluate("document.activeElement.textContent") == "norms"
        look = page.get_by_role("group", name="Words that look")
        for query, word in enumerate(WORDS):
            look.get_by_role("button", name=word, exact=True).hover()
            most = int(norms[query].argmax())
            said = re.fullmatch(r"“(.*)” gets from: (\S+) ([0-9.]+) %, .*", page.locator(".said").inner_text())
            assert (said[1], said[2]) == (word, WORDS[most])
            # Weights are kept to a part in 510 of their row's largest.
            assert float(said[3]) == pytest.approx(100 * norms[query, most], abs=1.2)
        show(page, "head=1-1&of=norms&map=matrix&word=from-1-1")
        assert page.locator(".said").inner_text() == "“[CLS]” → “[CLS]”: 0.0 %"
    with opened(chromium, page_file, 1280) as page:
        tile(page, "2-3").click()
        assert page.get_by_role("button", name="norms", exact=True).count() == 0


def test_subwords_of_words_are_read_as_words(chromium, page_file):
    """by ##side: attention to it is that to both subwords, and attention from it the mean of theirs."""
    attention = maps_of(3, 4, WORDS, 0).attention[1, 2].astype(float)
    to_words = np.concatenate([attention[:, :4], attention[:, 4:6].sum(1, keepdims=True), attention[:, 6:]], axis=1)
    joined = np.concatenate([to_words[:4], to_words[4:6].mean(0, keepdims=True), to_words[6:]])
    with opened(chromium, page_file, 1280) as page:
        tile(page, "2-3").click()
        page.get_by_role("button", name="words", exact=True).click()
        assert "read=words" in state(page)
        look = page.get_by_role("group", name="Words that look")
        words = [*WORDS[:4], "byside", *WORDS[6:]]
        assert look.locator(".text").all_text_contents() == words
        for query, word in enumerate(words):
            look.get_by_role("button", name=word, exact=True).hover()
            most = int(joined[query].argmax())
            share = re.search(r": (.*?) ([0-9.]+) %", page.locator(".said").inner_text())
            assert share[1] == words[most]
            assert float(share[2]) == pytest.approx(100 * joined[query, most], abs=0.6)
        # A sample without subwords has nothing to join.
        show(page, "head=2-3&sample=2")
        assert page.get_by_role("button", name="words", exact=True).count() == 0


@pytest.mark.parametrize("sample", [1, 2])
def test_the_map_of_a_head_is_saved_as_svg(chromium, page_file, sample):
    words = [WORDS, MARKUP][sample - 1]
    attention = maps_of(3, 4, words, sample - 1).attention[1, 2]
    with opened(chromium, page_file, 1280) as page:
        saved = {}
        for shown in ("lines", "matrix"):
            show(page, f"head=2-3&map={shown}&sample={sample}")
            with page.expect_download() as download:
                page.get_by_role("button", name="Save as SVG").click()
            assert download.value.suggested_filename == "head_2-3.svg"
            saved[shown] = ElementTree.parse(download.value.path()).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    for root in saved.values():
        assert root.find(f"{svg}title").text == "Heads of made-up: Layer 2, head 3, weights"
        assert sorted(it.text for it in root.iter(f"{svg}text")) == sorted(2 * words)
        assert {it.tag.removeprefix(svg) for it in root} <= {"title", "text", "path", "rect"}
    assert len(list(saved["lines"].iter(f"{svg}path"))) == pytest.approx((attention >= 0.01).sum(), abs=1)
    shades = [float(it.get("fill-opacity")) for it in saved["matrix"].iter(f"{svg}rect")]
    np.testing.assert_allclose(shades, np.sqrt(attention.ravel()), atol=0.05)


def test_a_head_shows_its_type_in_the_parent(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        tile(page, "1-3").click()
        assert "in its parent: vertical (doubtful)" in page.locator(".title").inner_text()
        page.get_by_label("Colour by").select_option(label="type in its parent (qa-kmeans-k4 of base)")
        assert page.locator(".tile").all_inner_texts() == ["Di", "DV", "V", "De"] * 3


def test_by_keyboard(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        active = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
        tile(page, "1-1").focus()
        for key in ("ArrowRight", "ArrowDown", "End", "ArrowRight", "Home", "ArrowRight"):
            page.keyboard.press(key)
        assert page.evaluate(active).startswith("Layer 2, head 2")
        # One stop for Tab, however many heads.
        assert page.locator('.tile[tabindex="0"]').count() == 1
        page.keyboard.press("Enter")
        assert page.evaluate(active) == "Layer 2, head 2"
        page.get_by_role("group", name="Words that look").get_by_role("button", name="[CLS]").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert "word=from-2" in state(page)
        page.keyboard.press("Escape")
        assert page.locator("#opened").is_hidden()
        assert page.evaluate(active).startswith("Layer 2, head 2")
        # From an opened head to the next, without closing it.
        page.keyboard.press("Enter")
        for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"):
            page.keyboard.press(key)
        assert page.evaluate(active) == "Layer 2, head 2"
        page.keyboard.press("ArrowUp")
        assert page.evaluate(active) == page.locator(".panel h2").inner_text() == "Layer 1, head 2"
        page.go_back()
        assert page.locator("#opened").is_hidden()
        page.go_forward()
        assert page.locator(".panel h2").inner_text() == "Layer 1, head 2"


def test_the_address_holds_what_is_shown(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        page.get_by_label("Colour by").select_option(label="entropy")
        page.get_by_label("Sample").select_option("1")
        page.get_by_label("Filter", exact=True).select_option(label="type (qa-kmeans-k4)")
        page.get_by_label("vertical", exact=True).check()
        page.get_by_role("button", name="maps").click()
        tile(page, "1-3").click()
        tile(page, "2-1").click(modifiers=["Shift"])
        page.get_by_role("button", name="matrix").first.click()
        kept = page.evaluate("location.hash")[1:]
        expect(page.locator(".map:not([data-drawn])")).to_have_count(0)
        shown = page.locator("main").aria_snapshot()
    with opened(chromium, page_file, 1280) as page:
        show(page, kept)
        assert page.locator("main").aria_snapshot() == shown
        assert page.locator(".panel h2").all_inner_texts() == ["Layer 1, head 3", "Layer 2, head 1"]


@pytest.mark.parametrize(
    ("kept", "panels", "lacking"),
    [
        (
            "by=nothing&head=x&sample=77&only=a~b&word=from-99&from=4-1",
            0,
            "head x, column nothing, head 4-1, filter a~b, sample 77, word from-99.",
        ),
        ("head=1-1&word=from-1-9", 1, "word from-1-9."),
        ("%%%", 0, ""),
    ],
)
def test_what_an_address_names_and_is_not_there_is_said(chromium, page_file, kept, panels, lacking):
    with opened(chromium, page_file, 1280) as page:
        show(page, kept)
        assert page.locator(".tile").count() == 12
        assert page.locator(".panel").count() == panels
        said = page.get_by_role("alert").inner_text()
        assert lacking in said
        assert bool(said) == bool(lacking)
        page.get_by_label("Sample", exact=True).select_option("1")
        assert page.get_by_role("alert").inner_text() == ""


def test_by_touch_on_a_phone(chromium, page_file):
    with opened(chromium, page_file, 390) as page:
        tile(page, "2-3").tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        box = page.locator("#opened").bounding_box()
        assert (box["x"], box["width"]) == (0, 390)
        # What is covered cannot be reached.
        assert page.locator("#all").evaluate("it => it.inert")
        expect(page.locator(".said")).to_have_text("Tap a word to see what it looks at.")
        page.get_by_role("group", name="Words that look").get_by_role("button", name="house").tap()
        assert page.locator(".said").inner_text().startswith("“house” looks at")
        sizes = page.locator(".tile, .word, .panel button").evaluate_all(
            "all => all.map((it) => Math.min(it.getBoundingClientRect().width, it.getBoundingClientRect().height))"
        )
        assert min(sizes) >= 24
        page.locator("#close").tap()
        assert page.locator("#opened").is_hidden()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "kept",
    ["", "head=2-2&word=from-2", "by=surface.text.entropy&head=1-1 3-4&map=matrix&only=gradient.text.other~0.2~0.9"],
)
def test_text_has_contrast_and_controls_have_names(chromium, page_file, width, dark, kept):
    with opened(chromium, page_file, width, dark=dark) as page:
        show(page, kept)
        assert page.evaluate(LOW_CONTRAST, 4.5) == []
        tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
        controls = [node for node in tree if not node["ignored"] and node["role"]["value"] in CONTROLS]
        assert len(controls) > 10
        assert [node for node in controls if not node.get("name", {}).get("value", "").strip()] == []


def test_markup_in_a_sample_is_text(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        show(page, "sample=2&head=1-1")
        words = page.get_by_role("group", name="Words that look").locator(".text").all_text_contents()
        assert words == MARKUP
        assert page.title() == "Heads of made-up"
        assert page.locator("main b, main img").count() == 0


def test_the_policy_lets_nothing_else_run_or_be_fetched(chromium, page_file):
    page, refused = chromium.new_page(), []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(page_file.as_uri())
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = true'}))")
    page.evaluate(
        "new Promise((done) => { const it = new Image(); it.onerror = done; it.src = 'http://127.0.0.1:9/' })"
    )
    assert page.evaluate("window.ran") is None
    assert ["Content Security Policy" in text for text in refused] == [True, True]
    page.close()


def test_the_page_of_a_large_model_is_small(tmp_path):
    """24 layers of 16 heads, 8 samples of 48 tokens."""
    tokens = [f"token{place}" for place in range(48)]
    write_page(tmp_path / "atlas.html", atlas(tmp_path, 24, 16, [tokens] * 8))
    assert (tmp_path / "atlas.html").stat().st_size < 12e6


@pytest.mark.parametrize(("layers", "heads"), [(30, 9), (24, 16)])
@pytest.mark.parametrize("width", [1400, 390])
def test_hundreds_of_heads_are_read_within_the_window(chromium, tmp_path, layers, heads, width):
    write_page(tmp_path / "atlas.html", atlas(tmp_path, layers, heads, [WORDS]))
    with opened(chromium, tmp_path / "atlas.html", width) as page:
        assert page.locator("#count").inner_text() == f"{layers * heads} heads"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = page.locator(".tile").evaluate_all(
            "all => all.map((it) => [it.offsetWidth, it.offsetHeight, it.scrollWidth - it.clientWidth])"
        )
        assert len(boxes) == layers * heads
        assert min(min(box[:2]) for box in boxes) >= 24
        assert max(box[2] for box in boxes) <= 0
        # All layers stand below one another in two screens at most, and each beside its number.
        tiles = page.locator("#tiles").bounding_box()
        assert tiles["height"] < (900 if width == 1400 else 2 * 844)
        last = tile(page, f"{layers}-{heads}")
        last.scroll_into_view_if_needed()
        number = page.get_by_role("rowheader", name=f"layer {layers}", exact=True).bounding_box()
        assert 0 <= number["x"] < last.bounding_box()["x"] < width
        last.click()
        assert page.get_by_role("article", name=f"Layer {layers}, head {heads}").is_visible()


def test_an_atlas_of_syntax_alone_shows_what_was_measured(chromium, tmp_path):
    """Neither maps nor types: heads are coloured by the relation that each is best at."""
    rows = [("nsubj", 0, head, "dependent_to_head", value) for head, value in enumerate((80.0, 30.0))]
    write_relations(tmp_path, rows, [("nsubj", "file", "file", 0, 0, "dependent_to_head", 80, 38, 42)])
    found = {"relations": [("trees", tmp_path / "relations.csv")], "relations_best": [("trees", tmp_path / "best.csv")]}
    write_page(tmp_path / "atlas.html", gather(made_up(1, 2), [], found, distance_bins=16, conditions={}))
    with opened(chromium, tmp_path / "atlas.html", 1400) as page:
        assert page.get_by_label("Colour by").locator("option").first.inner_text().startswith("best relation")
        assert "nsubj" in page.locator("#legend").inner_text()
        tile(page, "1-1").click()
        panel = page.get_by_role("article", name="Layer 1, head 1")
        assert "best head of trees for nsubj" in panel.inner_text()


def test_words_of_any_script_are_shown_whole_and_in_their_order(chromium, tmp_path):
    """From right to left, of all planes of Unicode, and with marks that turn the direction of what follows."""
    words = [
        "\u202eabc",
        "def",
        "\u05e2\u05d1\u05e8\u05d9\u05ea",
        "\u0627\u0644\u0639",
        "12",
        "\U0001f600",
        "\U0002070e",
    ]
    words += ["e\u0301\u0301\u0301", "\u200b", "\ufeff", "\u2067x", "y", "\U000e0041", "\x07", "\ud7ff"]
    write_page(tmp_path / "page.html", atlas(tmp_path, 2, 2, [words]))
    with opened(chromium, tmp_path / "page.html", 1280) as page:
        show(page, "sample=1&head=1-1")
        shown = page.get_by_role("group", name="Words that look").locator(".text")
        assert shown.all_text_contents() == words
        tops = shown.evaluate_all("all => all.map((each) => each.getBoundingClientRect().y)")
        assert tops == sorted(set(tops)), "one below the other"
        assert shown.nth(1).evaluate("each => getComputedStyle(each).direction") == "ltr"
