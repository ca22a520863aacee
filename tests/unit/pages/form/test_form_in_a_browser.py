"""The form of a config as a reader uses it: its YAML is what was given, and what the schema forbids is marked."""

import json

import pytest
import yaml

from commands.form import main
from headtypes.core.errors import InputError
from headtypes.pages.form.page import page_of
from tests.support.browser import BEYOND_THE_EDGE, LOW_CONTRAST, NAMELESS, browser, opened
from tests.support.places import ROOT

SCHEMA = json.loads((ROOT / "schemas" / "config.schema.json").read_text())
CONFIGS = [ROOT / "config.yaml", *sorted((ROOT / "experiments").glob("*.yaml"))]
# Text that YAML takes for something else where it is not in quotes.
STRANGE = ["true", "No", "null", "~", "7", "1e5", "1_000", "0x1f", "12:30", "2020-01-01", ".inf", "", " a ", "a: b"]
STRANGE += ["# c", "$HOME/x", "{step}", "- d", "*e", "&f", "!g", "%h", "@i", "`j`", "'k'", '"l"', "m\nn", "<b>", "ü😀"]
STRANGE += ["\x7f\x85\u2028"]
# Also keys that a script would put into another order, and a number that PyYAML reads as text as a script writes it.
ODD = {
    "tasks": {"a": {"labels": {"2": 1, "1": "1", "b": 0} | {text: text for text in STRANGE if text}}},
    "conditions": {text: {} for text in STRANGE},
    "models": {"m": {"over": {"x": STRANGE, "y": [1, 2.5], "z": "0-4"}}, "gone": None},
    "divergence": {"smoothing": 1e-7},
    "select": {"conditions": [], "models": None},
    "no_key": {"a": [1, {"b": "c"}]},
}


@pytest.fixture(scope="module")
def chromium():
    with browser() as it:
        yield it


@pytest.fixture
def form(chromium, tmp_path):
    """Opens the form of a config."""

    def of(config, width=1400, **how):
        path = tmp_path / "form.html"
        path.write_text(page_of(SCHEMA, config, "mine.yaml"))
        return opened(chromium, path, width, **how)

    return of


def given(page):
    return yaml.safe_load(page.locator("#yaml").text_content()) or {}


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.stem)
def test_what_is_filled_in_comes_out_again_and_is_allowed(chromium, tmp_path, capsys, file):
    main([str(file), "--output", str(tmp_path / "form.html")])
    assert capsys.readouterr().out == f"{tmp_path / 'form.html'}\n"
    with opened(chromium, tmp_path / "form.html", 1400) as page:
        text, expected = page.locator("#yaml").text_content(), file.read_text()
        assert text.partition("\n")[0] == expected.partition("\n")[0]
        assert yaml.safe_load(text) == yaml.safe_load(expected)
        assert page.locator("#count").text_content() == ""


def test_yaml_reads_strange_values_as_they_were_in_their_order(form):
    with form(ODD) as page:
        assert given(page) == ODD
        assert list(given(page)["tasks"]["a"]["labels"]) == list(ODD["tasks"]["a"]["labels"])
        assert page.locator("[data-path=no_key] .wrong").text_content() == "There is no such key."


def test_strange_text_that_is_typed_is_read_as_it_was_typed(form):
    with form({"models": {"m": {}}}) as page:
        unfold(page)
        field = page.get_by_label("models.m.repeat_of", exact=True)
        for text in STRANGE:
            if text.strip() == text and text not in ("", "null", '"l"') and "\n" not in text and text.isprintable():
                field.fill(text)
                assert given(page) == {"models": {"m": {"repeat_of": text}}}


def test_only_what_is_given_is_written_in_the_order_of_the_schema(form):
    with form({}) as page:
        assert page.locator("#yaml").text_content() == ""
        unfold(page)
        seed = page.get_by_label("seed", exact=True)
        assert seed.get_attribute("placeholder") == "default: 2020"
        page.get_by_label("clustering.scale", exact=True).select_option("true")
        page.get_by_label("clustering.k", exact=True).fill("4\n6")
        page.get_by_label("gmm", exact=True).check()
        page.get_by_label("controls.questions", exact=True).fill("all")
        seed.fill("7")
        expected = "seed: 7\nclustering:\n  methods: [gmm]\n  k: [4, 6]\n  scale: true\ncontrols:\n  questions: all\n"
        assert page.locator("#yaml").text_content() == expected
        page.get_by_label("Clear clustering.methods").click()
        page.get_by_label("clustering.k", exact=True).fill("")
        page.get_by_label("clustering.scale", exact=True).select_option("")
        assert given(page) == {"seed": 7, "controls": {"questions": "all"}}


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        ("seed", "-1", "Must be a whole number, at least 0."),
        ("seed", "many", "Must be a whole number, at least 0."),
        ("seed", "9007199254740993", "Must be a whole number, at least 0."),
        ("controls.questions", "some", "Must be a whole number, at least 1, or all."),
        ("clustering.k", "4\n65", "65 must be a whole number, at least 2 and at most 64."),
        ("clustering.k", "[]", "Must have at least one item."),
    ],
)
def test_what_the_schema_forbids_is_said_at_the_field(form, key, text, sentence):
    with form({"models": {"m": {}}}) as page:
        unfold(page)
        field = page.get_by_label(key, exact=True)
        field.fill(text)
        assert page.locator(f"[id='{key}-wrong']").text_content() == sentence
        assert field.get_attribute("aria-invalid") == "true"
        assert page.locator("#count").text_content() == f"Not allowed: {key}"
        field.fill("")
        assert page.locator("#count").text_content() == ""


def test_entries_are_added_renamed_taken_away_and_removed_by_the_keyboard(form):
    with form({"models": {"one": {}, "two": {"units": "heads"}}}) as page:
        page.locator("[data-path=models] > summary").press("Enter")
        new = page.get_by_label("Name of a new entry of models", exact=True)
        for wrong in ("two", "a b", ""):
            new.fill(wrong)
            new.press("Enter")
            assert page.locator("[data-path=models] [role=alert]").last.text_content()
        new.fill("seed-{seed}")
        new.press("Enter")
        assert page.evaluate("document.activeElement.textContent").startswith("seed-{seed}")
        name = page.get_by_label("Name of models.seed-{seed}")
        name.fill("three")
        name.press("Enter")
        assert list(given(page)["models"]) == ["one", "two", "three"]
        page.locator("[data-path='models.two'] > summary").press("Enter")
        name = page.get_by_label("Name of models.two")
        name.fill("three")
        name.press("Enter")
        assert "already" in page.locator("[id='models.two-wrong']").text_content()
        name.fill("2")
        name.press("Enter")
        assert list(given(page)["models"].items()) == [("one", {}), ("2", {"units": "heads"}), ("three", {})]
        page.locator("[data-path='models.one'] > summary").press("Enter")
        page.locator("[data-path='models.one'] > .tools input[type=checkbox]").press("Space")
        page.get_by_label("Remove models.three").press("Enter")
        assert given(page) == {"models": {"one": None, "2": {"units": "heads"}}}


def test_of_several_kinds_of_values_one_is_chosen(form):
    with form({"models": {"m": {"over": {"x": "0-4"}}}}) as page:
        unfold(page)
        page.get_by_label("Kind of models.m.over.x").select_option("list")
        page.get_by_label("models.m.over.x", exact=True).fill('1\nb\n"2"')
        assert given(page)["models"]["m"]["over"] == {"x": [1, "b", "2"]}
        page.get_by_label("Kind of models.m.over.x").select_option("value")
        page.get_by_label("models.m.over.x", exact=True).fill("3")
        assert given(page)["models"]["m"]["over"] == {"x": 3}


def test_the_search_leaves_the_fields_with_a_text_and_opens_what_they_are_in(form):
    with form({}) as page:
        page.get_by_label("Keys with").fill("DISTANCE_BINS")
        shown = (
            "[...document.querySelectorAll('.key')].filter((it) => it.checkVisibility()).map((it) => it.dataset.path)"
        )
        assert page.evaluate(shown) == ["clustering", "clustering.distance_bins"]
        page.get_by_label("Keys with").fill("")
        assert {"seed", "tasks", "select"} <= set(page.evaluate(shown))


def test_the_yaml_is_copied_and_downloaded(form):
    with form({"seed": 3}) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy").click()
        page.get_by_text("Copied.").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == "seed: 3\n"
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        assert download.value.suggested_filename == "mine.yaml"
        assert download.value.path().read_text() == "seed: 3\n"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1400, 390])
def test_it_fits_has_contrast_and_named_controls(form, width, dark):
    with form(yaml.safe_load((ROOT / "config.yaml").read_text()) | {"seed": "x"}, width, dark=dark) as page:
        unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # Long text in a field is scrolled there.
        assert [it for it in page.evaluate(BEYOND_THE_EDGE) if not it.startswith("INPUT")] == []
        assert page.evaluate(LOW_CONTRAST, 4.5) == []
        assert page.evaluate(NAMELESS) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- a\n", "holds no keys"),
        ("seed: [\n", "line 2, cannot be read as YAML"),
        ("seed: 1\nseed: 2\n", "the key seed stands there twice"),
        ("seed: .nan\n", "cannot hold nan"),
        ("seed: 2020-01-01\n", "cannot hold 2020-01-01"),
        ("? [a]\n: 1\n", "cannot be read as YAML"),
    ],
)
def test_a_file_that_no_form_can_hold_is_refused_by_its_name(tmp_path, text, sentence):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(InputError, match=rf"mine\.yaml.*{sentence}"):
        main([str(tmp_path / "mine.yaml"), "--output", str(tmp_path / "form.html")])
    assert not (tmp_path / "form.html").exists()
