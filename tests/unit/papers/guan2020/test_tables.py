"""The paper's tables: every figure in its row, the published one beside it, doubtful names marked."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.partitions import Partition
from headtypes.papers.guan2020.tables import (
    ablation_page,
    ablation_shown,
    ablation_table,
    ablation_values,
    reservations,
    shortages,
    stability_page,
    stability_shown,
    stability_table,
    with_published,
)
from tests.support.planted import typed
from tests.support.summaries import RESULTS
from tests.unit.papers.guan2020.test_claims import REFERENCE


def partition(types: list[str], doubtful: str = "") -> Partition:
    return typed([types], [doubtful])


ALL_TYPES = partition(list(TYPES))


def stability(value: float) -> dict:
    halves = enumerate(("heads", "samples", "pairs"), value)
    known = {half: {"all_agree": agree, "pairwise": agree + 0.5} for agree, half in halves}
    return known | {"own_cluster": 70.0, "gaps": None}


def row(condition: str, operations: dict, model: str = "m", of: str = "p") -> dict:
    done = {"model": model, "partition": of, "condition": condition, "operations": operations}
    return done | {"published": "squad", "questions": None, "control_questions": 100}


def scores(exact_match: float, f1: float) -> dict:
    return {"exact_match": exact_match, "f1": f1, "n_questions": 1000}


def pair_scores(accuracy: float, f1: float | None = None) -> dict:
    return {"accuracy": accuracy, **({} if f1 is None else {"f1": f1}), "n_pairs": 8}


def tabulated(rows, metrics, intervals=None, controls=None, partitions=None) -> pd.DataFrame:
    keys = [(each["model"], each["partition"], each["condition"]) for each in rows]
    partitions, metrics = partitions or {key[:2]: ALL_TYPES for key in keys}, dict(zip(keys, metrics, strict=True))
    return ablation_table(rows, partitions, metrics, REFERENCE, intervals=intervals or {}, controls=controls or {})


def ends(conditions: list[str], first: float, metrics=("exact_match", "f1")) -> pd.DataFrame:
    of_metric = [f"{end}{unit}" for unit in ("", "_by_article") for end in ("low", "high")]
    names = [f"{kind}{metric}_{end}" for metric in metrics for kind in ("", "drop_") for end in of_metric]
    figures = first + np.arange(len(conditions) * len(names), dtype=float).reshape(len(conditions), -1)
    return pd.DataFrame(figures, columns=names).assign(condition=conditions)


def test_table_1_has_the_six_stabilities_the_shares_and_the_published_figure():
    about = {"partition": "p", "samples_asked": 1000}
    rows = [about | {"model": "a", "published": "mnli"}, about | {"model": "b", "published": None}]
    a, b = ("a", "p"), ("b", "p")
    partitions = {a: partition(["dense", "dense", "vertical", "diagonal"], "vertical"), b: partition(["x", "y"])}
    stabilities = {a: stability(90), b: stability(80) | {"pairs": None}}
    table = stability_table(rows, partitions, stabilities, {a: 1000, b: 300}, REFERENCE)
    assert table.loc[0, "published_stability"] == 94.37
    assert np.isnan(table.loc[1, "published_stability"])
    assert table["heads_pairwise"].tolist() == [90.5, 80.5]
    assert table.loc[0, "pairs_all_agree"] == 92
    assert table.loc[1, ["pairs_all_agree", "pairs_pairwise"]].isna().all()
    assert table.loc[0, ["share_dense", "share_diagonal", "share_vertical"]].tolist() == [50, 25, 25]
    assert table["doubtful"].tolist() == ["vertical", ""]
    assert reservations(table) == ["b, p: 1,000 samples were asked for, and there are 300."]
    page = stability_page(table, REFERENCE)
    assert "| a | p | 94.37 | 90.00 | 91.00 | 92.00 | 90.50 | 91.50 | 92.50 | 70.00 |  |" in page
    assert "| a | p | 1000 | 50.00 | 25.00 | 25.00 |  |  | vertical |" in page
    assert "| published |  |  | 26.04 | 25.56 | 13.28 |" in page
    rows = stability_shown(with_published(table, REFERENCE)).latex().split(r"\midrule")[1].splitlines()
    assert rows[3].startswith("published &  &  &  &  & 26.04 & 25.56 & 13.28 &")
    assert len(with_published(table[1:], REFERENCE)) == 1


def test_heads_that_are_all_alike_and_few_samples_are_told_where_types_are_shown():
    dips = {"alike": (1.0, 1.0), "undecided": (25.0, 5.0), "apart": (25.0, 25.0)}
    gaps = {name: {"line": line, "paths": paths} for name, (line, paths) in dips.items()} | {"unknown": None}
    rows = [{"model": name, "partition": "p", "published": None, "samples_asked": 5} for name in gaps]
    stabilities = {(name, "p"): stability(90) | {"gaps": of_model} for name, of_model in gaps.items()}
    samples = dict.fromkeys(stabilities, 100) | {("apart", "p"): 5}
    table = stability_table(rows, dict.fromkeys(stabilities, ALL_TYPES), stabilities, samples, REFERENCE)
    found = reservations(table)
    assert found == [
        "alike, p: no gaps between heads are shown, so that there may be no types.",
        "undecided, p: no gaps between heads are shown, so that there may be no types.",
        "apart, p: 5 samples are few, where the paper has 1,000: others may give other types.",
    ]
    page = stability_page(table, REFERENCE)
    assert all(sentence in page and sentence in stability_shown(table).in_brief().about for sentence in found)
    assert table["gaps_p"].isna().tolist() == [False, False, False, True]


def test_tables_2_and_3_have_the_papers_order_and_figures():
    rows = [row("mine", {"dense": "zero", "diagonal": "uniform"}), row("inter", {"diagonal": "drop_inter"})]
    rows += [row("without dense", {"dense": "zero"}), row("baseline", {})]
    metrics = [scores(10, 20), scores(70, 80), scores(60, 65), scores(75, 85)]
    table = tabulated(rows, metrics)
    assert table["condition"].tolist() == ["baseline", "without dense", "mine", "inter"]
    assert table["table"].tolist() == [2, 2, 2, 3]
    assert table["id"].tolist()[:2] == [1, 2]
    assert pd.isna(table.loc[2, "id"])
    assert table["drop_exact_match"].tolist() == [0, 15, 65, 5]
    assert table["published_exact_match"].tolist()[:2] == [82.85, 79.92]
    assert table.loc[1, "published_drop_exact_match"] == pytest.approx(2.93)
    assert table.loc[3, "published_drop_f1"] == pytest.approx(-0.23)
    # Scores are published for one model, and beside others there are none.
    for other in (None, "mrpc"):
        beside = tabulated([row | {"published": other} for row in rows], metrics)
        assert beside["id"].tolist()[:2] == [1, 2]
        assert beside[[name for name in beside if name.startswith("published_")]].isna().all(axis=None)


def test_a_page_has_a_section_per_partition_with_its_own_types_and_baseline():
    partitions = {("m", "p"): partition(list(TYPES), "vertical"), ("m", "mine"): partition(["odd", "even"])}
    rows = [row("baseline", {}), row("odd", {"odd": "zero"}, of="mine"), row("x", {"vertical": "drop_intra"})]
    table = tabulated(rows, [scores(50, 60), scores(40, 50), scores(30, 40)], partitions=partitions)
    second, third = (ablation_page(table, number) for number in (2, 3))
    for label in ("EM", "F1"):
        assert second.count(f"| ID | condition | heads | {label} | drop |") == 2
    doubt = "Doubtful, since the name does not fit what the heads look at: vertical."
    assert f"## m, p\n\n1,000 questions. {doubt}\n" in second
    assert "## m, mine\n\n1,000 questions.\n" in second
    assert "| 1 | baseline |" in third
    assert "|  | x | 1 | 30.00 | 20.00 |" in third
    # Without a baseline there is no drop to speak of, and none is made up.
    assert "|  | odd | 1 | 40.00 |  |" in second


def test_every_row_has_the_ends_of_its_own_intervals():
    keys = [("m", "p"), ("m", "q"), ("n", "p")]
    done = {"c0": {"vertical": "drop_intra"}, "c1": {"dense": "zero"}, "c2": {}}
    rows = [row(name, operations, *key) for key in keys for name, operations in done.items()]
    # Each of them in an order of its own, and one partition without.
    intervals = {keys[2]: ends(["c2", "c0", "c1"], 0), keys[0]: ends(["c1", "c2", "c0"], 1000)}
    table = tabulated(rows, [scores(50, 60), scores(51, 61), scores(52, 62)] * 3, intervals)
    by_name = table.set_index(["model", "partition", "condition"]).sort_index()
    columns = [name for name in intervals[keys[0]] if name != "condition"]
    for key, given in intervals.items():
        for _, expected in given.iterrows():
            assert by_name.loc[(*key, expected["condition"]), columns].tolist() == expected[columns].tolist()
    assert by_name.loc[keys[1], columns].isna().all(axis=None)
    first, second, third = ablation_page(table, 2).split("## ")[1:]
    assert "| 2 | c1 | 1 | 51.00 [1000.00, 1001.00] | 1.00 [1004.00, 1005.00] | 79.92 | 2.93 |\n" in first
    assert "| 2 | c1 | 1 | 61.00 | 1.00 | 87.62 |" in second
    assert "| 2 | c1 | 1 | 51.00 [32.00, 33.00] | 1.00 [36.00, 37.00] |" in third


def control(drop: float) -> dict:
    figures = {"control_draws": 3, "control_questions": 100, "control_overlap": 0.25}
    for metric in ("exact_match", "f1"):
        name = f"control_drop_{metric}"
        figures |= {name: drop, f"{name}_low": drop - 1, f"{name}_high": drop + 2, f"own_drop_{metric}": drop + 5}
        drop += 50
    return figures


def test_controls_stand_beside_the_condition_that_they_are_of():
    rows = [row("baseline", {}), row("zero", {"dense": "zero"}), row("intra", {"dense": "drop_intra"})]
    rows += [each | {"model": "n"} for each in rows[:2]]
    given = {("n", "p", "zero"): control(7), ("m", "p", "zero"): control(3)}
    table = tabulated(rows, [scores(50, 60)] * 5, controls=given)
    by_name = table.set_index(["model", "condition"])
    for (model, _, condition), expected in given.items():
        assert by_name.loc[(model, condition), list(expected)].to_dict() == expected
    assert by_name.drop(index=[("m", "zero"), ("n", "zero")])[list(expected)].isna().all(axis=None)
    first, second = ablation_page(table, 2).split("## ")[1:]
    assert first.count("Beside 3 draws of as many heads of each layer on 100 questions.\n") == 2
    assert "| 2 | zero | 8.00 | 3.00 (2.00 to 5.00) | 25 |\n" in first
    assert "| 2 | zero | 58.00 | 53.00 (52.00 to 55.00) | 25 |\n" in first
    assert "| 2 | zero | 12.00 | 7.00 (6.00 to 9.00) | 25 |\n" in second
    said = "Random heads: 3 draws of as many heads of each layer, on 100 of them; none is tested."
    assert said in next(ablation_shown(table, 2)).about
    # No condition of Table 3 was set beside any.
    assert "andom heads" not in ablation_page(table, 3)


def accuracy_controls() -> dict:
    renamed = {name.replace("exact_match", "accuracy"): value for name, value in control(1).items()}
    return {name: value for name, value in renamed.items() if not name.endswith("f1") and "_f1_" not in name}


def test_pairs_have_accuracy_and_nothing_published():
    done = {"zero": {"dense": "zero"}, "baseline": {}, "inter": {"diagonal": "drop_inter"}}
    rows = [row(name, operations, model) for model in "mn" for name, operations in done.items()]
    rows += [row("baseline", {}, "q"), row("zero", {"dense": "zero"}, "q")]
    # Two labels have an F1, three have none; and a task of questions beside them.
    metrics = [pair_scores(60, 70), pair_scores(80, 95), pair_scores(75, 85)]
    metrics += [pair_scores(40), pair_scores(50), pair_scores(55), scores(10, 20), scores(5, 10)]
    intervals = {(model, "p"): ends(list(done), 0, ["accuracy"]) for model in "mn"}
    table = tabulated(rows, metrics, intervals, {("m", "p", "zero"): accuracy_controls()})
    pairs = table[table["model"] != "q"].set_index(["model", "condition"])
    assert pairs["accuracy"].tolist() == [80, 60, 75, 50, 40, 55]
    assert pairs["drop_accuracy"].tolist() == [0, 20, 5, 0, 10, -5]
    assert pairs.loc["m", "drop_f1"].tolist() == [0, 25, 10]
    assert pairs.loc["n", ["f1", "drop_f1"]].isna().all(axis=None)
    assert pairs.filter(regex="published|exact_match|f1_low|f1_high").isna().all(axis=None)
    assert table[table["model"] == "q"]["published_exact_match"].tolist() == [82.85, 79.92]
    of_m, of_n, of_q = ablation_page(table, 2).split("## ")[1:]
    assert "8 pairs." in of_m
    assert "| heads | F1 | drop |\n" in of_m
    assert "| 60.00 [0.00, 1.00] | 20.00 [4.00, 5.00] |" in of_m
    assert "| 2 | zero | 6.00 | 1.00 (0.00 to 3.00) | 25 |" in of_m
    assert "| heads | Acc. | drop |\n" in of_n
    assert "| heads | EM | drop | published | drop published |\n" in of_q


def test_texts_have_losses_that_rise_and_no_column_of_theirs_is_there_without_them():
    done = {"zero": {"dense": "zero"}, "baseline": {}}
    rows = [row(*each) for each in done.items()] + [row("baseline", {}, "q")]
    counts = {"n_documents": 7, "n_tokens": 900}
    metrics = [{"loss": 3.5, "perplexity": 33.1} | counts, {"loss": 3.25, "perplexity": 25.8} | counts, scores(50, 60)]
    of_control = {name.replace("accuracy", "loss"): value for name, value in accuracy_controls().items()}
    controls = {("m", "p", "zero"): of_control | {"control_questions": 4}}
    table = tabulated(rows, metrics, {("m", "p"): ends(list(done), 0, ["loss"])}, controls)
    of_text = table[table["model"] == "m"].set_index("condition")
    assert of_text["loss"].to_dict() == {"baseline": 3.25, "zero": 3.5}
    assert of_text["drop_loss"].to_dict() == {"baseline": 0, "zero": 0.25}
    assert of_text["perplexity"].to_dict() == {"baseline": 25.8, "zero": 33.1}
    page = ablation_page(table, 2)
    of_m, of_q = page.split("## ")[1:]
    assert "\n7 documents.\n" in of_m
    assert "on 4 documents (100 asked for)." in of_m
    assert "on 1 document (100 asked for)." in ablation_page(table.assign(control_questions=1), 2)
    assert "| heads | Loss | perplexity | rise |\n" in of_m
    assert "| rise of Loss, own | random |" in of_m
    assert "| 6.000 | 1.000 (0.000 to 3.000) | 25 |" in of_m
    assert "Loss" not in of_q
    assert shortages(table) == ["m, p: 100 documents for random heads were asked for, and there are 4."]
    without = tabulated(rows[2:], metrics[2:])
    assert not [name for name in without if "loss" in name or "perplexity" in name]


def test_tables_2_and_3_as_csv_have_what_the_paper_prints_with_intervals():
    table = pd.read_csv(RESULTS / "demo/table2.csv")
    printed = ablation_values(table)
    pd.testing.assert_frame_equal(printed, table[printed.columns])
    scores = ["exact_match", "drop_exact_match", "f1", "drop_f1"]
    ends = [name.replace("*", score) for score in scores for name in ("*", "*_low", "*_high", "published_*")]
    assert list(printed) == ["model", "partition", "id", "condition", "heads", "n_questions", *ends]
