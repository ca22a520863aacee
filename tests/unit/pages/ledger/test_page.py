"""The ledger: its cells, in how many models a claim holds, and the interval over families of models."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from headtypes.core.tables import to_html
from headtypes.pages.ledger.page import COLUMNS, FEWEST_FAMILIES, UNTRAINED, over_models, share_interval
from headtypes.papers.quantities import FAILS, HOLDS, OPEN
from tests.support.ledgers import made_ledger

SIMULATIONS, TRUTH = 1000, 0.7


@pytest.fixture
def ledger(tmp_path):
    return made_ledger(tmp_path)


def test_every_claim_of_every_comparison_has_a_row_for_each_cell(ledger, tmp_path):
    ledger, expected = ledger[ledger["reading"] == ""], Counter()
    for paper in ("parted", "tasked"):
        rows = pd.read_csv(tmp_path / paper / "comparison.csv")
        expected.update((paper, row["id"], row["model"]) for _, row in rows[rows["kind"] == "claim"].iterrows())
    assert Counter(ledger[["paper", "id", "model"]].itertuples(index=False, name=None)) == expected
    assert list(ledger) == COLUMNS
    row = ledger[(ledger["id"] == "few") & (ledger["model"] == "child")].iloc[0]
    assert row[["family", "task", "method", "k", "of"]].tolist() == ["root", "qa", "kmeans", 4, "weights"]
    # A task that is judged by itself is of no partition.
    assert ledger[ledger["paper"] == "tasked"]["method"].isna().all()


def test_a_reading_is_a_cell_where_it_changes_what_a_claim_rests_on(ledger):
    further = ledger[ledger["reading"] == "strict"]
    # On `child` the strict reading changes the value of `few`, but not the verdict; it leaves the others as they are.
    assert further[["id", "model", "verdict", "value"]].to_numpy().tolist() == [["few", "child", "holds", 2.5]]
    assert further["decided_in"].tolist() == ["parted/readings.html"]


def test_a_link_leads_to_the_part_of_the_page_that_decides(ledger):
    links = ledger[ledger["reading"] == ""]["decided_in"].drop_duplicates()
    page = to_html("# Page\n\n## root, qa-kmeans-k4\n\n## root, what it does not read\n", {})
    ids = re.findall(r'<h2 id="([^"]+)"', page)
    assert links.tolist()[0] == f"parted/comparison.html#{ids[0]}"
    assert f"tasked/comparison.html#{ids[1]}" in links.tolist()


def test_a_claim_holds_in_a_model_if_it_does_in_each_of_its_cells(ledger):
    claims = over_models(ledger).set_index("id")
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


def test_untrained_networks_are_counted_beside_the_models(ledger):
    of_child = ledger["model"] == "child"
    ledger.loc[of_child, "family"] = UNTRAINED
    counted, without = (over_models(rows).set_index("id") for rows in (ledger, ledger[~of_child]))
    same = ["models", "models_hold", "models_fail", "models_open", "families", "low", "high"]
    told = 2 * counted["untrained_hold"] <= counted["untrained"]
    pd.testing.assert_frame_equal(counted.loc[told, same], without.loc[told[told].index, same], check_dtype=False)
    # What random weights bear out as well says nothing of training.
    assert counted["untrained"].sum() > 0
    met, before = counted[~told], without.loc[told[~told].index]
    assert before["models_hold"].sum() > 0
    assert met["models_hold"].tolist() == [0] * len(met)
    assert (met["models_open"] == before["models_open"] + before["models_hold"]).all()


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
    [
        (12, 8, 1, 0, 1),
        (40, 4, 0.8, 0, 1),
        (25, 3, 0.9, 0.3, 1),
        (25, 3, 0, 0, 5),
    ],
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
