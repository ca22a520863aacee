import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import check_readable, opened
from tests.support.summaries import MODEL, PARTITION, made_page, made_results, made_summary


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return made_page(folder, made_summary(folder, made_results(folder)))


CHAPTERS = "document.querySelectorAll('.chapter').forEach((it) => { it.open = true })"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1400, 768, 390])
def test_it_fits_has_contrast_and_names_its_controls(chromium, page_file, width, dark):
    with opened(chromium, page_file, width, dark=dark) as page:
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true })")
        page.evaluate("document.querySelectorAll('.more').forEach((it) => it.click())")
        assert page.locator("table").count() > 5
        check_readable(page)


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 2 * 844)])
def test_the_first_screen_has_the_pictures_the_three_answers_and_what_they_leave_open(
    chromium, page_file, width, height
):
    with opened(chromium, page_file, width) as page:
        about = page.locator(".about:visible")
        assert about.locator(".unknown").bounding_box()["y"] < 400
        pictures = about.locator(".overview figure")
        assert [title.split("\n")[0] for title in pictures.all_inner_texts()] == [
            "Where each type lies",
            "What each type looks at",
            "What leaving a type out costs",
        ]
        for box in (picture.bounding_box() for picture in pictures.all()):
            assert box["y"] + box["height"] < height
        for question in ("Are there types?", "How many", "Do single heads matter"):
            card = page.locator("summary", has_text=question).first
            box = card.bounding_box()
            assert box["y"] + box["height"] < height, question
            assert "✓ yes" in card.inner_text()
            assert card.locator(".says").is_visible()
        why = page.get_by_text("less those of numbers with one peak").first
        assert not why.is_visible()
        page.locator("summary", has_text="Are there types?").first.click()
        assert why.is_visible()


def test_closed_it_is_short_and_opened_it_is_read_in_a_sitting(page):
    assert page.evaluate("document.documentElement.scrollHeight") <= 3000
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true })")
    assert page.locator(".picture figcaption p").count() > 10
    assert len(page.locator("body").inner_text().split()) < 6000


def test_beside_what_a_type_looks_at_stand_two_typical_heads_that_lead_to_the_atlas(page):
    profiles = page.locator(".about:visible .profile")
    assert profiles.count() == 4
    for profile in profiles.all():
        assert profile.locator("img").count() == 2
        boxes = [image.bounding_box() for image in profile.locator("img").all()]
        assert all(box["width"] == pytest.approx(box["height"]) and box["width"] > 48 for box in boxes)
    assert profiles.first.locator("a").first.get_attribute("href") == f"atlas/{MODEL}.html#head=1-1"


def test_the_map_has_every_head_in_the_colour_of_its_type_and_leads_to_it(chromium, tmp_path):
    summary = made_summary(tmp_path, made_results(tmp_path))
    with opened(chromium, made_page(tmp_path, summary), 1280) as page:
        types = summary["answers"][0]["overview"]["types"]
        cells = page.locator(".about:visible .map a")
        assert cells.count() == 72
        assert cells.nth(40).get_attribute("href") == f"atlas/{MODEL}.html#head=4-5"
        for number, type_ in ((0, types[0]), (40, types[2]), (71, types[3])):
            assert cells.nth(number).locator("rect").get_attribute("fill") == type_["colour"]
        assert cells.nth(40).locator("title").text_content() == "head 4-5: dense_vertical?"
        framed = page.locator(".about:visible .map a:has(.costly)")
        assert [cell.get_attribute("href").partition("=")[2] for cell in framed.all()] == ["2-2", "3-10"]


def test_another_partition_is_chosen_by_the_list_or_by_a_link(page):
    shown = "[...document.querySelectorAll('.about')].filter((it) => it.checkVisibility()).map((it) => it.id)"
    assert page.evaluate(shown) == [f"{MODEL}/{PARTITION}"]
    page.get_by_label("about").select_option(f"minilm, {PARTITION}")
    assert page.evaluate(shown) == [f"minilm/{PARTITION}"]
    assert page.locator(".about:visible .verdict").first.inner_text().endswith(" not measured")
    page.evaluate(f"location.hash = '#{MODEL}/{PARTITION}'")
    expect(page.get_by_label("about")).to_have_value(f"{MODEL}/{PARTITION}")
    assert page.evaluate(shown) == [f"{MODEL}/{PARTITION}"]


def test_on_paper_answers_are_unfolded_and_dark_on_white(chromium, page_file):
    with opened(chromium, page_file, 390, dark=True) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.get_by_text("less those of numbers with one peak").first.is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        # The width of A4 without its margins: tables are tables, and beside each other stand two answers.
        page.set_viewport_size({"width": 718, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth") <= 718
        assert page.locator("td").first.evaluate("(it) => getComputedStyle(it).display") == "table-cell"
        tops = [card.bounding_box()["y"] for card in page.locator(".answers details").all()[:2]]
        assert tops[0] == tops[1]


def test_chapters_are_closed_until_a_link_to_them_is_pressed(phone):
    closed = "[...document.querySelectorAll('.chapter')].filter((it) => !it.open).map((it) => it.parentElement.id)"
    chapters = phone.evaluate(closed)
    assert {"words", "guan2020", "clark2019", "files", "made"} <= set(chapters)
    assert phone.evaluate("document.documentElement.scrollHeight") < 6000
    for _ in range(2):
        phone.locator("nav a[href='#guan2020']").click()
        phone.locator("#guan2020 > .chapter[open]").wait_for()
        phone.locator("#guan2020 > .chapter > summary").click()
    assert phone.evaluate(closed) == chapters


def column(page, table, place: int) -> list[str]:
    return table.locator(f"tbody tr td:nth-child({place}) > span").all_inner_texts()


def test_a_table_is_sorted_by_mouse_and_by_keyboard(page):
    page.evaluate(CHAPTERS)
    table = page.locator("figure.table", has=page.get_by_role("heading", name="Table 2. Types")).locator("table")
    heads = table.get_by_role("button", name="heads", exact=True)
    heads.click()
    numbers = [int(text) for text in column(page, table, 3)]
    assert numbers == sorted(numbers)
    assert numbers[0] == 0
    assert table.locator("th[aria-sort=ascending]").inner_text().startswith("heads")
    heads.focus()
    page.keyboard.press("Enter")
    assert [int(text) for text in column(page, table, 3)] == sorted(numbers, reverse=True)


def test_every_control_is_reached_by_keyboard_and_shows_where_it_is(page):
    page.evaluate(CHAPTERS)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the results"
    controls, seen = "[...document.querySelectorAll('nav a, nav button, th button')]", set()
    wanted = page.evaluate(f"{controls}.filter((it) => it.checkVisibility()).length")
    for _ in range(wanted + 90):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(f"{controls}.indexOf(document.activeElement)"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or page.evaluate("document.activeElement === document.body")
    assert len(seen - {-1}) >= wanted


def test_a_long_table_shows_its_first_rows_on_a_phone_until_all_are_asked_for(phone, page):
    first = "document.querySelector('.more').closest('figure')"
    shown = f"[...{first}.querySelectorAll('tbody tr')].filter((it) => it.checkVisibility()).length"
    for window in (phone, page):
        window.evaluate(CHAPTERS)
    button, rows = phone.locator(".more").first, phone.evaluate(f"{first}.querySelectorAll('tbody tr').length")
    assert button.inner_text() == f"All {rows} rows"
    assert phone.evaluate(shown) == 3 < rows
    button.focus()
    phone.keyboard.press("Enter")
    assert phone.evaluate(shown) == rows
    assert button.get_attribute("aria-expanded") == "true"
    button.tap()
    assert phone.evaluate(shown) == 3
    assert page.evaluate(shown) == rows
    assert not page.locator(".more").first.is_visible()


def test_the_name_of_a_head_opens_its_head_in_the_atlas(chromium, tmp_path):
    """Of the model of the documented tables, where that has an atlas."""
    links = "[...document.querySelectorAll('#clark2019 td a')].map((it) => [it.textContent, it.getAttribute('href')])"
    summary = made_summary(tmp_path, made_results(tmp_path))
    with opened(chromium, made_page(tmp_path, summary), 1280) as page:
        assert page.evaluate(links) == []
    summary["atlases"] = [("local", "atlas/local.html")]
    with opened(chromium, made_page(tmp_path, summary), 1280) as page:
        named = page.evaluate(links)
        assert len(named) > 10
        assert all(re.fullmatch(r"[1-9]\d*-[1-9]\d*", name) for name, _ in named)
        assert [target for _, target in named] == [f"atlas/local.html#head={name}" for name, _ in named]


def test_a_figure_is_enlarged_by_a_tap(phone):
    widths = []
    phone.evaluate(CHAPTERS)
    image = phone.locator(".picture img").first
    for _ in range(3):
        widths.append(image.bounding_box()["width"])
        image.tap()
    assert widths[0] == widths[2] < 390 < widths[1]
    assert phone.locator(".picture a:has(img)").first.get_attribute("href").endswith(".pdf")
