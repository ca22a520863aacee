"""What single heads look at, for a model that reads pairs of paragraphs and for one that reads from left to right."""

import pandas as pd

from tests.support.demo import demo_task
from tests.support.models import tiny_bert, tiny_family
from tests.workflow.conftest import Workdir

FIGURES = ("figure1", "figure2", "figure3", "figure4", "figure6")


def test_both_papers_are_compared_on_a_text_of_which_nothing_is_asked(tmp_path):
    for name, (model, tokenizer) in {
        "bert": tiny_bert(layers=3, heads=4, head_size=4),
        "gpt2": tiny_family("gpt2"),
    }.items():
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    models = {
        name: {"source": {"folder": str(tmp_path / name)}, "tasks": ["told"], "published": {"clark2019": "base"}}
        for name in ("bert", "gpt2")
    }
    config = {
        "tasks": {"told": demo_task(tmp_path, "text", 4) | {"samples": 6}},
        "models": models,
        "clustering": {"restarts": 5},
        "select": {"models": ["bert", "gpt2"], "tasks": ["told"]},
    }
    targets = ["results/clark2019/comparison.csv"]
    # Of the causal model, those that have something to leave out.
    figures = [("bert", figure) for figure in FIGURES] + [("gpt2", "figure1"), ("gpt2", "figure2")]
    targets += [f"results/clark2019/{model}/told/{figure}.png" for model, figure in figures]
    results = Workdir.at(tmp_path / "work", config).make(*targets)
    table = pd.read_csv(results / "clark2019/comparison.csv", keep_default_na=False).set_index(["model", "id"])
    assert table.loc[("bert", "previous-heads"), "verdict"] in ("holds", "fails", "open")
    assert table.loc[("gpt2", "next-heads"), "reason"] == "the model lets no token look at the next one"
    assert ("gpt2", "third.next.first") not in table.index
