"""Small decoders that are trained to copy: what they read, and what is saved of them."""

import numpy as np
import pytest
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
    assert len(lengths) > 5


@pytest.mark.same_bits
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
    record = fetch_model("one", {"folder": str(tmp_path / "one")})
    assert (record.layers, record.heads) == (2, 4)
    tokens = load_tokenizer(record)("She was in a house.")["input_ids"]
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "one")(torch.tensor([tokens])).logits.isfinite().all()


def test_training_ends_when_the_model_copies(tmp_path, monkeypatch):
    monkeypatch.setattr(copying, "_COPIED", 0.0)
    train_model(tmp_path / "made", layers=1, seed=1, steps=1000)
    about = read_json(tmp_path / "made" / "training.json")
    assert about["copies"] is True
    assert about["steps"] == copying._BATCHES
