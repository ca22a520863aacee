"""The pages about Python are one program each, and they run: every recipe on small models, as it stands there."""

import json
import re

import numpy as np
import pytest
import torch

from headtypes.api.ablation import ablated
from headtypes.core.table_files import write_csv
from tests.docs.pages import blocks, parts_of, run_python
from tests.support.models import saved, tiny_bert, tiny_language_model
from tests.support.places import ROOT
from tests.support.planted import typed
from tests.support.records import classifier


@pytest.fixture
def folder(tmp_path, monkeypatch):
    saved(*classifier(tiny_bert), tmp_path / "models/classifier")
    saved(*tiny_language_model("llama"), tmp_path / "models/decoder")
    model, tokenizer = tiny_bert()
    saved(model, tokenizer, tmp_path / "results/models/minilm-qa")
    partition = tmp_path / "results/partitions/minilm-qa/qa-kmeans-k4.csv"
    partition.parent.mkdir(parents=True)
    types = np.full((model.config.num_hidden_layers, model.config.num_attention_heads), "dense", dtype=object)
    types[0] = "diagonal"
    columns = {"cluster": 0, "silhouette": 0.0, "near": 0.1, "special": 0.1, "far": 0.1}
    write_csv(partition, typed(types, **columns).table)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("tool", "part"),
    [
        (None, "`head_mask` of Transformers"),
        ("transformer_lens", "TransformerLens"),
        ("nnsight", "nnsight"),
        ("bertviz", "BertViz"),
        ("lm_eval", "The Language Model Evaluation Harness"),
    ],
)
def test_other_tools_find_the_heads_that_are_typed_or_ablated(tool, part, folder):
    if tool is not None:
        pytest.importorskip(tool)
    (beginning, *_), parts = parts_of("docs/run/other-tools.md").values(), parts_of("docs/run/other-tools.md")
    (folder / "tasks").mkdir()
    for suffix, language in (("yaml", "yaml"), ("jsonl", "json")):
        for block in blocks(parts[part], language):
            (folder / f"tasks/animals.{suffix}").write_text(block)
    names = run_python([beginning, parts[part]])
    model = names["model"]
    with torch.inference_mode():
        plain = model(**names["inputs"]).logits
        with ablated(model, {"type-1": "zero"}, partition=names["types"]):
            without = model(**names["inputs"]).logits
    assert not torch.allclose(plain, without, atol=1e-3)
    if "without" in names:
        torch.testing.assert_close(names["without"], without, atol=1e-4, rtol=1e-4)
    if tool is None:
        assert not torch.allclose(names["masked"], plain, atol=1e-3)


def test_the_recipes_run_and_do_what_they_say(folder, capsys):
    names = run_python(parts_of("docs/run/python.md").values())
    printed = capsys.readouterr().out
    answers = re.findall(r"^\[\{'label'.*$", printed, re.MULTILINE)
    assert len(set(answers)) == len(answers) == 3
    assert (folder / "heads.html").stat().st_size > 10_000
    assert (folder / "head.pdf").read_bytes().startswith(b"%PDF")
    assert re.search(r"^\S+ looks most at \S+: \d+%$", printed, re.MULTILINE)
    prompt, decoder = names["prompt"], names["decoder"]
    with torch.inference_mode():
        assert decoder(**prompt).logits.isfinite().all()
    assert names["written"].shape[1] == prompt["input_ids"].shape[1] + 20
    assert set(re.findall(r"^\d-\d$", printed, re.MULTILINE)) == {
        f"{layer + 1}-{head + 1}" for layer, head in names["types"].heads_of("type-1")
    }
    assert names["mask"].sum() == len(names["types"].heads_of("type-1"))
    assert re.findall(r"^without (\w+):", printed, re.MULTILINE) == ["dense", "diagonal"]


@pytest.mark.slow
def test_the_notebook_runs_and_holds_no_outputs(monkeypatch):
    """Without a kernel: its cells are plain Python, run in one namespace in the order they stand in."""
    notebook = json.loads((ROOT / "docs/run/heads.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(ROOT / "docs/run")
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), "docs/run/heads.ipynb", "exec"), names)
    assert len(names["page"]._repr_html_()) > 10_000
    assert "previous" in set(names["detected"]["detector"])
    assert {name for name, *_ in names["rows"]} == set(names["types"].types)
    for name, heads, zero, uniform, random in names["rows"]:
        assert heads == len(names["types"].heads_of(name))
        assert min(zero, uniform, random) > 1e-3
    assert names["found"]["drop_intra"] > 1e-3
