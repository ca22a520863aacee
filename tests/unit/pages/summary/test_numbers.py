"""Numbers of the cards and of the findings are values of files, in one form, with their unit and what they are of."""

import re

import pandas as pd
import pytest

from headtypes.core.files import read_json
from headtypes.core.statistics import ALPHA
from headtypes.core.tables import probability
from headtypes.papers.guan2020.table_pages import ablation_shown
from tests.support.summaries import MODEL, PARTITION, made_results, made_summary

NUMBER = re.compile(r"(?<![\w.-])-?[\d,]*\d(?:\.\d+)?(?![\w-])")
POINTS = [f"{kind}_f1{end}" for kind in ("drop", "control_drop") for end in ("", "_low", "_high")]
POINTS += [
    "own_drop_f1",
    "detectable_drop_f1",
    *(f"own_excess_f1{end}" for end in ("", "_low_by_article", "_high_by_article")),
]
COUNTS = ["heads", "n_questions", "control_draws", "control_draws_planned", "control_questions", "control_conditions"]
# Of how many numbers of clusters and criteria cards speak, their limits, and degrees of confidence.
SAID = {"0", "1", "4", "8", "95", f"{ALPHA:g}"}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The answers about a partition, its rows of Table 2, and the files."""
    folder = tmp_path_factory.mktemp("results")
    files = made_results(folder)
    table = pd.read_csv(folder / "guan2020/table2.all.csv")
    answers = next(it for it in made_summary(folder, files).answers if (it.model, it.partition) == (MODEL, PARTITION))
    return answers, table, folder


def test_every_number_is_a_value_of_a_file(shown):
    answers, table, folder = shown
    types, number, matter = answers.cards
    stability = read_json(folder / "stability.json")
    alone = table[
        table["condition"].isin([f"zero-{name}" for name in ("dense", "diagonal", "dense_vertical", "vertical")])
    ]
    of_table = {f"{value:.1f}" for value in alone[POINTS].to_numpy().ravel()}
    of_table |= {f"{value:.0f}" for value in alone[COUNTS].to_numpy().ravel()}
    of_table |= {probability(value) for value in alone["holm_f1"].dropna()}
    texts = [matter.says, matter.number, matter.why, matter.key, *(mark.text for mark in matter.marks)]
    texts += answers.sentences[:1]
    found = {it for text in texts for it in NUMBER.findall(text)}
    assert {"57.1", "64.4", "42.3", "0.025", "200", "32", "79"} <= found
    assert found - of_table <= SAID
    counts = pd.read_csv(folder / "partition.csv")["type"].value_counts()
    assert set(NUMBER.findall(answers.types)) - SAID == {str(it) for it in (*counts, counts.sum())}
    halves = {f"{value:.0f}" for half in ("heads", "samples") for value in stability[half].values()}
    of_clusters = halves | {f"{stability['gap']:.2f}", str(stability["models"])}
    gap, *ends = map(float, NUMBER.findall(types.number))
    assert (gap, sum(ends) / 2) == (stability["gap"], pytest.approx(gap, abs=0.006))
    assert {it for mark in types.marks for it in NUMBER.findall(mark.text)} <= of_clusters
    assert set(NUMBER.findall(types.says)) <= of_clusters
    assert [mark.text for mark in number.marks] == [str(it) for it in stability["chosen"].values()]


def test_a_number_has_one_form_its_unit_and_what_it_is_of(shown):
    answers, table, _ = shown
    *_, matter = answers.cards
    sentence = answers.sentences[0]
    brief = next(ablation_shown(table, 2)).in_brief()
    labels = [column.label for column in brief.columns]
    (dense,) = (
        {name: cell.text for name, cell in zip(labels, row, strict=True)}
        for row in brief.rows
        if row[1].text == "zero-dense"
    )
    assert f"loses {dense['drop of F1']} points of F1 on 200 questions (49.6 to 64.5 over these)" in sentence
    assert f"{dense['same inputs']} on 32 of them, against {dense['random heads']} on average (79 draws" in sentence
    assert f"p = {dense['p, random']}" in sentence
    assert matter.number.startswith(f"p = {dense['p, random']}: 42.3 points (")
    assert (
        f"{matter.marks[0].label} {matter.marks[0].text}" == f"dense {dense['same inputs']} ({dense['random heads']})"
    )
    assert "on 32 questions" in matter.key
    reached = table.loc[table["condition"] == "zero-dense", "detectable_drop_f1"].iloc[0]
    assert (
        f"An uncorrected p of 0.05 takes a drop of more than {reached:.1f} points without the dense heads."
        in matter.key
    )
