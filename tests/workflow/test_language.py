"""What single heads know of language, from a model to the second paper's tables, its Figure 5 and its claims."""

import pandas as pd
import pytest

from tests.support.demo import demo_task
from tests.support.models import saved, tiny_bert
from tests.workflow.conftest import Workdir

pytestmark = pytest.mark.slow


def test_a_treebank_and_documents_are_enough_for_the_tables_and_the_claims(tmp_path):
    saved(*tiny_bert(layers=2, heads=4, head_size=4), tmp_path / "bert")
    tasks = {"trees": demo_task(tmp_path, "treebank", 40, 20), "stories": demo_task(tmp_path, "coreference", 8)}
    bert = {"source": {"folder": str(tmp_path / "bert")}, "tasks": list(tasks), "published": {"clark2019": "base"}}
    config = {
        "tasks": tasks,
        "models": {"bert": bert},
        "relations": {"least": 20},
        "probes": {"seeds": 2},
        "select": {"models": ["bert"], "tasks": list(tasks)},
    }
    results = Workdir.at(tmp_path / "work", config).make("clark2019", "results/clark2019/comparison.csv") / "clark2019"
    table = pd.read_csv(results / "comparison.csv", keep_default_na=False).set_index(["task", "id"])
    assert table.loc[("trees", "no-head-does-all"), "verdict"] in ("holds", "fails", "open")
    assert table.loc[("trees", "probe-words"), "verdict"] in ("holds", "fails", "open")
    assert table.loc[("stories", "coreference-near-rules"), "verdict"] in ("holds", "fails", "open")
    assert table.loc[("trees", "relation.all.accuracy"), "published"] == "34.5"
    assert table.loc[("", "sep-middle"), "reason"] == "the model reads no text"
    relations = pd.read_csv(results / "table1.csv").set_index(["relation", "scored"])
    for scored, id_ in (("file", "relation.all.accuracy"), ("file", "relation.det.accuracy")):
        name = id_.split(".")[1]
        row = relations.loc[[(name, scored)]].query("paper == @name").iloc[0]
        assert float(table.loc[("trees", id_), "ours"]) == round(row["accuracy"], 7)
