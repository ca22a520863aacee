"""The pages about Python are one program each, and they run: every recipe on small models, as it stands there."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from transformers import BertForQuestionAnswering

from headtypes.analyses.types.partitions import write_partition
from headtypes.api.ablation import ablated
from tests.support.models import WORDS, tiny_bert, tiny_language_model
from tests.support.places import ROOT
from tests.support.planted import typed
from tests.support.records import classifier


def parts_of(page: str) -> dict[str, str]:
    """The parts of a page, by their titles."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)}


PARTS = parts_of("docs/run/python.md")
HARNESS = "The Language Model Evaluation Harness on an ablated model"


def blocks(language: str, part: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", part, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the models that the page names."""
    for name, (model, tokenizer) in {
        "classifier": classifier(tiny_bert),
        "decoder": tiny_language_model("llama"),
    }.items():
        model.save_pretrained(tmp_path / "models" / name)
        tokenizer.save_pretrained(tmp_path / "models" / name)
    demo = tmp_path / "results/models/minilm-qa"
    BertForQuestionAnswering(model_config := tiny_bert()[0].config).save_pretrained(demo)
    tiny_bert()[1].save_pretrained(demo)
    partition = tmp_path / "results/partitions/minilm-qa/qa-kmeans-k4.csv"
    partition.parent.mkdir(parents=True)
    types = np.full((model_config.num_hidden_layers, model_config.num_attention_heads), "dense", dtype=object)
    types[0] = "diagonal"
    columns = {"cluster": 0, "silhouette": 0.0, "near": 0.1, "special": 0.1, "far": 0.1}
    write_partition(partition, typed(types, **columns))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(parts: Iterable[str]) -> dict:
    """The names that the blocks of some parts of a page leave behind, run in order."""
    names = {}
    for part in parts:
        for block in blocks("python", part):
            exec(compile(block, part.partition("\n")[0], "exec"), names)
    return names


def test_what_replaces_other_tools_does_what_they_did(folder):
    names = run(parts_of("docs/run/other-tools.md").values())
    model, inputs = names["model"], names["inputs"]
    with torch.inference_mode():
        logits = [names["without"], names["halved"], model(**inputs).logits]
        # A head mask scaled attention after the softmax, so that it scaled what the head hands over.
        values = model.base_model.encoder.layer[0].attention.output.dense
        size = model.config.hidden_size // model.config.num_attention_heads
        for scale, found in zip((0.0, 0.5, 1.0), logits, strict=True):
            scaled = torch.ones(model.config.hidden_size)
            scaled[2 * size : 3 * size] = scale
            with_mask = values.register_forward_pre_hook(lambda _, given, scaled=scaled: (given[0] * scaled,))
            torch.testing.assert_close(found, model(**inputs).logits)
            with_mask.remove()
    assert not torch.allclose(logits[0], logits[1])
    assert not torch.allclose(logits[1], logits[2])
    decoder, tokens = names["decoder"], len(names["tokens"])
    shape = (1, decoder.config.num_attention_heads, tokens, tokens)
    assert [layer.shape for layer in names["patterns"]] == [shape] * decoder.config.num_hidden_layers
    assert names["attentions"][0].shape[-1] == len(names["words"])
    assert "induction" in set(names["found"]["detector"])
    assert set(names["induction"].columns) == set(names["found"])
    heads = [(layer, head) for layer, heads in names["heads_of_layer"].items() for head in heads]
    assert heads == names["types"].heads_of("type-1")
    # BertViz writes what it is given as JSON.
    assert json.dumps(names["heads_of_layer"])
    assert (folder / "heads.html").stat().st_size > 10_000


def test_the_recipes_run_and_do_what_they_say(folder, capsys):
    names = run(part for title, part in PARTS.items() if title != HARNESS)
    printed = capsys.readouterr().out
    answers = re.findall(r"^\[\{'label'.*$", printed, re.MULTILINE)
    assert len(set(answers)) == len(answers) == 3
    assert (folder / "heads.html").stat().st_size > 10_000
    prompt, decoder = names["prompt"], names["decoder"]
    with torch.inference_mode():
        assert decoder(**prompt).logits.isfinite().all()
    assert names["written"].shape[1] == prompt["input_ids"].shape[1] + 20
    assert set(re.findall(r"^\d-\d$", printed, re.MULTILINE)) == {
        f"{layer + 1}-{head + 1}" for layer, head in names["types"].heads_of("type-1")
    }
    assert names["mask"].sum() == len(names["types"].heads_of("type-1"))
    assert re.findall(r"^without (\w+):", printed, re.MULTILINE) == ["dense", "diagonal"]


@pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm-eval is not installed (docs/run/python.md)")
def test_the_harness_evaluates_an_ablated_model(folder, capsys):
    from lm_eval.models.huggingface import HFLM

    (task,) = blocks("yaml", PARTS[HARNESS])
    (rows,) = blocks("json", PARTS[HARNESS])
    (folder / "tasks").mkdir()
    (folder / "tasks/animals.yaml").write_text(task)
    (folder / "tasks/animals.jsonl").write_text(rows)
    assert {word for row in map(json.loads, rows.splitlines()) for word in row["choices"]} <= set(WORDS)
    names = run(PARTS.values())
    model, tokenizer = names["decoder"], names["decoder_tokenizer"]
    texts = [(row["question"], word) for row in map(json.loads, rows.splitlines()) for word in row["choices"]]
    plain = [likelihood(model, tokenizer, *text) for text in texts]
    with ablated(model, {"1-1": "zero", "2-3": "zero"}):
        without = [likelihood(model, tokenizer, *text) for text in texts]
        harness = HFLM(pretrained=model, tokenizer=tokenizer)
        within = names["simple_evaluate"](harness, tasks=["animals"], task_manager=names["local"])
    (command,) = re.findall(r"^```\npython (.*?)\n```", PARTS[HARNESS], re.MULTILINE | re.DOTALL)
    called = f"{sys.executable} {command} --log_samples --output_path written"
    subprocess.run(called, shell=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "workflow_scripts")})
    (written,) = folder.glob("written/**/samples_*.jsonl")
    by_command = [json.loads(line) for line in written.read_text().splitlines()]
    assert plain != pytest.approx(without, abs=1e-3)
    for expected, samples in (
        (plain, names["plain"]["samples"]["animals"]),
        (without, names["without"]["samples"]["animals"]),
        (without, within["samples"]["animals"]),
        (without, by_command),
    ):
        samples = sorted(samples, key=lambda sample: sample["doc_id"])
        found = [float(answer[0]) for sample in samples for answer in sample["filtered_resps"]]
        assert found == pytest.approx(expected, abs=1e-4)


def likelihood(model, tokenizer, question: str, answer: str) -> float:
    """Log-likelihood of an answer, token by token."""
    asked, ids = (tokenizer(text, return_tensors="pt")["input_ids"] for text in (question, f"{question} {answer}"))
    with torch.inference_mode():
        of_next = model(ids).logits[0, :-1].log_softmax(-1)
    return sum(float(of_next[place - 1, ids[0, place]]) for place in range(asked.shape[1], ids.shape[1]))


def test_the_notebook_runs_and_holds_no_outputs(monkeypatch):
    """Without a kernel: its cells are plain Python, run in one namespace in the order they stand in."""
    notebook = json.loads((ROOT / "docs/run/heads.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    monkeypatch.setenv("MPLBACKEND", "agg")
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
