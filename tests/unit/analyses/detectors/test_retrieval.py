"""What a model copies without the heads that retrieve needles, beside as many random heads."""

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import GPT2LMHeadModel

from headtypes.analyses.detectors.measure import measure_detectors
from headtypes.analyses.detectors.needles import draw_needles
from headtypes.analyses.detectors.results import RETRIEVAL, detector_table, read_retrieval
from headtypes.analyses.detectors.retrieval import (
    head_sets,
    measure_retrieval,
    predict_tokens,
    retrieval_table,
    values_of,
)
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from headtypes.core.table_files import write_csv
from tests.support.dense import dense_output
from tests.support.models import WORDS, tiny_bert, tiny_language_model
from tests.support.records import recorded
from tests.support.tiny import gpt2_tokenizer
from tests.unit.analyses.detectors.test_needles import FRAME, planted

HOW = {"precision": "float32", "batch_tokens": 512}
ASKED = {"texts": 6, "context": 120, "draws": 3, "seed": 2, **HOW}


def copying(vocabulary: int, context: int) -> GPT2LMHeadModel:
    """The planted model with a language head: what head 2-1 writes alone is read as the next token."""
    body = planted(vocabulary, context)
    model = GPT2LMHeadModel(body.config).eval()
    model.transformer = body
    model.lm_head = torch.nn.Linear(body.config.n_embd, vocabulary, bias=False)
    size = body.config.n_embd // 4
    values, before = slice(8 * size, 9 * size), slice(size, 2 * size)
    body.h[1].attn.c_attn.weight.data[:size, values] = torch.eye(size)
    body.h[1].attn.c_proj.weight.data[:size, before] = 100 * torch.eye(size)
    body.ln_f.weight.data.fill_(1)
    model.lm_head.weight.data.zero_()
    model.lm_head.weight.data[:, before] = torch.eye(vocabulary, size)
    model.config.tie_word_embeddings = False
    return model


def finding(layer: int, head: int, layers: int = 2) -> pd.DataFrame:
    """The table of a model of four heads a layer in which `lookup` finds one."""
    table = pd.DataFrame(np.argwhere(np.ones((layers, 4))), columns=["layer", "head"]).assign(detector="lookup")
    return table.assign(detected=(table["layer"] == layer) & (table["head"] == head))


def test_without_the_head_that_copies_nothing_is_copied_and_without_random_heads_all_is(tmp_path):
    tokenizer = gpt2_tokenizer([*WORDS, *FRAME])
    record = recorded(copying(len(tokenizer), 120), tokenizer, tmp_path / "model")
    scores = measure_detectors(record, sequences=12, length=12, context=120, seed=1, **HOW)
    table = measure_retrieval(record, detector_table(scores, least=0.1, seed=1), **ASKED)
    assert set(table["detector"]) == {"retrieval", "lookup"}
    assert list(table.columns) == list(RETRIEVAL)
    write_csv(tmp_path / "table.csv", table)
    pd.testing.assert_frame_equal(read_retrieval(tmp_path / "table.csv"), table, check_dtype=False, rtol=1e-6)
    # In texts of one's own it finds the same head, and the same is left without it.
    own = {"documents": [" ".join(["a dog ran in the water."] * 12)]}
    of_own = measure_detectors(record, sequences=12, length=12, context=120, seed=1, **own, **HOW)
    assert not of_own.equals(scores)
    found = detector_table(of_own, least=0.1, seed=1)
    copied = measure_retrieval(record, found, **ASKED, **own)
    pd.testing.assert_series_equal(copied["without"], table["without"])
    with pytest.raises(InputError, match="the texts given have 8 in all"):
        measure_retrieval(record, found, **ASKED, documents=["the cat sat on the house."])
    for row in table.itertuples():
        assert row.random == row.plain == row.random_low == row.random_high
    rows = table.set_index(["measure", "of"])
    # To this head, the second tokens of all four values look alike.
    assert (rows.loc[("copied", "value"), "plain"] > 60).all()
    assert (rows.loc[("copied", "first token"), "plain"] == 100).all()
    assert (rows.loc["copied", ["without", "high"]] < [5, -40]).all(axis=None)
    assert (rows.loc["loss", "low"] > 1).all()
    # One that writes nothing costs nothing, and random heads cost more, since the one that copies is among them.
    idle = (
        measure_retrieval(record, finding(1, 2), **ASKED | {"draws": 8})
        .set_index(["measure", "of"])
        .loc[("loss", "value")]
    )
    assert idle["without"] == idle["plain"] == idle["random_low"] < idle["random_high"]


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_predictions_are_those_of_the_dense_model(name):
    model, tokenizer = tiny_language_model(name, max_position_embeddings=256)
    needles = draw_needles(tokenizer, texts=3, context=230, max_length=256, seed=1, model="tiny")
    shape = model.config.num_hidden_layers, model.config.num_attention_heads
    sets = np.stack([np.zeros(shape, bool), *(np.random.default_rng(1).random((3, *shape)) < 0.4)])
    found = predict_tokens(model, needles.encoded, *values_of(needles), sets, batch_tokens=512, what="tiny")
    for number, heads in enumerate(sets):
        for text, ids in enumerate(needles.encoded.input_ids):
            sentence, operations = [-1] * len(ids), np.where(heads, "zero", "keep")
            logits = dense_output(model, ids, None, operations, sentence, Reading()).logits[0, needles.asking]
            wanted = torch.tensor(ids)[needles.targets[text, 0]]
            losses = -logits.log_softmax(-1)[range(len(wanted)), wanted]
            np.testing.assert_allclose(found[0, number, text], losses, atol=1e-5)
            assert found[1, number, text].tolist() == (logits.argmax(-1) == wanted).tolist()


def test_random_heads_are_of_the_same_layers_and_of_no_kind_of_needles():
    table = pd.DataFrame(
        [(name, layer, head) for name in ("first", "retrieval", "lookup") for layer in range(3) for head in range(4)],
        columns=["detector", "layer", "head"],
    )
    kinds = {"first": {(0, 0)}, "retrieval": {(1, 0), (1, 1), (2, 0)}, "lookup": {(1, 2)}}
    table["detected"] = [(row.layer, row.head) in kinds[row.detector] for row in table.itertuples()]
    sets = head_sets(table, draws=30, seed=1)
    assert list(sets) == ["retrieval", "lookup"]
    for name, of_detector in sets.items():
        assert set(zip(*of_detector[0].nonzero(), strict=True)) == kinds[name]
    # Of the second layer, one head alone is left to draw from.
    assert (sets["retrieval"][1:].sum(2) == [0, 1, 1]).all()
    assert set(sets["retrieval"][1:, 2].nonzero()[1]) == {1, 2, 3}
    assert sets["lookup"][1:, 1, 3].all()
    assert not head_sets(table.assign(detected=False), draws=2, seed=1)


def test_the_table_by_hand():
    # Three sets (one found, two random) after the plain model; two texts of two tokens.
    losses = np.array([[[1, 3], [1, 3]], [[5, 7], [9, 7]], [[1, 3], [3, 5]], [[1, 3], [1, 3]]], float)
    copied = np.array([[[1, 1], [1, 1]], [[0, 0], [0, 0]], [[1, 1], [0, 1]], [[1, 1], [1, 1]]], float)
    table = retrieval_table(np.array([[[1, 1, 0]], [[0, 0, 1]], [[0, 0, 1]]], bool), np.stack([losses, copied]), seed=1)
    rows = table.set_index(["of", "measure"])
    assert rows.loc[("value", "loss"), "plain":"difference"].tolist() == [2, 7, 2.5, 2, 3, 4.5]
    assert rows.loc[("first token", "loss"), "plain":"difference"].tolist() == [1, 7, 1.5, 1, 2, 5.5]
    assert rows.loc[("value", "copied"), "plain":"difference"].tolist() == [100, 0, 87.5, 75, 100, -87.5]
    assert (table[["heads", "random_heads"]] == [2, 1]).all(axis=None)
    assert ((table["low"] <= table["difference"]) & (table["difference"] <= table["high"])).all()


def test_models_without_such_heads_or_a_language_head_have_no_rows(tmp_path):
    model, tokenizer = tiny_bert()
    table = measure_retrieval(recorded(model, tokenizer, tmp_path / "bert"), finding(1, 2), **ASKED)
    write_csv(tmp_path / "table.csv", table)
    assert read_retrieval(tmp_path / "table.csv").empty
    model, tokenizer = tiny_language_model("gpt2", max_position_embeddings=256, num_attention_heads=4)
    record = recorded(model, tokenizer, tmp_path / "decoder")
    assert measure_retrieval(record, finding(1, 4), **ASKED).empty
    assert len(measure_retrieval(record, finding(1, 3), **ASKED | {"context": 250})) == 4


def test_a_loss_that_is_not_finite_is_refused(tmp_path):
    model, tokenizer = tiny_language_model("gpt2", max_position_embeddings=256, num_attention_heads=4)
    model.transformer.h[0].attn.c_attn.weight.data[0, -1] = torch.nan
    with pytest.raises(InputError, match=r"^tiny on needles, without the heads of lookup: the loss is not finite; "):
        measure_retrieval(recorded(model, tokenizer, tmp_path), finding(1, 3), **ASKED | {"context": 250})
