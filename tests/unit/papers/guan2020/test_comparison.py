"""Ours beside the published: every figure in its row, verdicts first, doubt and contradictions where they belong."""

import numpy as np
import pandas as pd
import pytest

from headtypes.papers.guan2020.comparison import COLUMNS, compare_with_guan, comparison_page
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.quantities import collect_quantities, published_stability
from headtypes.papers.guan2020.tables import ablation_table, stability_table
from headtypes.papers.markdown import to_html
from headtypes.types.names import TYPES
from headtypes.types.partitions import Partition
from tests.support.places import GUAN

REFERENCE = read_guan2020(GUAN)
KEY = ("bert", "squad-kmeans-k4")

# [layer, head]: dense first, dense_vertical in the middle and most, vertical last and fewest, diagonal throughout.
LIKE_THE_PAPER = [["dense"] * 5 + ["diagonal"] * 2] * 2 + [["dense_vertical"] * 6 + ["diagonal"]] * 2
LIKE_THE_PAPER += [["vertical"] * 3 + ["dense_vertical"] + ["diagonal"] * 3] * 2


def partition(types: list[list[str]], doubtful: tuple[str, ...] = ()) -> Partition:
    rows = [
        {"layer": layer, "head": head, "type": name, "doubtful": name in doubtful}
        for layer, names in enumerate(types)
        for head, name in enumerate(names)
    ]
    return Partition(pd.DataFrame(rows))


def ablations(partitions: dict, scores: dict[int, tuple[float, float]], key=KEY, questions: int = 1000) -> pd.DataFrame:
    """The table of the paper's conditions with these scores (exact match and F1), by number."""
    rows = [
        {"model": key[0], "partition": key[1], "condition": f"condition {number}", "operations": condition.operations}
        for number, condition in ((each.id, each) for each in REFERENCE.conditions)
        if number in scores
    ]
    metrics = [{"exact_match": exact_match, "f1": f1, "n_questions": questions} for exact_match, f1 in scores.values()]
    return ablation_table(rows, partitions, metrics, REFERENCE, intervals={}, controls={})


def stabilities(partitions: dict, published: str | None = "squad", lowest: float = 95.0) -> pd.DataFrame:
    rows = [{"model": model, "partition": name, "published": published} for model, name in partitions]
    figures = {"all_agree": lowest, "pairwise": lowest + 1}
    stability = [{"heads": figures, "samples": figures}] * len(rows)
    return stability_table(rows, list(partitions.values()), stability, REFERENCE)


def published(**changed: tuple[float, float]) -> dict[int, tuple[float, float]]:
    scores = {each.id: (each.exact_match, each.f1) for each in REFERENCE.conditions}
    return scores | {int(name[1:]): figures for name, figures in changed.items()}


def compare(partitions: dict, table: pd.DataFrame, **more) -> pd.DataFrame:
    nothing = {"intervals": {}, "silhouettes": {}, "parents": {}}
    of_stability = more.pop("stability", stabilities(partitions))
    quantities = collect_quantities(partitions, table, of_stability, **nothing | more)
    return compare_with_guan(quantities, published_stability(of_stability, partitions), REFERENCE)


def around(scores: dict[int, tuple[float, float]], width: float):
    """Intervals of a fixed width, by the names that the conditions have in `ablations`."""

    def interval(weights, metric):
        place = ("exact_match", "f1").index(metric)
        value = sum(weight * scores[int(name.removeprefix("condition "))][place] for name, weight in weights.items())
        return value, value - width, value + width

    return interval


def claims(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["kind"] == "claim"].set_index("id")


def figures(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["kind"] == "figure"].set_index("id")


@pytest.fixture(scope="module")
def like_the_paper():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    return compare(
        partitions,
        ablations(partitions, published()),
        intervals={KEY: around(published(), 0.5)},
        silhouettes={KEY: {3: 0.4, 4: 0.5, 5: 0.4}},
        parents={KEY: partition(LIKE_THE_PAPER)},
    )


def test_a_table_that_satisfies_every_claim_says_so():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    table = compare(
        partitions,
        ablations(partitions, published()),
        silhouettes={KEY: {3: 0.4, 4: 0.5, 5: 0.4}},
        parents={KEY: partition(LIKE_THE_PAPER)},
    )
    assert claims(table)["verdict"].tolist() == ["holds"] * len(REFERENCE.claims)
    page = comparison_page(table, REFERENCE)
    assert "| bert | squad-kmeans-k4 | 26 | 0 | 0 | 0 |" in page
    assert "No verdict:" not in page


def test_a_table_that_breaks_a_claim_names_it():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    table = compare(partitions, ablations(partitions, published(c3=(40, 50))))
    row = claims(table).loc["zero-diagonal-breaks"]
    assert row["verdict"] == "fails"
    assert row["ours"] == pytest.approx(40 - 82.85 / 4)
    assert row["published"] == pytest.approx(4.59 - 82.85 / 4)
    assert row["difference"] == pytest.approx(40 - 4.59)
    assert claims(table).query("verdict == 'fails'").index.tolist() == ["zero-diagonal-breaks"]
    page = comparison_page(table, REFERENCE)
    assert (
        "| zero-diagonal-breaks | Without its diagonal heads the model no longer works. | section 5, Table 2 | fails |"
        in page
    )
    assert (
        "- zero-diagonal-breaks: exact match with zero diagonal less 25 % of the baseline's: 19.29; claimed below 0."
        in page
    )


def test_the_figures_of_a_claim_are_those_of_the_rule_that_decides():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    row = claims(compare(partitions, ablations(partitions, published(c17=(60, 70))))).loc["diagonal-carries-intra"]
    assert row["verdict"] == "fails"
    assert row[["ours", "published"]].tolist() == pytest.approx([60 - 82.85 / 4, 10.11 - 82.85 / 4])


def test_models_with_partitions_of_one_name_are_kept_apart():
    other = ("roberta", KEY[1])
    partitions = {KEY: partition(LIKE_THE_PAPER), other: partition(LIKE_THE_PAPER)}
    tables = [ablations(partitions, published()), ablations(partitions, published(c3=(40, 50)), key=other)]
    table = compare(partitions, pd.concat(tables, ignore_index=True))
    verdicts = {model: claims(rows).loc["zero-diagonal-breaks", "verdict"] for model, rows in table.groupby("model")}
    assert verdicts == {"bert": "holds", "roberta": "fails"}


def test_every_published_figure_has_its_row_in_the_papers_order(like_the_paper):
    table = figures(like_the_paper)
    expected = [f"share.{name}" for name in TYPES]
    expected += [f"stability.{half}_{figure}" for half in ("heads", "samples") for figure in ("all_agree", "pairwise")]
    for number in range(1, 20):
        for metric in ("exact_match", "f1"):
            expected += [f"{number}.{metric}"] + ([f"{number}.drop_{metric}"] if number > 1 else [])
    assert table.index.tolist() == expected
    scores = [f"{each.id}.{metric}" for each in REFERENCE.conditions for metric in ("exact_match", "f1")]
    assert table.loc[scores, "published"].sum() == pytest.approx(1022.30 + 1159.75)
    assert table.loc[scores, "difference"].abs().max() == 0
    assert like_the_paper.columns.tolist() == COLUMNS
    assert like_the_paper["kind"].tolist() == ["claim"] * 26 + ["figure"] * len(expected)
    assert set(like_the_paper["n_questions"]) == {1000}


def test_figures_have_interval_and_difference():
    scores = published(c2=(70, 80))
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    table = compare(partitions, ablations(partitions, scores), intervals={KEY: around(scores, 3)})
    row = figures(table).loc["2.drop_exact_match"]
    numbers = row[["ours", "low", "high", "published", "difference"]].tolist()
    assert numbers == pytest.approx([12.85, 9.85, 15.85, 2.93, 9.92])
    row = figures(table).loc["share.dense"]
    share = 100 * 10 / 42
    assert row[["ours", "published", "difference"]].tolist() == pytest.approx([share, 26.04, share - 26.04])
    assert np.isnan(row["low"])
    assert claims(table).loc["zero-vertical-little", "verdict"] == "open"
    page = comparison_page(table, REFERENCE)
    assert "| drop of exact match, zero dense | 12.85 | 9.85 to 15.85 | 2.93 | 9.92 |  |" in page
    assert "drop of exact match with zero vertical: 1.43 (-1.57 to 4.43); claimed below 1.5; drop of F1" in page


def test_contradictions_of_the_paper_stand_beside_the_figure(like_the_paper):
    remarks = figures(like_the_paper)["remark"]
    assert remarks["12.exact_match"] == "Table 3; the text has 19.96"
    assert remarks["12.f1"] == ""
    assert "26.56" in remarks["share.diagonal"]
    for note in REFERENCE.notes:
        for figure in note.figures:
            assert (
                remarks[[each for each in remarks.index if note.concerns(each)]]
                .str.contains(note.remark, regex=False)
                .all()
            )
            assert any(each.startswith(figure) for each in remarks.index)
    page = comparison_page(like_the_paper, REFERENCE)
    assert (
        "| exact match, drop_intra diagonal | 16.96 | 16.46 to 17.46 | 16.96 | 0.00 | Table 3; the text has 19.96 |"
        in page
    )
    assert all(note.text in page for note in REFERENCE.notes)


def test_a_doubtful_type_is_in_brackets_and_has_no_verdict():
    partitions = {KEY: partition(LIKE_THE_PAPER, doubtful=("vertical",))}
    table = compare(partitions, ablations(partitions, published()))
    about = {claim.id for claim in REFERENCE.claims if "vertical" in claim.types}
    found = claims(table)
    assert set(found.index[found["doubtful"] == "vertical"]) == about
    assert set(found.loc[list(about), "verdict"]) == {"no verdict"}
    assert found.loc[list(about), ["ours", "published"]].isna().all(axis=None)
    assert found.loc["diagonal-carries-intra", "verdict"] == "holds"
    assert "zero dense+[vertical]" in figures(table).loc["6.f1", "quantity"]
    assert figures(table).loc["6.f1", "doubtful"] == "vertical"
    page = comparison_page(table, REFERENCE)
    assert "Types in brackets have a doubtful name." in page
    assert "- doubtful name: vertical: vertical-fewest-heads, vertical-last-layers," in page
    assert "| zero-vertical-little |" not in page
    assert "| share of [vertical] |" in page


def test_missing_conditions_have_no_figures_and_no_verdict():
    scores = {number: figures for number, figures in published().items() if number in (1, 3, 12)}
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    table = compare(partitions, ablations(partitions, scores))
    assert {each.partition(".")[0] for each in figures(table).index} == {"share", "stability", "1", "3", "12"}
    found = claims(table)
    assert found.loc["zero-diagonal-breaks", "verdict"] == "holds"
    assert found.loc["zero-dense-little", "reason"] == "not evaluated: zero dense"
    # Without the baseline no drop is made up.
    table = compare(partitions, ablations(partitions, {3: (4, 8)}))
    assert figures(table).filter(like="3.", axis=0).index.tolist() == ["3.exact_match", "3.f1"]
    assert claims(table).loc["zero-diagonal-breaks", "reason"] == "not evaluated: baseline"


def test_other_types_have_no_shares_stability_or_verdicts():
    key = ("bert", "squad-kmeans-k5")
    partitions = {key: partition([[f"type-{number}" for number in range(1, 6)]] * 6)}
    table = compare(partitions, ablations(partitions, {1: (80, 90)}, key=key))
    assert figures(table).index.tolist() == ["1.exact_match", "1.f1"]
    assert set(claims(table)["verdict"]) == {"no verdict"}
    assert claims(table).loc["zero-dense-little", "reason"] == "the partition lacks dense"
    assert "| bert | squad-kmeans-k5 | 0 | 0 | 0 | 26 |" in comparison_page(table, REFERENCE)


def test_a_model_without_questions_has_shares_and_stability():
    mine = ("bert", "mine")
    partitions = {KEY: partition(LIKE_THE_PAPER), mine: partition(LIKE_THE_PAPER)}
    of_stability = stabilities({KEY: partitions[KEY]}, "pre-trained", lowest=90)
    table = compare(partitions, ablations(partitions, published(), key=mine), stability=of_stability)
    first, second = (table[table["partition"] == name] for name in (KEY[1], "mine"))
    assert table["partition"].tolist() == [KEY[1]] * len(first) + ["mine"] * len(second)
    assert first["n_questions"].isna().all()
    assert claims(first).loc["zero-dense-little", "reason"] == "the model was not evaluated on questions"
    assert claims(first).loc["types-stable", "verdict"] == "fails"
    assert claims(first).loc["types-stable", "published"] == 95.98
    assert claims(first).loc["types-stable", ["low", "high"]].tolist() == [90, 91]
    assert figures(first).loc["stability.heads_pairwise", ["ours", "published"]].tolist() == [91, 95.98]
    # An imported partition has no stability.
    assert claims(second).loc["types-stable", "reason"] == "stability was not measured"
    assert "share.dense" in figures(second).index
    assert not figures(second).index.str.startswith("stability").any()


def test_without_any_table_there_are_shares_and_layers():
    table = compare({KEY: partition(LIKE_THE_PAPER)}, None, stability=None)
    assert figures(table).index.tolist() == [f"share.{name}" for name in TYPES]
    judged = claims(table).query("verdict != 'no verdict'")
    assert judged["verdict"].tolist() == ["holds"] * 6
    assert "published" in comparison_page(table, REFERENCE)


def test_stability_without_a_published_row_is_judged_and_not_compared():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    table = compare(partitions, ablations(partitions, published()), stability=stabilities(partitions, None))
    assert claims(table).loc["types-stable", "verdict"] == "holds"
    assert np.isnan(claims(table).loc["types-stable", "published"])
    assert not figures(table).index.str.startswith("stability").any()


def test_the_f1_of_sentence_pairs_is_not_compared_with_that_of_answers():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    table = ablations(partitions, published())
    table["exact_match"] = np.nan
    table = compare(partitions, table)
    assert not figures(table).index.str.contains("f1").any()


def test_heads_are_compared_with_those_of_the_parent():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    other = [list(layer) for layer in LIKE_THE_PAPER]
    for layer in other[:4]:
        layer[:3] = ["vertical"] * 3
    table = compare(partitions, None, parents={KEY: partition(other)})
    row = claims(table).loc["types-kept-in-fine-tuning"]
    assert (row["verdict"], row["ours"]) == ("fails", pytest.approx(100 * 30 / 42))
    table = compare(partitions, None, parents={KEY: partition(other, doubtful=("dense",))})
    assert claims(table).loc["types-kept-in-fine-tuning", "reason"] == "doubtful name in the parent: dense"


def test_the_first_of_two_equal_conditions_counts():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    table = ablations(partitions, published())
    twin = table[table["id"] == 2].assign(condition="condition 3", exact_match=1.0)
    table = compare(partitions, pd.concat([table, twin]), intervals={KEY: around(published(), 1)})
    assert figures(table).loc["2.exact_match", "ours"] == 79.92
    assert not figures(table).index.duplicated().any()


def test_the_page_has_verdicts_before_figures_and_becomes_html(like_the_paper):
    page = comparison_page(like_the_paper, REFERENCE)
    places = [
        page.index(text)
        for text in (
            "exact match: no longer works (below 25), still works (above 50) and",
            "## bert, squad-kmeans-k4",
            "1,000 questions.",
            "| zero-diagonal-breaks |",
            "What decides:",
            "### Section 4\n",
            "### Section 4, Table 1",
            "### Section 5, Table 2",
            "### Section 5, Table 3",
            "## Notes",
        )
    ]
    assert places == sorted(places)
    html = to_html(page, {})
    assert html.count("<table>") == 6
    assert "nan" not in page.lower().replace("guan", "")
