import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import expect

from headtypes.analyses.distances.features import read_head_features
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

CONTROLS = {"button", "combobox", "spinbutton", "checkbox", "gridcell", "link", "listbox", "textbox", "option"}
SIGNS = ["De", "Di", "DV", "V"] * 3
# Points of the smallest lettering on paper, in pixels of 96 to the inch.
SMALLEST = 6 * 96 / 72
SIZES = """() => [...document.querySelectorAll("body *")]
  .filter((it) => it.checkVisibility() && [...it.childNodes].some((text) => text.nodeType === 3 && text.data.trim()))
  .map((it) => [it.textContent.trim(), parseFloat(getComputedStyle(it).fontSize)])"""
# The colour of a scale at a share of it: its stops, between which it is mixed.
COLOUR = """(share) => {
  const stops = [[68, 1, 84], [72, 40, 120], [62, 73, 137]], at = share * 9, stop = Math.floor(at);
  const mixed = stops[stop].map((part, i) => Math.round(part + (stops[stop + 1][i] - part) * (at - stop)));
  return `rgb(${mixed.join(", ")})`;
}"""
# Pixels beside and above a matrix.
WORD_ROOM = 64
LONG = ["[CLS]", *(f"word{place}" for place in range(46)), "[SEP]"]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """3 layers of 4 heads, two samples, the second of tokens that look like markup."""
    folder = tmp_path_factory.mktemp("atlas")
    write_page(folder / "made-up.html", atlas(folder, 3, 4, [WORDS, MARKUP]))
    return folder / "made-up.html"


def test_tiles_are_coloured_by_any_column(page):
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


def test_heads_are_filtered_by_types_and_by_numbers(page):
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


def test_an_opened_head_shows_its_numbers_costs_and_values(page):
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


def test_pointing_at_a_word_says_what_it_looks_at(page):
    attention = maps_of(3, 4, WORDS, 0).attention[1, 2]
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


def test_maps_are_shown_by_norms_where_these_were_read(chromium, page, tmp_path):
    tile(page, "2-3").click()
    assert page.get_by_role("button", name="norms", exact=True).count() == 0
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


def test_subwords_of_words_are_read_as_words(page):
    """by ##side: attention to it is that to both subwords, and attention from it the mean of theirs."""
    attention = maps_of(3, 4, WORDS, 0).attention[1, 2].astype(float)
    to_words = np.concatenate([attention[:, :4], attention[:, 4:6].sum(1, keepdims=True), attention[:, 6:]], axis=1)
    joined = np.concatenate([to_words[:4], to_words[4:6].mean(0, keepdims=True), to_words[6:]])
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
    show(page, "head=2-3&sample=2")
    assert page.get_by_role("button", name="words", exact=True).count() == 0


@pytest.mark.parametrize("sample", [1, 2])
def test_the_map_of_a_head_is_saved_as_svg(page, sample):
    words = [WORDS, MARKUP][sample - 1]
    attention = maps_of(3, 4, words, sample - 1).attention[1, 2]
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


def test_a_head_shows_its_type_in_the_parent(page):
    tile(page, "1-3").click()
    assert "in its parent: vertical (doubtful)" in page.locator(".title").inner_text()
    page.get_by_label("Colour by").select_option(label="type in its parent (qa-kmeans-k4 of base)")
    assert page.locator(".tile").all_inner_texts() == ["Di", "DV", "V", "De"] * 3


def test_by_keyboard(page):
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


def test_the_address_holds_what_is_shown(page):
    page.get_by_label("Colour by").select_option(label="entropy")
    page.get_by_label("Sample").select_option("1")
    page.get_by_label("Filter", exact=True).select_option(label="type (qa-kmeans-k4)")
    page.get_by_label("vertical", exact=True).check()
    page.get_by_role("button", name="maps").click()
    tile(page, "1-3").click()
    tile(page, "2-1").click(modifiers=["Shift"])
    page.get_by_role("button", name="matrix").first.click()
    expect(page.locator(".map:not([data-drawn])")).to_have_count(0)
    shown = page.locator("main").aria_snapshot()
    show(page, page.evaluate("location.hash")[1:])
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
def test_what_an_address_names_and_is_not_there_is_said(page, kept, panels, lacking):
    show(page, kept)
    assert page.locator(".tile").count() == 12
    assert page.locator(".panel").count() == panels
    said = page.get_by_role("alert").inner_text()
    assert lacking in said
    assert bool(said) == bool(lacking)
    page.get_by_label("Sample", exact=True).select_option("1")
    assert page.get_by_role("alert").inner_text() == ""


def test_by_touch_on_a_phone(phone):
    tile(phone, "2-3").tap()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    box = phone.locator("#opened").bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    # What is covered cannot be reached.
    assert phone.locator("#all").evaluate("it => it.inert")
    expect(phone.locator(".said")).to_have_text("Tap a word to see what it looks at.")
    phone.get_by_role("group", name="Words that look").get_by_role("button", name="house").tap()
    assert phone.locator(".said").inner_text().startswith("“house” looks at")
    sizes = phone.locator(".tile, .word, .panel button").evaluate_all(
        "all => all.map((it) => Math.min(it.getBoundingClientRect().width, it.getBoundingClientRect().height))"
    )
    assert min(sizes) >= 24
    phone.locator("#close").tap()
    assert phone.locator("#opened").is_hidden()


@pytest.mark.parametrize(
    "kept",
    ["", "head=2-2&word=from-2", "by=surface.text.entropy&head=1-1 3-4&map=matrix&only=gradient.text.other~0.2~0.9"],
)
def test_text_has_contrast_and_controls_have_names(window, kept):
    show(window, kept)
    assert window.evaluate(LOW_CONTRAST, 4.5) == []
    tree = window.context.new_cdp_session(window).send("Accessibility.getFullAXTree")["nodes"]
    controls = [node for node in tree if not node["ignored"] and node["role"]["value"] in CONTROLS]
    assert len(controls) > 10
    assert [node for node in controls if not node.get("name", {}).get("value", "").strip()] == []


def test_markup_in_a_sample_is_text(page):
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
    found = write_relations(tmp_path, rows, [("nsubj", "file", "file", 0, 0, "dependent_to_head", 80, 38, 42)])
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


def legend(page) -> str:
    return " ".join(page.locator("#legend").inner_text().split())


def test_small_scores_of_a_detector_do_not_fill_the_scale(page):
    """Planted: 0 to 11 %, of which a quarter is detected."""
    show(page, "by=detector.induction")
    assert legend(page).startswith("0 % 100 % heads: 0 % to 11.0 % On random tokens")
    assert legend(page).endswith("Detected: 3 of 12 heads.")
    colour = tile(page, "3-4").evaluate("it => getComputedStyle(it).backgroundColor")
    assert colour == page.evaluate(COLOUR, 0.11)


def test_other_scales_say_whose_values_their_ends_are(page):
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


def test_types_have_letters_that_can_be_read_wherever_they_have_colours(window):
    for view in ("", "show=maps", "only=type.qa-kmeans-k4~dense|vertical"):
        show(window, view)
        window.locator(".tile canvas").first.wait_for() if view == "show=maps" else None
        assert window.locator(".tile").all_inner_texts() == SIGNS
        assert window.locator("#legend .swatch").all_inner_texts() == SIGNS[:4]
        assert [text for text, size in window.evaluate(SIZES) if size < SMALLEST] == []


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


def test_chips_of_the_legend_filter(page):
    chip = page.locator("#legend").get_by_role("button", name="diagonal 3")
    chip.click()
    assert page.locator("#count").inner_text() == "3 of 12 heads pass the filters."
    assert chip.get_attribute("aria-pressed") == "true"
    # It is the filter of the same name; without any, there is no filter.
    assert page.get_by_role("checkbox", name="diagonal").is_checked()
    chip.click()
    assert page.locator("#count").inner_text() == "12 heads"
    assert page.locator(".filter").count() == 0


def tap(page, query: int, key: int) -> None:
    canvas = page.locator("div.matrix canvas:not(.rows):visible")
    side = canvas.evaluate("it => it.cell")
    canvas.tap(position={"x": (key + 0.5) * side, "y": WORD_ROOM + (query + 0.5) * side})


def said_of(attention: np.ndarray, words: list[str], query: int, key: int) -> str:
    value = 100 * attention[query, key]
    return f"“{words[query]}” → “{words[key]}”: {value:.{1 if value < 9.95 else 0}f} %"


def test_a_tap_reads_a_cell(phone):
    attention = maps_of(3, 4, WORDS, 0).attention[1, 2]
    show(phone, "head=2-3&map=matrix")
    for query, key in ((3, 2), (0, 7)):
        tap(phone, query, key)
        assert phone.locator(".said").inner_text() == said_of(attention, WORDS, query, key)
    # It is kept, in the address too, until it is tapped again.
    assert "word=from-1-8" in state(phone)
    kept = phone.evaluate("location.hash")[1:]
    show(phone, kept)
    assert phone.locator(".said").inner_text() == said_of(attention, WORDS, 0, 7)
    tap(phone, 0, 7)
    assert "word=" not in state(phone)
    assert phone.locator(".said").inner_text().startswith("Tap a cell")


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


def test_two_heads_share_one_table_with_their_differences(page, page_file):
    features, _ = read_head_features(page_file.with_name("features.h5"), 16)
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
    page.get_by_role("button", name="Close head 3-1").click()
    assert page.get_by_role("article", name="Both heads").count() == 0
    assert "difference" not in page.locator(".panel").inner_text()


def test_on_a_phone_two_heads_are_in_tabs(phone):
    tile(phone, "2-3").tap()
    phone.get_by_role("button", name="Compare with another head").tap()
    tile(phone, "1-1").tap()
    shown = phone.locator(".panel:visible h2")
    assert shown.all_inner_texts() == ["Layer 1, head 1"]
    phone.get_by_role("button", name="Show the map of head 2-3").tap()
    assert shown.all_inner_texts() == ["Layer 2, head 3"]
    assert phone.locator(".panel:visible .lines canvas").bounding_box()["width"] > 60
    assert phone.locator(".both .numbers thead").is_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
