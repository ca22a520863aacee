import json
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
    AutoConfig,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
)

from headtypes.core.errors import InputError
from headtypes.data.encoding import prepare_windows
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.sentence_pair import Pair
from headtypes.models.fetching import fetch_model
from headtypes.models.model_config import padding_token
from headtypes.training import finetuning
from headtypes.training.finetuning import finetune_model
from headtypes.training.inputs import PlannedExamples, padding_collator, plan_order
from tests.support.demo import demo_rows
from tests.support.records import PAIRS
from tests.support.tiny import gpt2_tokenizer

SETTINGS = {"learning_rate": 5e-3, "batch_size": 8, "steps": 12, "max_seq_length": 128, "checkpoint_seconds": 0.0}
ASKED = {**SETTINGS, "kind": "question_answering"}
PAIRED = {**SETTINGS, "kind": "sentence_pair"}
FEW_PAIRS = [Pair(str(number), "the", "was", number % 2) for number in range(4)]


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_process_has_its_gpu_before_cuda_starts(encoder, questions, tmp_path, monkeypatch):
    """To save the generators of random numbers starts it, on all GPUs that are visible then."""
    done, fork = [], torch.random.fork_rng
    monkeypatch.setattr(finetuning, "keep_to_gpus", lambda _: done.append("gpu"))
    monkeypatch.setattr(torch.random, "fork_rng", lambda: (done.append("cuda"), fork())[1])
    finetune_model(encoder, questions[:8], tmp_path / "made", **{**ASKED, "steps": 1})
    finetune_model(encoder, FEW_PAIRS, tmp_path / "other", **{**PAIRED, "steps": 1})
    assert done == ["gpu", "cuda"] * 2


def test_a_base_that_cannot_tell_padding_is_refused_for_pairs(encoder, tmp_path):
    file = Path(encoder.folder, "config.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "pad_token_id": None}))
    encoder = fetch_model(encoder.name, {"folder": encoder.folder})
    with pytest.raises(InputError, match=f"^{encoder.folder} has no pad_token_id"):
        finetune_model(encoder, FEW_PAIRS, tmp_path / "made", **PAIRED)
    assert not (tmp_path / "made").exists()


def test_no_unit_is_dropped_where_none_is_to_be(encoder, questions, tmp_path):
    """The result is that of a base whose rates are zero; with dropout it is another."""

    def train(name, **settings):
        finetune_model(encoder, questions[:8], tmp_path / name, **{**ASKED, "steps": 3}, **settings)

    train("dropped")
    train("kept", dropout=False)
    file = Path(encoder.folder, "config.json")
    rates = dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), 0.0)
    file.write_text(json.dumps(json.loads(file.read_text()) | rates))
    encoder = fetch_model(encoder.name, {"folder": encoder.folder})
    train("rates")
    assert same(tmp_path / "kept", tmp_path / "rates")
    assert not same(tmp_path / "kept", tmp_path / "dropped")


@pytest.fixture(scope="module")
def questions():
    return demo_rows("question_answering", 60, "train")


@pytest.fixture(scope="module")
def tokenizer(questions):
    text = " ".join(question.context + " " + question.question for question in questions).lower()
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
    tokenizer.save_pretrained(tmp_path / "encoder")
    return fetch_model("tiny", {"folder": str(tmp_path / "encoder")})


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


def examples(kind, rows, tokenizer, **shape):
    """All examples of some rows, in the order of their windows."""
    windows = prepare_windows(rows, tokenizer, kind=kind, max_length=512, **shape)
    targets, _ = KINDS[kind].training_targets(rows, windows)
    planned = PlannedExamples(windows, targets, KINDS[kind].target_names, range(len(windows)))
    return [planned[place] for place in range(len(planned))]


def test_windows_hold_the_answer_or_say_so(tokenizer, questions):
    shape = {"max_seq_length": 100, "max_query_length": 40, "doc_stride": 30}
    for question in questions[:20]:
        answer, text = question.answers[0], question.context.lower()
        windows = examples("question_answering", [question], tokenizer, **shape)
        assert len(windows) > 1
        held = 0
        seen = []
        for window in windows:
            ids = window["input_ids"]
            assert len(ids) <= 100
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
    pairs = [Pair("a", "the", "who was", 1), Pair("b", "in", "by", 0)]
    batch = padding_collator(9)(examples("sentence_pair", pairs, tokenizer, max_seq_length=64))
    assert batch["input_ids"].shape == batch["token_type_ids"].shape == (2, 6)
    assert batch["attention_mask"].tolist() == [[1] * 6, [1] * 5 + [0]]
    assert (batch["input_ids"][1, 5], batch["token_type_ids"][1, 5]) == (9, 0)
    assert batch["labels"].tolist() == [1, 0]


def test_padding_follows_the_text_whatever_the_tokenizer_would_do():
    """Else the places of answers would shift; and some tokenizers know no padding, or no mask."""
    tokenizer = gpt2_tokenizer(["the", "cat"])
    tokenizer.padding_side = "left"
    tokenizer.model_input_names = ["input_ids"]
    made = examples("sentence_pair", PAIRS, tokenizer, max_seq_length=64)
    batch = padding_collator(0)(made)
    for example, ids, mask in zip(made, batch["input_ids"].tolist(), batch["attention_mask"].tolist(), strict=True):
        length = len(example["input_ids"])
        assert ids[:length] == example["input_ids"]
        assert mask == [1] * length + [0] * (len(mask) - length)


def test_a_decoder_finds_the_end_of_a_text_in_a_batch_by_its_own_padding():
    """Its tokenizer knows no padding, and the mask does not say which token is pooled."""
    config = AutoConfig.for_model("gpt2", vocab_size=20, n_embd=16, n_layer=1, n_head=2, pad_token_id=11)
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    texts = [[5, 6, 7, 8, 9], [4, 3]]
    batch = padding_collator(padding_token(config))([{"input_ids": text, "labels": 0} for text in texts])
    with torch.inference_mode():
        alone = torch.cat([model(input_ids=torch.tensor([text])).logits for text in texts])
        torch.testing.assert_close(model(**batch).logits, alone)


def test_loss_falls_and_the_folder_is_whole(tmp_path, encoder, questions, monkeypatch, capfd):
    losses = []
    monkeypatch.setattr(
        finetuning._Progress, "on_log", lambda self, args, state, control, logs=None, **_: losses.append(logs)
    )
    out = tmp_path / "results" / "model"
    settings = {"learning_rate": 1e-2, "steps": 60, "max_seq_length": 256, "freeze_embeddings": True}
    finetune_model(encoder, questions[:8], out, **{**ASKED, **settings, "checkpoint_seconds": 45.0})
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
        finetuning._Progress,
        "on_step_end",
        lambda self, args, state, control, **_: steps.append(state.global_step),
    )
    run("killed")
    assert steps == list(range(7, 13))
    assert same(tmp_path / "whole", tmp_path / "killed")
    assert not checkpoints.exists()


def test_a_run_with_other_settings_starts_anew(tmp_path, encoder, questions, monkeypatch):
    def run(out, rate):
        finetune_model(encoder, questions, tmp_path / out, **{**ASKED, "learning_rate": rate, "steps": 4})

    killed_at(monkeypatch, 3, lambda: run("model", 1e-2))
    run("model", 1e-3)
    run("fresh", 1e-3)
    run("other", 1e-2)
    assert same(tmp_path / "model", tmp_path / "fresh")
    assert not same(tmp_path / "model", tmp_path / "other")


@pytest.mark.parametrize("has", [True, False])
def test_bfloat16_is_left_out_where_the_processor_would_only_emulate_it(
    encoder, questions, tmp_path, monkeypatch, capsys, has
):
    asked = []
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: has)
    monkeypatch.setattr(finetuning, "TrainingArguments", lambda **given: asked.append(given["bf16"]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        finetune_model(encoder, questions[:8], tmp_path / "model", **ASKED, bf16=True)
    assert asked == [has]
    assert ("in float32, since this processor" in capsys.readouterr().err) != has


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
