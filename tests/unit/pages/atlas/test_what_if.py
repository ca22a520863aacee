"""What leaving out any heads costs, by clicks: measured where it was, predicted with its error where it was not."""

import pytest

from headtypes.pages.atlas.page import write_page
from tests.support.atlases import WORDS, atlas, show, state, tile
from tests.support.browser import opened


def row(page, kind: str) -> list[str]:
    """What is said of a kind of answer, line by line."""
    said = page.locator(f'#answers [data-kind="{kind}"]').inner_text()
    return [line for line in said.replace("\t", "\n").split("\n") if line]


def test_a_set_that_was_not_measured_is_predicted_with_its_error(chromium, page_file):
    """Planted: a head costs a tenth of its index, none costs 1 point, and 95 % of sets are predicted within 2."""
    with opened(chromium, page_file, 1280) as page:
        page.get_by_role("button", name="What if").click()
        assert page.locator("#without").inner_text() == "Click the heads to leave out, or a type."
        for name in ("2-3", "1-1"):
            tile(page, name).click()
        assert page.locator("#opened").is_hidden()
        assert page.locator("#without").inner_text() == "Without 2 of 12 heads: 1-1, 2-3"
        assert tile(page, "2-3").get_attribute("aria-label").endswith(", left out")
        predicted = row(page, "predicted")
        assert (predicted[0], predicted[2], predicted[3]) == ("predicted", "1.6", "-0.4 to 3.6")
        assert predicted[1] == "95 % of 20 random sets are predicted so closely by the others"
        # One head of four in each of two layers: each pair in a sixteenth of the sets.
        assert row(page, "random")[2] == "1.4 to 2.0"
        assert page.locator('#answers [data-kind="measured"]').count() == 0
        note = page.locator(".answer").inner_text()
        assert "drop of F1, points" in note
        assert "R² of sets held out: 0.8 (0.7 to 0.9); each costs what 9 questions or documents of qa lose." in note
        assert "says little" not in note
        # The address holds the set, and a second click puts a head back.
        assert "off=1-1 2-3" in state(page)
        page.reload()
        assert row(page, "predicted")[2] == "1.6"
        tile(page, "2-3").click()
        assert page.locator("#without").inner_text() == "Without 1 of 12 heads: 1-1"
        page.get_by_role("button", name="What if").click()
        assert page.locator("#what").is_hidden()
        tile(page, "2-3").click()
        assert page.locator(".panel h2").inner_text() == "Layer 2, head 3"


def test_what_a_condition_measured_is_shown_as_measured(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        page.get_by_role("button", name="What if").click()
        page.get_by_role("button", name="all dense", exact=True).click()
        assert page.locator("#without").inner_text() == "Without 3 of 12 heads: 1-1, 2-1, 3-1"
        assert row(page, "measured") == ["measured", "condition zero-dense", "7.3", "5.0 to 9.5"]
        # Planted: two draws of random heads, and what the condition costs on their questions.
        assert row(page, "drawn") == [
            "random heads of the same layers, measured",
            "lowest and highest of 2 draws; on their questions the condition costs 10.0",
            "4.0",
            "2.0 to 6.0",
        ]
        assert page.locator('#answers [data-kind="random"]').count() == 0
        # The prediction stands beside it, without its error.
        assert row(page, "predicted") == ["predicted", "2.2"]
        assert "so closely" not in page.locator(".answer").inner_text()
        page.get_by_role("button", name="Put all back").click()
        tile(page, "1-2").click()
        assert row(page, "measured")[1:4] == ["condition one-head", "0.5", "-1.0 to 2.0"]
        # It has no draws of random heads: theirs is predicted.
        assert row(page, "random")[0] == "random heads of the same layers, predicted"
        tile(page, "3-4").click()
        assert page.locator('#answers [data-kind="measured"]').count() == 0


def test_sets_unlike_those_that_were_tried_have_no_error(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        show(page, "off=1-1 1-2 1-3 1-4 2-1 2-2 2-3 9-9")
        assert "head 9-9" in page.get_by_role("alert").inner_text()
        predicted = row(page, "predicted")
        assert predicted[1] == "error unknown: the random sets leave out 2 to 6 heads"
        assert predicted[2:] == ["3.1"]


@pytest.mark.parametrize("low", [None, -0.2])
def test_a_regression_that_predicts_nothing_says_so(chromium, tmp_path, low):
    data = atlas(tmp_path, 1, 4, [WORDS])
    data["sets"][0]["r2"] = [0.1, low, 0.3]
    write_page(tmp_path / "page.html", data, {"rule": "write_atlas"})
    with opened(chromium, tmp_path / "page.html", 1280) as page:
        show(page, "off=1-1")
        assert "This cannot be told from 0" in page.locator(".answer").inner_text()


def test_without_effects_there_is_no_what_if(chromium, tmp_path):
    write_page(tmp_path / "page.html", {**atlas(tmp_path, 1, 4, [WORDS]), "sets": []}, {"rule": "write_atlas"})
    with opened(chromium, tmp_path / "page.html", 1280) as page:
        show(page, "off=1-1")
        assert page.locator("#what-if").is_hidden()
        assert page.locator("#what").is_hidden()


def test_on_a_phone_heads_are_chosen_by_taps(chromium, page_file):
    with opened(chromium, page_file, 390) as page:
        page.get_by_role("button", name="What if").tap()
        tile(page, "1-2").tap()
        tile(page, "3-4").tap()
        assert row(page, "predicted")[2] == "2.2"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("#opened").is_hidden()
