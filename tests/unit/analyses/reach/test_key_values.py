"""What is lost without each key-value head: planted, against whole passes, and as other programs read it."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.detectors.needles import draw_needles
from headtypes.analyses.reach.full_attention import key_value_table
from headtypes.analyses.reach.key_values import COLUMNS, effect_table, measure_key_values
from headtypes.attention.operations import Reading
from headtypes.core.seeds import derive_seed
from tests.support.dense import dense_output
from tests.support.models import WORDS, tiny_bert, tiny_language_model
from tests.support.records import recorded
from tests.support.tiny import gpt2_tokenizer
from tests.unit.analyses.detectors.test_needles import FRAME
from tests.unit.analyses.detectors.test_retrieval import copying

ASKED = {"texts": 4, "seed": 2, "precision": "float32", "batch_tokens": 512}


def test_nothing_is_copied_without_the_head_that_copies_and_all_without_any_other(tmp_path):
    tokenizer = gpt2_tokenizer([*WORDS, *FRAME])
    record = recorded(copying(len(tokenizer), 120), tokenizer, tmp_path / "model")
    table = measure_key_values(record, context=120, **ASKED).set_index(["layer", "kv_head"])
    # The head that copies reads what another, of the layer below, has written.
    needed = table.index[table["copying_low"] > 1].tolist()
    assert (1, 0) in needed
    assert {layer for layer, _ in needed[:-1]} <= {0}
    idle = table.drop(needed)
    assert len(idle) >= 5
    np.testing.assert_allclose(idle["score"], 0, atol=1e-6)
    assert table.loc[(1, 0), "score"] > 0.5


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_rises_of_the_loss_are_those_of_the_dense_model_without_all_queries_that_share_a_key(name, tmp_path):
    model, tokenizer = tiny_language_model(name, max_position_embeddings=256)
    table = measure_key_values(recorded(model, tokenizer, tmp_path), context=230, **ASKED)
    seed = derive_seed(ASKED["seed"], "texts")
    needles = draw_needles(tokenizer, texts=4, context=230, max_length=256, seed=seed, model="tiny")
    layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
    kv_heads = getattr(model.config, "num_key_value_heads", heads)
    assert len(table) == layers * kv_heads
    assert (kv_heads < heads) == (name == "llama")

    def losses(operations: np.ndarray) -> np.ndarray:
        """[text, token]: of the value, and of the first 64 of the other tokens in steps, or of all."""
        found = []
        for text, ids in enumerate(needles.encoded.input_ids):
            logits = dense_output(model, ids, None, operations, [-1] * len(ids), Reading()).logits[0]
            others = needles.between[text]
            steps = (
                [int(step * (len(others) - 1) / 63) for step in range(64)] if len(others) > 64 else range(len(others))
            )
            places = [*(needles.targets[text, 0]), *(others[step] for step in steps)]
            before = [*needles.asking, *(others[step] - 1 for step in steps)]
            found.append(-logits.log_softmax(-1)[before, [ids[place] for place in places]].numpy())
        return np.array(found)

    plain = losses(np.full((layers, heads), "keep"))
    for row in table.itertuples():
        operations = np.full((layers, heads), "keep")
        for name_of_head in row.heads.split():
            layer, head = (int(number) - 1 for number in name_of_head.split("-"))
            operations[layer, head] = "zero"
        rises = losses(operations) - plain
        np.testing.assert_allclose([row.copying, row.text], [rises[:, :5].mean(), rises[:, 5:].mean()], atol=2e-5)
        np.testing.assert_allclose(row.score, max(0, 1 - np.exp(-rises[:, :5].mean())), atol=2e-5)


def test_other_tokens_are_of_the_text_and_of_no_needle():
    _, tokenizer = tiny_language_model("gpt2", max_position_embeddings=256)
    needles = draw_needles(tokenizer, texts=4, context=230, max_length=256, seed=1, model="tiny")
    for ids, targets, between in zip(needles.encoded.input_ids, needles.targets, needles.between, strict=True):
        sentences = tokenizer.decode([token for place, token in enumerate(ids) if place in set(between)])
        assert "secret" not in sentences
        assert not set(between) & set(targets.flatten())
        assert between[0] > 0
        assert tokenizer.decode(ids).count("secret") == 5


def test_the_table_by_hand():
    heads = key_value_table(1, 4, 2)
    assert heads["heads"].tolist() == ["1-1 1-2", "1-3 1-4", "1-5 1-6", "1-7 1-8"]
    copied = np.array([[1, 3], [-1, -1], [0.5, 0.5], [0, 0.2]])
    table = effect_table(heads, copied, copied / 10, seed=1)
    assert list(table.columns) == list(COLUMNS)
    np.testing.assert_allclose(table["score"], 1 - np.exp([-2, 0, -0.5, -0.1]))
    np.testing.assert_allclose(table["copying"], [2, -1, 0.5, 0.1])
    np.testing.assert_allclose(table["text"], [0.2, -0.1, 0.05, 0.01])
    assert table["full"].tolist() == [True, False, True, False]
    assert (table["keeps_side"] == 100).all()
    assert table.loc[0, "copying_low"] < 2 < table.loc[0, "copying_high"]


def test_models_without_a_language_head_have_no_rows(tmp_path):
    table = measure_key_values(recorded(*tiny_bert(), tmp_path), context=120, **ASKED)
    pd.testing.assert_frame_equal(table, pd.DataFrame(columns=list(COLUMNS)))
