"""The paper's tables: every figure in its row, the published one beside it, doubtful names marked."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from headtypes.markdown import markdown_table
from headtypes.partitions import Partition
from headtypes.reference import load_reference
from headtypes.tables import ablation_page, ablation_table, stability_page, stability_table
from headtypes.type_names import TYPES

REFERENCE = load_reference(Path(__file__).parents[2] / "reference" / "guan2020.yaml")


def partition(types: list[str], doubtful: str = "") -> Partition:
    rows = [{"layer": 0, "head": head, "type": name, "doubtful": name == doubtful} for head, name in enumerate(types)]
    return Partition(pd.DataFrame(rows))


def stability(value: float) -> dict:
    return {half: {"all_agree": value, "pairwise": value + 1} for half in ("heads", "samples")}


def row(condition: str, operations: dict, model: str = "m", of: str = "p") -> dict:
    return {"model": model, "partition": of, "condition": condition, "operations": operations}


def scores(exact_match: float, f1: float) -> dict:
    return {"exact_match": exact_match, "f1": f1, "n_questions": 1000}


def test_table_1_has_the_four_stabilities_the_shares_and_the_published_figure():
    rows = [{"model": "a", "partition": "p", "published": "mnli"}, {"model": "b", "partition": "p", "published": None}]
    partitions = [partition(["dense", "dense", "vertical", "diagonal"], "vertical"), partition(["type-1", "type-2"])]
    table = stability_table(rows, partitions, [stability(90), stability(80)], REFERENCE)
    assert table.loc[0, "published_stability"] == 94.37
    assert np.isnan(table.loc[1, "published_stability"])
    assert table["heads_pairwise"].tolist() == [91, 81]
    assert table.loc[0, ["share_dense", "share_diagonal", "share_vertical"]].tolist() == [50, 25, 25]
    assert table["doubtful"].tolist() == ["vertical", ""]
    page = stability_page(table, REFERENCE)
    assert "| a | p | 94.37 | 90.00 | 91.00 | 90.00 | 91.00 |" in page
    assert "| published |  | 26.04 | 25.56 | 13.28 |" in page


def test_tables_2_and_3_have_the_papers_order_and_figures():
    rows = [
        row("mine", {"dense": "zero", "diagonal": "uniform"}),
        row("inter", {"diagonal": "drop_inter", "dense": "keep"}),
        row("without dense", {"dense": "zero"}),
        row("baseline", {}),
    ]
    metrics = [scores(10, 20), scores(70, 80), scores(60, 65), scores(75, 85)]
    table = ablation_table(rows, {("m", "p"): partition(list(TYPES))}, metrics, REFERENCE)
    assert table["condition"].tolist() == ["baseline", "without dense", "mine", "inter"]
    assert table["table"].tolist() == [2, 2, 2, 3]
    assert table["id"].tolist()[:2] == [1, 2]
    assert pd.isna(table.loc[2, "id"])
    assert table["drop_exact_match"].tolist() == [0, 15, 65, 5]
    assert table["published_exact_match"].tolist()[:2] == [82.85, 79.92]
    assert table.loc[1, "published_drop_exact_match"] == pytest.approx(2.93)
    assert table.loc[3, "published_drop_f1"] == pytest.approx(-0.23)


def test_a_page_has_a_section_per_partition_with_its_own_types_and_baseline():
    partitions = {
        ("m", "p"): partition(list(TYPES), doubtful="vertical"),
        ("m", "mine"): partition(["odd", "even"]),
    }
    rows = [row("baseline", {}), row("odd", {"odd": "zero"}, of="mine"), row("x", {"vertical": "drop_intra"})]
    table = ablation_table(rows, partitions, [scores(50, 60), scores(40, 50), scores(30, 40)], REFERENCE)
    second, third = (ablation_page(table, partitions, number) for number in (2, 3))
    assert "| ID | condition | dense | diagonal | dense_vertical | [vertical] | Acc. |" in second
    assert "| ID | condition | even | odd | Acc. |" in second
    assert "1,000 questions. Types in brackets have a doubtful name" in second
    assert "| 1 | baseline |" in third
    assert "drop_intra" in third
    # Without a baseline there is no drop to speak of, and none is made up.
    assert "|  | odd |  | zero | 40.00 |  |  |  | 50.00 |  |  |  |" in second


def test_a_type_is_doubtful_where_its_name_is():
    assert partition(["dense", "vertical"], "vertical").doubtful == ("vertical",)


def test_markdown_shows_numbers_as_numbers_and_nothing_as_nothing():
    table = pd.DataFrame({"name": ["a", None], "figure": [1.005, np.nan], "whole": pd.array([3, None], "Int64")})
    assert markdown_table(table) == ("| name | figure | whole |\n| --- | ---: | ---: |\n| a | 1.00 | 3 |\n|  |  |  |\n")
