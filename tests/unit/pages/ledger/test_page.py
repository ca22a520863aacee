"""The ledger: its cells, in how many models a claim holds, the interval over families, and the page in a browser."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from scipy.stats import binomtest

from headtypes.core.tables import to_html
from headtypes.pages.ledger.page import (
    COLUMNS,
    FEWEST_FAMILIES,
    UNTRAINED,
    how_often,
    ledger_table,
    over_models,
    page_of,
    share_interval,
    together_table,
)
from headtypes.papers.claims import FAILS, HOLDS, NO_VERDICT, OPEN
from headtypes.papers.comparison import NAMED, TOGETHER
from tests.support.browser import BROKEN_WORDS, check_readable
from tests.support.summaries import PROVENANCE, RESULTS

SIMULATIONS, TRUTH = 1000, 0.7
SOURCES = {"guan2020": "demo", "clark2019": "clark", "kobayashi2020": "norms"}
CLAIM = "guan2020/diagonal-medium-special"
FAMILIES = {"root": "root", "child": "root", "other": "other"}
PARTITION = "qa-kmeans-k4"
PARTITIONS = [
    {"model": model, "partition": PARTITION, "task": "qa", "method": "kmeans", "k": 4, "of": "weights"}
    for model in FAMILIES
]
_NO = {"verdict_holm": "no verdict", "reason": "the partition lacks dense"}
SHOWN = "[...document.querySelectorAll('#each tbody tr')]"


def _row(id_: str, verdict: str, **cell) -> dict:
    row = {**cell, "kind": "claim", "basis": "stated", "place": "section 1", "id": id_, "quantity": f"Claim {id_}."}
    numbers = {"ours": 2.0, "low": 1.5, "high": 2.5, "p": 0.01, "p_holm": 0.02, "published": None}
    row |= {**numbers, "verdict": verdict, "verdict_holm": verdict, "reason": "share: 2.00; claimed above 1"}
    return row | ({**dict.fromkeys(numbers), **_NO} if verdict == "no verdict" else {})


@pytest.fixture
def made(tmp_path) -> pd.DataFrame:
    verdicts = {
        "few": {"root": "holds", "child": "holds", "other": "fails"},
        "mixed": {"root": "fails", "child": "open", "other": "no verdict"},
        "never": {"root": "no verdict", "child": "no verdict", "other": "no verdict"},
    }
    parted = [
        _row(id_, verdict, model=model, partition=PARTITION)
        for id_ in verdicts
        for model, verdict in verdicts[id_].items()
    ]
    parted.append(_row("value", "", model="root", partition=PARTITION) | {"kind": "figure"})
    tasked = [_row("deep", "holds", model="root", task=task) for task in ("news", "books")]
    tasked += [
        _row("deep", verdict, model="child", task=task) for task, verdict in {"news": "holds", "books": "fails"}.items()
    ]
    tasked.append(_row("trees", "no verdict", model="root", task=None))
    own = [_row(id_, "holds", model="child", partition=PARTITION) | {"reading": "ablation"} for id_ in ("few", "mixed")]
    strict = [row | {"reading": "strict"} for row in own]
    strict[0] |= {"ours": 2.5, "reason": "share: 2.50; claimed above 1"}
    # Of a partition that the comparison does not judge.
    own.append(_row("few", "holds", model="child", partition="qa-norms-kmeans-k4") | {"reading": "ablation"})
    strict.append(own[-1] | {"reading": "strict", "ours": 2.5})
    tables = {"parted/comparison": parted, "tasked/comparison": tasked, "parted/readings": own + strict}
    for name, rows in tables.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
    comparisons = {name: tmp_path / name / "comparison.csv" for name in ("parted", "tasked")}
    readings = {"parted": tmp_path / "parted/readings.csv"}
    return ledger_table(comparisons, readings, families=FAMILIES, partitions=PARTITIONS, page=tmp_path / "ledger.html")


def test_every_claim_of_every_comparison_has_a_row_for_each_cell(made, tmp_path):
    made, expected = made[made["reading"] == ""], Counter()
    for paper in ("parted", "tasked"):
        rows = pd.read_csv(tmp_path / paper / "comparison.csv")
        expected.update((paper, row["id"], row["model"]) for _, row in rows[rows["kind"] == "claim"].iterrows())
    assert Counter(made[["paper", "id", "model"]].itertuples(index=False, name=None)) == expected
    assert list(made) == COLUMNS
    row = made[(made["id"] == "few") & (made["model"] == "child")].iloc[0]
    assert row[["family", "task", "method", "k", "of"]].tolist() == ["root", "qa", "kmeans", 4, "weights"]
    assert made[made["paper"] == "tasked"]["method"].isna().all()


def test_a_reading_is_a_cell_where_it_changes_what_a_claim_rests_on(made):
    further = made[made["reading"] == "strict"]
    # On `child` the strict reading changes the value of `few`, but not the verdict; it leaves the others as they are.
    assert further[["id", "model", "verdict", "value"]].to_numpy().tolist() == [["few", "child", "holds", 2.5]]
    assert further["decided_in"].tolist() == ["parted/readings.html"]


def test_a_link_leads_to_the_part_of_the_page_that_decides(made):
    links = made[made["reading"] == ""]["decided_in"].drop_duplicates()
    page = to_html("# Page\n\n## root, qa-kmeans-k4\n\n## root, what it does not read\n", {})
    ids = re.findall(r'<h2 id="([^"]+)"', page)
    assert links.tolist()[0] == f"parted/comparison.html#{ids[0]}"
    assert f"tasked/comparison.html#{ids[1]}" in links.tolist()


def test_a_claim_holds_in_a_model_if_it_does_in_each_of_its_cells(made):
    claims = over_models(made).set_index("id")
    columns = ["models", "models_hold", "models_fail", "models_open", "families", "cells_no_verdict"]
    by_hand = {
        "few": [3, 2, 1, 0, 2, 0],
        "mixed": [2, 0, 1, 1, 1, 1],
        "never": [0, 0, 0, 0, 0, 3],
        # In one of two models it holds on one task and fails on another.
        "deep": [2, 1, 0, 1, 1, 0],
        "trees": [0, 0, 0, 0, 0, 1],
    }
    assert {id_: row.tolist() for id_, row in claims[columns].iterrows()} == by_hand
    assert claims.loc["never", ["low", "high"]].isna().all()


def test_untrained_networks_are_counted_beside_the_models(made):
    of_child = made["model"] == "child"
    made.loc[of_child, "family"] = UNTRAINED
    counted, without = (over_models(rows).set_index("id") for rows in (made, made[~of_child]))
    same = ["models", "models_hold", "models_fail", "models_open", "families", "low", "high"]
    told = 2 * counted["untrained_hold"] <= counted["untrained"]
    pd.testing.assert_frame_equal(counted.loc[told, same], without.loc[told[told].index, same], check_dtype=False)
    # What random weights bear out as well says nothing of training.
    assert counted["untrained"].sum() > 0
    met, before = counted[~told], without.loc[told[~told].index]
    assert before["models_hold"].sum() > 0
    assert met["models_hold"].tolist() == [0] * len(met)
    assert (met["models_open"] == before["models_open"] + before["models_hold"]).all()


def test_without_a_trained_model_only_untrained_networks_are_told_of(made):
    told = [how_often(claim)["of_models"] for claim in over_models(made.assign(family=UNTRAINED)).to_dict("records")]
    assert any(told)
    assert all(not text or text.startswith("holds in ") for text in told)


def test_open_claims_count_among_none_that_are_decided(made):
    def in_models(ledger: pd.DataFrame) -> dict[str, str]:
        return {claim["id"]: how_often(claim)["in_models"] for claim in over_models(ledger).to_dict("records")}

    by_hand = {"few": "2 of 3", "mixed": "0 of 1, 1 open", "never": "", "deep": "1 of 1, 1 open", "trees": ""}
    assert in_models(made) == by_hand
    undecided = made.assign(verdict=made["verdict"].where(made["verdict"] == NO_VERDICT, "open"))
    assert in_models(undecided)["few"] == "3 open"


def test_the_interval_is_that_of_a_proportion_where_every_family_is_one_model():
    for holds, models in [(0, 4), (3, 9), (9, 9)]:
        verdicts = [HOLDS] * holds + [FAILS] * (models - holds)
        expected = binomtest(holds, models).proportion_ci(method="exact")
        np.testing.assert_allclose(share_interval(verdicts, map(str, range(models))), expected)


def test_an_open_verdict_counts_as_either():
    families = list("abcdefgh")
    low, high = share_interval([HOLDS] * 4 + [OPEN] * 2 + [FAILS] * 2, families)
    assert low == share_interval([HOLDS] * 4 + [FAILS] * 4, families)[0]
    assert high == share_interval([HOLDS] * 6 + [FAILS] * 2, families)[1]


def test_the_fewest_families_are_those_whose_agreement_says_something_of_most_models():
    families = list(map(str, range(FEWEST_FAMILIES)))
    assert share_interval([HOLDS] * FEWEST_FAMILIES, families)[0] > 0.5
    assert share_interval([HOLDS] * (FEWEST_FAMILIES - 1), families[1:])[0] < 0.5


def simulated(
    rng, families: int, largest: int, alike: float, undecided: float, seeds: int = 1
) -> tuple[list[str], list[str]]:
    """Models of which a claim is true with TRUTH.

    largest, alike: models of a family, and how many of them are as its first one; seeds: of each model at most, of
    which nine in ten are as the model.
    """
    verdicts, of = [], []
    for family in range(families):
        root = rng.random() < TRUTH
        for _ in range(rng.integers(1, largest + 1)):
            model = root if rng.random() < alike else rng.random() < TRUTH
            for _ in range(rng.integers(1, seeds + 1)):
                true = model if seeds == 1 or rng.random() < 0.9 else rng.random() < TRUTH
                verdicts.append(OPEN if rng.random() < undecided else HOLDS if true else FAILS)
                of.append(str(family))
    return verdicts, of


@pytest.mark.parametrize(
    ("families", "largest", "alike", "undecided", "seeds"),
    [(12, 8, 1, 0, 1), (40, 4, 0.8, 0, 1), (25, 3, 0.9, 0.3, 1), (25, 3, 0, 0, 5)],
)
def test_a_claim_that_is_true_of_seventy_percent_of_models_lies_in_95_percent_of_intervals(
    families, largest, alike, undecided, seeds
):
    rng = np.random.default_rng(37)
    drawn = (simulated(rng, families, largest, alike, undecided, seeds) for _ in range(SIMULATIONS))
    ends = np.array([share_interval(*models) for models in drawn])
    assert ((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)).mean() >= 0.95
    if not undecided and families >= 25:
        # Which is not because it says nothing.
        assert (ends[:, 1] - ends[:, 0]).mean() < 0.4


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


def test_what_is_judged_over_seeds_is_a_table_of_its_own(page, ledger):
    shown = page.evaluate("[...document.querySelectorAll('#together tbody tr')].map((row) => row.innerText)")
    judged = ledger[(ledger["model"] == "minilm") & (ledger["paper"] == "guan2020") & (ledger["verdict"] != NO_VERDICT)]
    assert len(shown) == len(judged) > 0
    for claim, verdict in zip(judged["claim"], judged["verdict"], strict=True):
        assert any(claim in text and verdict in text for text in shown)
    assert all("minilm-{seed}" in text and "nan" not in text for text in shown)


def test_it_fits_has_contrast_and_names_its_controls(window):
    check_readable(window)
    assert window.evaluate(BROKEN_WORDS) == []


def test_every_claim_has_a_strip_of_all_its_cells(page, ledger):
    widths = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#all tbody tr')].map((row) => ["
        "row.querySelector('small a').getAttribute('href').slice(1),"
        "[...row.querySelectorAll('rect')].map((it) => [it.className.baseVal, Number(it.getAttribute('width'))])]))"
    )
    assert len(widths) == len(ledger[["paper", "id"]].drop_duplicates())
    for (paper, id_), cells in ledger.groupby(["paper", "id"]):
        runs = [name.replace("-", " ") for name, length in widths[f"{paper}/{id_}"] for _ in range(length)]
        assert runs == cells["verdict"].tolist()


def test_a_claim_leads_to_its_cells_and_filters_narrow_them(page, ledger):
    paper, id_ = CLAIM.split("/")
    cells = ledger[(ledger["paper"] == paper) & (ledger["id"] == id_)]
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


def test_all_cells_are_shown_when_asked_for_and_sorted(page, ledger):
    assert page.evaluate(f"{SHOWN}.length") == 100
    page.get_by_role("button", name="show all").click()
    assert page.evaluate(f"{SHOWN}.length") == len(ledger)
    page.locator("#each").get_by_role("button", name="value").click()
    values = [float(text) for text in page.locator("#each td.number > span").all_inner_texts() if text]
    assert values == sorted(values)


def test_claims_are_found_by_a_text_and_sorted_by_how_often_they_hold(page):
    page.get_by_label("Claims with").fill("Kobayashi")
    rows = page.locator("#all tbody tr:visible")
    assert 0 < rows.count() == page.locator("#all tbody tr", has_text="Kobayashi").count()
    page.get_by_label("Claims with").fill("")
    page.locator("#all").get_by_role("button", name="in models").click()
    shares = page.evaluate("[...document.querySelectorAll('#all td:nth-child(5)')].map((it) => it.dataset.sort)")
    known = [float(share) for share in shares if share]
    assert known == sorted(known)
    assert shares[len(known) :] == [""] * (len(shares) - len(known))
