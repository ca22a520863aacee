import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
)

from headtypes.core.errors import InputError
from headtypes.data.kinds.sentence_pair import Pair
from headtypes.data.tasks import KINDS
from headtypes.models.fetching import fetch_model
from headtypes.training import finetuning
from headtypes.training.finetuning import _batch_of, _plan_order, finetune_model
from tests.support.demo import demo_rows
from tests.support.records import PAIRS, pair_windows
from tests.support.tiny import gpt2_tokenizer, truncating_tokenizer

# On the 60 questions, which are 171 windows, these are 12 steps.
SETTINGS = {"learning_rate": 5e-3, "batch_size": 8, "epochs": 0.55, "max_seq_length": 128}
ASKED = {**SETTINGS, "kind": "question_answering"}
PAIRED = {**SETTINGS, "kind": "sentence_pair"}
FEW_PAIRS = [Pair(str(number), "the", "was", number % 2) for number in range(4)]


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def changed(encoder, **config):
    file = Path(encoder.folder, "config.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), **config}))
    return fetch_model(encoder.name, {"folder": encoder.folder})


def test_a_base_that_cannot_tell_padding_is_refused_for_pairs(encoder, tmp_path):
    encoder = changed(encoder, pad_token_id=None)
    with pytest.raises(InputError, match=f"^{encoder.folder} has no pad_token_id"):
        finetune_model(encoder, FEW_PAIRS, tmp_path / "made", **PAIRED)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("further", "layers", "told"),
    [({}, 2, "its weights lack bert.encoder.layer.1."), ({"encoder.layer.1.w": torch.ones(1)}, 1, "does not take, ")],
)
def test_a_base_whose_weights_are_not_those_of_its_config_is_refused(
    encoder, questions, further, layers, told, tmp_path
):
    weights = Path(encoder.folder, "model.safetensors")
    save_file({**load_file(weights), **further}, weights, metadata={"format": "pt"})
    encoder = changed(encoder, num_hidden_layers=layers)
    with pytest.raises(InputError, match=told):
        finetune_model(encoder, questions[:8], tmp_path / "made", **ASKED)


@pytest.mark.same_bits
def test_no_unit_is_dropped_where_none_is_to_be(encoder, questions, tmp_path):
    def train(name, **settings):
        finetune_model(encoder, questions[:8], tmp_path / name, **{**ASKED, "epochs": 1.0}, **settings)

    train("dropped")
    train("kept", dropout=False)
    encoder = changed(encoder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    train("rates")
    assert same(tmp_path / "kept", tmp_path / "rates")
    assert not same(tmp_path / "kept", tmp_path / "dropped")


@pytest.fixture(scope="module")
def questions():
    return demo_rows("question_answering", 60, "train")


@pytest.fixture(scope="module")
def tokenizer(questions):
    """Truncates and pads by itself, as some published ones do, which must not reach the features."""
    return truncating_tokenizer(["the", "was", "in", "by", "who", "when", "where", "did", "which"])


@pytest.fixture
def encoder(tmp_path, tokenizer):
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=512,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(3)
        BertModel(config).save_pretrained(tmp_path / "encoder")
    tokenizer.save_pretrained(tmp_path / "encoder")
    return fetch_model("tiny", {"folder": str(tmp_path / "encoder")})


def same(first, second):
    first, second = load_file(first / "model.safetensors"), load_file(second / "model.safetensors")
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def killed_at(monkeypatch, step, call):
    go_on = finetuning._Progress.on_step_end

    def broken(self, args, state, control, **kwargs):
        go_on(self, args, state, control, **kwargs)
        if state.global_step == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(finetuning._Progress, "on_step_end", broken)
        with pytest.raises(KeyboardInterrupt):
            call()


def test_order_uses_every_sample_once_a_pass_and_pads_little():
    lengths = np.random.default_rng(0).integers(20, 120, size=800)
    order = _plan_order(lengths, 8, 250, np.random.default_rng(1))
    assert len(order) == 2000
    counts = np.bincount(order, minlength=800)
    assert set(counts[:800]) == {2, 3}
    assert counts.sum() == 2000
    padded = sum(8 * lengths[order[i : i + 8]].max() for i in range(0, 2000, 8))
    assert padded < 1.05 * lengths[order].sum()
    means = [lengths[order[i : i + 8]].mean() for i in range(0, 400, 8)]
    assert abs(np.corrcoef(means, range(50))[0, 1]) < 0.4
    assert order == _plan_order(lengths, 8, 250, np.random.default_rng(1))


def test_padding_follows_the_text_whatever_the_tokenizer_would_do():
    """Else the places of answers would shift; and some tokenizers know no padding, or no mask."""
    tokenizer = gpt2_tokenizer(["the", "cat"])
    tokenizer.padding_side = "left"
    tokenizer.model_input_names = ["input_ids"]
    windows = pair_windows(PAIRS, tokenizer, max_length=64)
    targets, _ = KINDS["sentence_pair"].training_targets(PAIRS, windows)
    batch = _batch_of(windows, targets, 7, [3, 1, 0])
    assert batch["labels"].tolist() == [0, 0, 1]
    for window, ids, mask in zip([3, 1, 0], batch["input_ids"].tolist(), batch["attention_mask"].tolist(), strict=True):
        text = windows.input_ids[windows.tokens(window)].tolist()
        padding = len(mask) - len(text)
        assert ids == text + [7] * padding
        assert mask == [1] * len(text) + [0] * padding


def test_loss_falls_and_the_folder_is_whole(tmp_path, encoder, questions, monkeypatch, capfd):
    losses = []
    monkeypatch.setattr(
        finetuning._Progress, "on_log", lambda self, args, state, control, logs=None, **_: losses.append(logs)
    )
    out = tmp_path / "results" / "model"
    settings = {"learning_rate": 1e-2, "epochs": 36.5, "max_seq_length": 256, "freeze_embeddings": True}
    finetune_model(encoder, questions[:8], out, **{**ASKED, **settings})
    losses = [log["loss"] for log in losses if "loss" in log]
    assert losses[-1] < 0.75 * losses[0]
    assert [path.name for path in out.parent.iterdir()] == ["model"]
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in out.iterdir()}
    model = AutoModelForQuestionAnswering.from_pretrained(out)
    assert torch.equal(
        model.get_input_embeddings().weight, BertModel.from_pretrained(encoder.folder).get_input_embeddings().weight
    )
    saved = json.loads((out / "tokenizer.json").read_text())
    assert saved["truncation"] is None
    assert saved["padding"] is None
    assert len(AutoTokenizer.from_pretrained(out)("the " * 300)["input_ids"]) == 302
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "60/60" in captured.err


@pytest.mark.same_bits
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path, encoder, questions, monkeypatch):
    def run(out):
        finetune_model(encoder, questions, tmp_path / out, **ASKED)

    run("whole")
    killed_at(monkeypatch, 7, lambda: run("killed"))
    checkpoints = tmp_path / ".killed.checkpoints"
    assert [path.name for path in checkpoints.glob("checkpoint-*")] == ["checkpoint-6"]
    assert not (tmp_path / "killed").exists()
    half = checkpoints / "checkpoint-8"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    (half / "trainer_state.json").write_text('{"global_step": 8,')
    steps = []
    monkeypatch.setattr(
        finetuning._Progress, "on_step_end", lambda self, args, state, control, **_: steps.append(state.global_step)
    )
    run("killed")
    assert steps == list(range(7, 13))
    assert same(tmp_path / "whole", tmp_path / "killed")
    assert not checkpoints.exists()


@pytest.mark.same_bits
def test_a_run_with_other_settings_starts_anew(tmp_path, encoder, questions, monkeypatch):
    def run(out, rate):
        finetune_model(encoder, questions, tmp_path / out, **{**ASKED, "learning_rate": rate, "epochs": 0.18})

    killed_at(monkeypatch, 3, lambda: run("model", 1e-2))
    run("model", 1e-3)
    run("fresh", 1e-3)
    run("other", 1e-2)
    assert same(tmp_path / "model", tmp_path / "fresh")
    assert not same(tmp_path / "model", tmp_path / "other")


def test_pairs_are_learned_with_their_labels(tmp_path, encoder):
    rows = demo_rows("sentence_pair", 40, "train")
    pairs = [replace(row, label=("different", "same")[int(row.label)]) for row in rows]
    before = torch.random.get_rng_state()
    settings = {"learning_rate": 1e-3, "batch_size": 8, "epochs": 2.0, "max_seq_length": 64, "bf16": True}
    finetune_model(encoder, pairs, tmp_path / "model", kind="sentence_pair", **settings)
    assert torch.equal(before, torch.random.get_rng_state())
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["id2label"] == {"0": "different", "1": "same"}
    assert AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").dtype == torch.float32
