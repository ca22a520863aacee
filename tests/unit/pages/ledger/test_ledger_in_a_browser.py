"""The ledger as a reader sees it: sorted, filtered, on a screen, on a phone and in print."""

import pandas as pd
import pytest
from playwright.sync_api import expect

from headtypes.pages.ledger.page import how_often, ledger_table, over_models, page_of, together_table
from headtypes.papers.comparison import NAMED, TOGETHER
from headtypes.papers.quantities import NO_VERDICT
from tests.support.browser import BEYOND_THE_EDGE, BROKEN_WORDS, LOW_CONTRAST, NAMELESS, opened
from tests.support.ledgers import made_ledger
from tests.support.summaries import PROVENANCE, RESULTS

SOURCES = {"guan2020": "demo", "clark2019": "clark", "kobayashi2020": "norms"}
CLAIM = "guan2020/diagonal-medium-special"
SHOWN = "[...document.querySelectorAll('#each tbody tr')]"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """Of the comparisons that the documentation reports: of a model, those fine-tuned from it, and a local one."""
    comparisons = {paper: RESULTS / source / "comparison.csv" for paper, source in SOURCES.items()}
    models = dict.fromkeys(model for path in comparisons.values() for model in pd.read_csv(path)["model"])
    families = {model: model.partition("-")[0] for model in models}
    page = tmp_path_factory.mktemp("results") / "ledger.html"
    return ledger_table(comparisons, {}, families=families, partitions=[], page=page)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory, ledger):
    """With the verdicts of one model as if they were of several seeds."""
    folder = tmp_path_factory.mktemp("page")
    rows = pd.read_csv(RESULTS / "demo" / "comparison.csv", **NAMED)
    rows["kind"] += TOGETHER
    rows[rows["model"] == "minilm"].assign(model="minilm-{seed}").to_csv(folder / "comparison.csv", index=False)
    together = together_table({"guan2020": folder / "comparison.csv"})
    path = folder / "ledger.html"
    path.write_text(page_of(ledger, over_models(ledger), together, PROVENANCE), encoding="utf-8")
    return path


def test_open_claims_count_among_none_that_are_decided(tmp_path):
    ledger = made_ledger(tmp_path)

    def in_models(ledger: pd.DataFrame) -> dict[str, str]:
        return {claim["id"]: how_often(claim)["in_models"] for claim in over_models(ledger).to_dict("records")}

    assert in_models(ledger) == {
        "few": "2 of 3",
        "mixed": "0 of 1, 1 open",
        "never": "",
        "deep": "1 of 1, 1 open",
        "trees": "",
    }
    undecided = ledger.assign(verdict=ledger["verdict"].where(ledger["verdict"] == NO_VERDICT, "open"))
    assert in_models(undecided)["few"] == "3 open"


def test_what_is_judged_over_seeds_is_a_table_of_its_own(chromium, page_file, ledger):
    with opened(chromium, page_file, 1280) as page:
        shown = page.evaluate("[...document.querySelectorAll('#together tbody tr')].map((row) => row.innerText)")
    judged = ledger[(ledger["model"] == "minilm") & (ledger["paper"] == "guan2020") & (ledger["verdict"] != NO_VERDICT)]
    assert len(shown) == len(judged) > 0
    for claim, verdict in zip(judged["claim"], judged["verdict"], strict=True):
        assert any(claim in text and verdict in text for text in shown)
    assert all("minilm-{seed}" in text and "nan" not in text for text in shown)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_has_contrast_and_names_its_controls(chromium, page_file, width, dark):
    with opened(chromium, page_file, width, dark=dark) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BEYOND_THE_EDGE) == []
        assert page.evaluate(LOW_CONTRAST, 4.5) == []
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(BROKEN_WORDS) == []


def test_every_claim_has_a_strip_of_all_its_cells(chromium, page_file, ledger):
    with opened(chromium, page_file, 1280) as page:
        widths = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('#all tbody tr')].map((row) => ["
            "row.querySelector('small a').getAttribute('href').slice(1),"
            "[...row.querySelectorAll('rect')].map((it) => [it.className.baseVal, Number(it.getAttribute('width'))])]))"
        )
    assert len(widths) == len(ledger[["paper", "id"]].drop_duplicates())
    for (paper, id_), cells in ledger.groupby(["paper", "id"]):
        runs = [name.replace("-", " ") for name, length in widths[f"{paper}/{id_}"] for _ in range(length)]
        assert runs == cells["verdict"].tolist()


def test_a_claim_leads_to_its_cells_and_filters_narrow_them(chromium, page_file, ledger):
    paper, id_ = CLAIM.split("/")
    cells = ledger[(ledger["paper"] == paper) & (ledger["id"] == id_)]
    with opened(chromium, page_file, 1280) as page:
        page.locator(f"#all a[href='#{CLAIM}']").click()
        expect(page.locator("#each tbody tr")).to_have_count(len(cells))
        links = page.evaluate(f"{SHOWN}.map((it) => it.querySelector('a').getAttribute('href'))")
        assert links == cells["decided_in"].tolist()
        page.locator("select[name=verdict]").select_option("holds")
        holds = int((cells["verdict"] == "holds").sum())
        assert page.evaluate(f"{SHOWN}.length") == holds
        assert page.locator("#number").inner_text() == f"{holds} of {len(ledger)} cells"
        page.locator("select[name=claim]").select_option("all")
        page.locator("select[name=model]").select_option("minilm")
        expected = (ledger["verdict"] == "holds") & (ledger["model"] == "minilm")
        assert page.evaluate(f"{SHOWN}.length") == int(expected.sum())


def test_all_cells_are_shown_when_asked_for_and_sorted(chromium, page_file, ledger):
    with opened(chromium, page_file, 1280) as page:
        assert page.evaluate(f"{SHOWN}.length") == 100
        page.get_by_role("button", name="show all").click()
        assert page.evaluate(f"{SHOWN}.length") == len(ledger)
        page.locator("#each").get_by_role("button", name="value").click()
        values = [float(text) for text in page.locator("#each td.number > span").all_inner_texts() if text]
        assert values == sorted(values)


def test_claims_are_found_by_a_text_and_sorted_by_how_often_they_hold(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        page.get_by_label("Claims with").fill("Kobayashi")
        rows = page.locator("#all tbody tr:visible")
        assert 0 < rows.count() == page.locator("#all tbody tr", has_text="Kobayashi").count()
        page.get_by_label("Claims with").fill("")
        page.locator("#all").get_by_role("button", name="in models").click()
        shares = page.evaluate("[...document.querySelectorAll('#all td:nth-child(5)')].map((it) => it.dataset.sort)")
        known = [float(share) for share in shares if share]
        assert known == sorted(known)
        assert shares[len(known) :] == [""] * (len(shares) - len(known))
