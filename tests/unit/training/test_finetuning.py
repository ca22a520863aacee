import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
)

from headtypes.base.errors import InputError
from headtypes.tasks.squad import questions_of
from headtypes.training import finetuning
from headtypes.training.finetuning import FinetuningSettings, finetune_question_answering, finetune_sentence_pairs
from headtypes.training.inputs import encode_pairs, encode_questions, pad_batch, plan_order
from headtypes.world.tasks import make_paraphrases, make_question_answering

SETTINGS = FinetuningSettings(learning_rate=5e-3, batch_size=8, steps=12, max_seq_length=128, checkpoint_seconds=0.0)


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_process_has_its_gpu_before_cuda_starts(encoder, tokenizer, questions, tmp_path, monkeypatch):
    """To save the generators of random numbers starts it, on all GPUs that are visible then."""
    done, fork = [], torch.random.fork_rng
    monkeypatch.setattr(finetuning, "keep_to_one_gpu", lambda: done.append("gpu"))
    monkeypatch.setattr(torch.random, "fork_rng", lambda: (done.append("cuda"), fork())[1])
    finetune_question_answering(encoder, tokenizer, questions[:8], tmp_path / "made", replace(SETTINGS, steps=1))
    pairs = [{"first": "the", "second": "was", "label": 0}] * 4
    settings = replace(finetuning.SENTENCE_PAIRS, steps=1)
    finetune_sentence_pairs(encoder, tokenizer, pairs, ["no", "yes"], tmp_path / "other", settings)
    assert done == ["gpu", "cuda"] * 2


def test_the_disk_has_a_checkpoint_before_training_goes_on(encoder, tokenizer, questions, tmp_path, monkeypatch):
    """Else its state could be there after a loss of power, and its weights not."""
    held, fsync = set(), os.fsync

    def noted(descriptor):
        held.add(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)

    def train():
        finetune_question_answering(encoder, tokenizer, questions[:8], tmp_path / "made", replace(SETTINGS, steps=3))

    killed_at(monkeypatch, 2, train)
    (checkpoint,) = (tmp_path / ".made.checkpoints").glob("checkpoint-*")
    assert set(checkpoint.iterdir()) <= held


def test_a_base_that_cannot_tell_padding_is_refused_for_pairs(encoder, tokenizer, tmp_path):
    config = json.loads((encoder / "config.json").read_text())
    (encoder / "config.json").write_text(json.dumps({**config, "pad_token_id": None}))
    pairs = [{"first": "the", "second": "was", "label": 0}] * 4
    with pytest.raises(InputError, match=f"^{encoder} has no pad_token_id"):
        finetune_sentence_pairs(encoder, tokenizer, pairs, ["no", "yes"], tmp_path / "made", SETTINGS)
    assert not (tmp_path / "made").exists()


@pytest.fixture(scope="module")
def questions():
    return questions_of(make_question_answering(0, "train", 60), "world")


@pytest.fixture(scope="module")
def tokenizer(questions):
    text = " ".join(question["context"] + " " + question["question"] for question in questions).lower()
    letters = sorted(set(text) - {" "})
    words = [piece for letter in letters for piece in (letter, f"##{letter}")]
    common = ["the", "was", "in", "by", "who", "when", "where", "did", "which"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words, *common]
    backend = Tokenizer(WordPiece({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    backend.normalizer = BertNormalizer(lowercase=True)
    backend.pre_tokenizer = BertPreTokenizer()
    backend.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # As some published tokenizers do: truncation and padding of its own, which must not reach the features.
    backend.enable_truncation(16)
    backend.enable_padding(length=16)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


@pytest.fixture
def encoder(tmp_path, tokenizer):
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=512,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(3)
        BertModel(config).save_pretrained(tmp_path / "encoder")
    return tmp_path / "encoder"


def same(first, second):
    first, second = load_file(first / "model.safetensors"), load_file(second / "model.safetensors")
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def killed_at(monkeypatch, step, call):
    """Run the call and break it off after some step, as a kill would."""
    go_on = finetuning._Progress.on_step_end

    def broken(self, args, state, control, **kwargs):
        go_on(self, args, state, control, **kwargs)
        if state.global_step == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(finetuning._Progress, "on_step_end", broken)
        with pytest.raises(KeyboardInterrupt):
            call()


def test_windows_hold_the_answer_or_say_so(tokenizer, questions):
    for question in questions[:20]:
        answer, text = question["answers"][0], question["context"].lower()
        windows = encode_questions(tokenizer, [question], max_seq_length=140, max_query_length=40, doc_stride=30)
        assert len(windows) > 1
        held = 0
        seen = []
        for window in windows:
            ids = window["input_ids"]
            assert len(ids) <= 140
            assert ids.index(3) - 1 <= 40
            first, last = window["start_positions"], window["end_positions"]
            context = [i for i, kind in enumerate(window["token_type_ids"]) if kind == 1][:-1]
            seen.append([ids[i] for i in context])
            if first == 0:
                assert last == 0
                continue
            held += 1
            read = "".join(tokenizer.convert_ids_to_tokens(ids[first : last + 1])).replace("##", "")
            assert read == answer.lower().replace(" ", "")
        assert held
        # Windows start `doc_stride` tokens apart, and together they are the whole context.
        whole = tokenizer(text, add_special_tokens=False, truncation=False, padding=False)["input_ids"]
        for number, window in enumerate(seen):
            assert window == whole[30 * number : 30 * number + len(window)]
        assert 30 * (len(seen) - 1) + len(seen[-1]) == len(whole)


def test_order_uses_every_sample_once_a_pass_and_pads_little():
    lengths = np.random.default_rng(0).integers(20, 120, size=800)
    order = plan_order(lengths, 8, 250, np.random.default_rng(1))
    assert len(order) == 2000
    counts = np.bincount(order, minlength=800)
    assert set(counts[:800]) == {2, 3}
    assert counts.sum() == 2000
    padded = sum(8 * lengths[order[i : i + 8]].max() for i in range(0, 2000, 8))
    assert padded < 1.05 * lengths[order].sum()
    means = [lengths[order[i : i + 8]].mean() for i in range(0, 400, 8)]
    assert abs(np.corrcoef(means, range(50))[0, 1]) < 0.4
    assert order == plan_order(lengths, 8, 250, np.random.default_rng(1))


def test_padding_is_masked(tokenizer):
    pairs = [{"first": "the", "second": "who was", "label": 1}, {"first": "in", "second": "by", "label": 0}]
    features = encode_pairs(tokenizer, pairs, 64)
    assert [len(feature["input_ids"]) for feature in features] == [6, 5]
    batch = pad_batch(tokenizer, features)
    assert batch["input_ids"].shape == (2, 6)
    assert batch["attention_mask"].tolist() == [[1] * 6, [1] * 5 + [0]]
    assert batch["labels"].tolist() == [1, 0]


def test_loss_falls_and_the_folder_is_whole(tmp_path, encoder, tokenizer, questions, monkeypatch, capfd):
    losses = []
    monkeypatch.setattr(
        finetuning._Progress, "on_log", lambda self, args, state, control, logs=None, **_: losses.append(logs)
    )
    out = tmp_path / "results" / "model"
    settings = FinetuningSettings(
        learning_rate=1e-2, batch_size=8, steps=60, max_seq_length=256, freeze_embeddings=True
    )
    few = questions[:8]
    finetune_question_answering(encoder, tokenizer, few, out, settings)
    losses = [log["loss"] for log in losses if "loss" in log]
    assert losses[-1] < 0.75 * losses[0]
    assert [path.name for path in out.parent.iterdir()] == ["model"]
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in out.iterdir()}
    model = AutoModelForQuestionAnswering.from_pretrained(out)
    assert torch.equal(
        model.get_input_embeddings().weight, BertModel.from_pretrained(encoder).get_input_embeddings().weight
    )
    saved = json.loads((out / "tokenizer.json").read_text())
    assert saved["truncation"] is None
    assert saved["padding"] is None
    assert len(AutoTokenizer.from_pretrained(out)("the " * 300)["input_ids"]) == 302
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "60/60" in captured.err


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path, encoder, tokenizer, questions, monkeypatch):
    def run(out):
        finetune_question_answering(encoder, tokenizer, questions, tmp_path / out, SETTINGS)

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
        finetuning._Progress,
        "on_step_end",
        lambda self, args, state, control, **_: steps.append(state.global_step),
    )
    run("killed")
    assert steps == list(range(7, 13))
    assert same(tmp_path / "whole", tmp_path / "killed")
    assert not checkpoints.exists()


def test_a_run_with_other_settings_starts_anew(tmp_path, encoder, tokenizer, questions, monkeypatch):
    def run(out, rate):
        settings = replace(SETTINGS, learning_rate=rate, steps=4)
        finetune_question_answering(encoder, tokenizer, questions, tmp_path / out, settings)

    killed_at(monkeypatch, 3, lambda: run("model", 1e-2))
    run("model", 1e-3)
    run("fresh", 1e-3)
    run("other", 1e-2)
    assert same(tmp_path / "model", tmp_path / "fresh")
    assert not same(tmp_path / "model", tmp_path / "other")


def test_pairs_are_learned_with_their_labels(tmp_path, encoder, tokenizer):
    rows = make_paraphrases(0, "train", 40)
    pairs = [{"first": r["sentence1"], "second": r["sentence2"], "label": r["label"]} for r in rows]
    before = torch.random.get_rng_state()
    finetune_sentence_pairs(
        encoder, tokenizer, pairs, ("different", "same"), tmp_path / "model",
        FinetuningSettings(learning_rate=1e-3, batch_size=8, epochs=2, max_seq_length=64, bf16=True),
    )  # fmt: skip
    assert torch.equal(before, torch.random.get_rng_state())
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["id2label"] == {"0": "different", "1": "same"}
    assert AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").dtype == torch.float32
