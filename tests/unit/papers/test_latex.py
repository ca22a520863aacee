"""The papers' tables as LaTeX, from the documented runs: the columns that the papers print, in every row."""

import re

import pandas as pd
import pytest

from headtypes.core.tables import latex
from headtypes.papers.guan2020.table_pages import ablation_values
from headtypes.papers.registry import PAPERS
from tests.support.summaries import RESULTS, made_results

HEADERS = {
    "types": r"model & types from & agree, heads & agree, samples & agree, pairs & dense \% & diagonal \%"
    r" & dense\_vertical \% & vertical \%",
    "ablations": "ID & condition & heads & EM & drop of EM & F1 & drop of F1",
    "relations": "relation & head & direction & accuracy & best offset & of the offset & lead",
    "coreference": "system & guess among & head & all & pronoun & proper & nominal",
    "probes": "system & UAS & starts",
}


@pytest.mark.parametrize("name", HEADERS)
def test_each_row_has_the_columns_that_the_paper_prints(name, tmp_path):
    (of_paper,) = (each for paper in PAPERS.values() for each in paper.tables if each.name == name)
    path, *_ = made_results(tmp_path)[name]
    text = latex(of_paper.shown(path, *("2" for _ in of_paper.of)))
    found = re.findall(r"\\begin{tabular}{(\w+)}\n\\toprule\n(.*?)\\bottomrule\n\\end{tabular}", text, re.DOTALL)
    assert len(found) == text.count("tabular") / 2 > 0
    for aligned, rows in found:
        header, middle, *lines = rows.splitlines()
        assert [header, middle] == [rf"{HEADERS[name]} \\", r"\midrule"]
        assert lines
        for line in lines:
            assert line.endswith(r" \\")
            assert len(re.findall(r"(?<!\\)&", line)) == len(aligned) - 1 == header.count("&")
            assert not re.search(r"(?<!\\)[%#_$]", line)


def test_tables_2_and_3_as_csv_have_what_the_paper_prints_with_intervals():
    table = pd.read_csv(RESULTS / "demo/table2.csv")
    printed = ablation_values(table)
    pd.testing.assert_frame_equal(printed, table[printed.columns])
    scores = ["exact_match", "drop_exact_match", "f1", "drop_f1"]
    ends = [name.replace("*", score) for score in scores for name in ("*", "*_low", "*_high", "published_*")]
    assert list(printed) == ["model", "partition", "id", "condition", "heads", "n_questions", *ends]
