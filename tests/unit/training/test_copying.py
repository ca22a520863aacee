"""Small decoders that are trained to copy: what they read, and what is saved of them."""

import hashlib

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from headtypes.core.files import read_json
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.training import copying
from headtypes.training.copying import train_model


def test_what_is_learnt_is_what_a_text_has_said_before():
    tokenizer = copying._tokenizer()
    ids, repeated = copying._draw(tokenizer, np.random.default_rng(1))
    assert not torch.isin(ids[:, 1:], torch.tensor(tokenizer.all_special_ids)).any()
    lengths = set()
    for row, known in zip(ids.tolist(), repeated.tolist(), strict=True):
        before = [row[:at].index(token) if token in row[:at] else None for at, token in enumerate(row)]
        # A next token is known where its token has stood before, and is the one that followed there.
        assert known == [at is not None for at in before[:-1]]
        assert all(row[at + 1] == row[number + 1] for number, at in enumerate(before[:-1]) if at is not None)
        lengths.add(before[1:].index(1))
    # No one distance leads from all tokens to their next ones.
    assert len(lengths) > 5


def test_a_model_is_saved_that_the_workflow_reads_and_equal_seeds_give_equal_ones(tmp_path):
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        train_model(tmp_path / name, layers=2, seed=seed, steps=2)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    weights = {name: (tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "same", "other")}
    assert weights["one"] == weights["same"] != weights["other"]
    assert read_json(tmp_path / "one" / "training.json")["steps"] == 2
    assert read_json(tmp_path / "one" / "training.json")["copies"] is False
    record = fetch_model("one", None, made=str(tmp_path / "one"))
    assert (record.layers, record.heads) == (2, 4)
    tokens = load_tokenizer(record)("She was in a house.")["input_ids"]
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "one")(torch.tensor([tokens])).logits.isfinite().all()


def test_a_checkpoint_is_the_model_after_so_many_steps_and_the_trained_one_is_as_without(tmp_path):
    keep = (0, 2, 4)
    train_model(tmp_path / "made", layers=2, seed=1, steps=4, keep=keep)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]
    assert sorted(path.name for path in (tmp_path / "made").glob("step-*")) == ["step-0", "step-2", "step-4"]
    for step in keep:
        train_model(tmp_path / str(step), layers=2, seed=1, steps=step or 1)
        weights = (tmp_path / "made" / f"step-{step}" / "model.safetensors").read_bytes()
        assert (weights == (tmp_path / str(step) / "model.safetensors").read_bytes()) == (step > 0)
        record = fetch_model("one", None, made=str(tmp_path / "made"), step=step)
        assert record.weights["model.safetensors"] == hashlib.sha256(weights).hexdigest()
    for name in ("model.safetensors", "training.json"):
        assert (tmp_path / "made" / name).read_bytes() == (tmp_path / "4" / name).read_bytes()


def test_steps_are_kept_after_the_model_copies_which_does_not_change_it(tmp_path, monkeypatch):
    monkeypatch.setattr(copying, "_COPIED", 0.0)
    ends = copying._BATCHES
    train_model(tmp_path / "made", layers=1, seed=1, keep=(ends + 2,))
    train_model(tmp_path / "alone", layers=1, seed=1)
    monkeypatch.setattr(copying, "_COPIED", 2.0)
    train_model(tmp_path / "longer", layers=1, seed=1, steps=ends + 2)
    weights = {path.parent.name: path.read_bytes() for path in tmp_path.rglob("model.safetensors")}
    assert weights["made"] == weights["alone"]
    assert weights[f"step-{ends + 2}"] == weights["longer"] != weights["made"]
    assert read_json(tmp_path / "made" / "training.json") == read_json(tmp_path / "alone" / "training.json")


def test_training_ends_when_the_model_copies(tmp_path, monkeypatch):
    monkeypatch.setattr(copying, "_COPIED", 0.0)
    train_model(tmp_path / "made", layers=1, seed=1, steps=1000)
    about = read_json(tmp_path / "made" / "training.json")
    assert about["copies"] is True
    assert about["steps"] == copying._BATCHES
