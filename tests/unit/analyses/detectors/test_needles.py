"""Texts with needles, and the heads that look up which needle is asked for, or go on with one that has begun."""

import re
from functools import partial

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, GPT2Config, GPT2Model

from headtypes.analyses.detectors.measure import measure_detectors, read_detectors
from headtypes.analyses.detectors.needles import NEEDLES, draw_needles
from headtypes.analyses.detectors.results import detector_table
from headtypes.analyses.detectors.sequences import draw_sequences
from headtypes.core.errors import InputError
from headtypes.core.statistics import sign_tests
from tests.support.models import WORDS, opened, plain_attentions, tiny_bert, tiny_language_model
from tests.support.records import recorded
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, truncating_tokenizer

FRAME = ["The", "secret", "words", "of", "are"]
SETTINGS = {"context": 120, "max_length": 200, "model": "tiny"}


@pytest.mark.parametrize("make", [gpt2_tokenizer, llama_tokenizer, bert_tokenizer, truncating_tokenizer])
def test_the_end_repeats_the_first_needle_and_asks_for_each_next_token(make):
    tokenizer = make([*WORDS, *FRAME])
    drawn = draw_needles(tokenizer, texts=30, seed=1, **SETTINGS)
    special = tokenizer("a", truncation=False, padding=False)["input_ids"]
    for ids, targets in zip(drawn.encoded.input_ids, drawn.targets, strict=True):
        assert len(ids) == 120
        values = np.array(ids)[targets]
        assert len(np.unique(values)) == values.size
        assert not np.isin(values, tokenizer.all_special_ids).any()
        # After the last token of the key, and after each token of the value but the last.
        assert np.array(ids)[drawn.asking[1:]].tolist() == values[0, :-1].tolist()
        starts = targets[:, 0]
        # What stands before a value is the same in every needle, but for the key, whose two tokens the question has.
        before = [ids[start - 3 : start] for start in starts]
        assert ids[drawn.asking[0] - 2 : drawn.asking[0] + 1] == before[0]
        assert len({tuple(key[:2]) for key in before}) == NEEDLES
        assert len({key[2] for key in before}) == 1
        after = len(special) - special.index(tokenizer("a", add_special_tokens=False)["input_ids"][0]) - 1
        assert drawn.asking[-1] == 120 - after - 1
    # Each needle is asked for wherever it stands, so that no place among them tells which.
    order = np.argsort(drawn.targets[:, :, 0], axis=1)
    assert set(np.argmin(order, axis=1)) == set(range(NEEDLES))
    assert len(np.unique(drawn.targets[:, 0, 0])) > 10
    few = draw_needles(tokenizer, texts=2, seed=1, **SETTINGS)
    assert few.encoded.input_ids == drawn.encoded.input_ids[:2]


def test_needles_are_planted_in_texts_of_ones_own():
    tokenizer = gpt2_tokenizer([*WORDS, *FRAME])
    documents = [" ".join(["the cat sat on the house."] * 12), " ".join(["a dog ran in the water."] * 12)]
    drawn = draw_needles(tokenizer, texts=8, seed=1, documents=documents, **SETTINGS)
    texts = [tokenizer.decode(ids) for ids in drawn.encoded.input_ids]
    assert all(len(ids) == 120 for ids in drawn.encoded.input_ids)
    assert all(("the cat sat on the house." in text) or ("a dog ran in the water." in text) for text in texts)
    # Each text begins with one that is drawn.
    assert {"cat sat on" in text for text in texts} == {True, False}
    with pytest.raises(InputError, match=r"other tokens, and the texts given have 8 in all; give more of them, "):
        draw_needles(tokenizer, texts=1, seed=1, documents=["the cat sat on the house."], **SETTINGS)


def test_texts_that_hold_no_needles_are_refused():
    tokenizer = gpt2_tokenizer([*WORDS, *FRAME])
    with pytest.raises(InputError, match=r"tiny: a text with needles has .* tokens, .* detectors.context") as said:
        draw_needles(tokenizer, texts=1, context=30, max_length=200, seed=1, model="tiny")
    least = int(re.search(r"at least (\d+)", str(said.value))[1])
    smallest = draw_needles(tokenizer, texts=20, context=least, max_length=200, seed=1, model="tiny")
    assert (smallest.between.dtype, smallest.between.shape) == (np.dtype(int), (20, 1))
    with pytest.raises(InputError, match="at least"):
        draw_needles(tokenizer, texts=1, context=least - 1, max_length=200, seed=1, model="tiny")
    with pytest.raises(InputError, match="and the longest input 100; set "):
        draw_needles(tokenizer, texts=1, context=120, max_length=100, seed=1, model="tiny")


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_scores_are_those_of_whole_attention(name, tmp_path):
    model, tokenizer = tiny_language_model(name, max_position_embeddings=256)
    how = {"sequences": 3, "length": 8, "seed": 1, "precision": "float32", "batch_tokens": 512}
    scores = measure_detectors(recorded(model, tokenizer, tmp_path), context=250, **how)
    drawn = draw_needles(tokenizer, texts=3, context=250, max_length=256, seed=1, model="tiny")
    for text, ids in enumerate(drawn.encoded.input_ids):
        attention = plain_attentions(model, ids, None)
        shares = np.stack([attention[..., drawn.asking, needle] for needle in drawn.targets[text]])
        for detector, of_needles in (("retrieval", shares.mean(-1)), ("lookup", shares[..., 0])):
            rows = scores[(scores["detector"] == detector) & (scores["sequence"] == text)]
            np.testing.assert_allclose(rows["score"], of_needles[0].ravel(), atol=1e-5)
            np.testing.assert_allclose(rows["null"], of_needles[1:].max(0).ravel(), atol=1e-5)


def test_a_model_that_sees_what_is_to_be_copied_is_not_asked(tmp_path):
    how = {"sequences": 2, "length": 8, "seed": 1, "precision": "float32", "batch_tokens": 512}
    # Nor is it refused because texts with needles would be too long for it.
    scores = measure_detectors(recorded(*tiny_bert(), tmp_path), context=5000, **how)
    assert "next" in set(scores["detector"])
    assert not {"retrieval", "lookup"} & set(scores["detector"])


def planted(vocabulary: int, context: int) -> GPT2Model:
    """A GPT-2 whose heads are made by hand.

    Its channels are four parts: the token, that before, that before this, and the position. In the first layer, heads 0
    and 1 write the token one and two places before, head 2 looks 20 places back, and head 3 equally at all. In the
    second, head 0 looks for a token two places before which stands what stands before its own: after a key and `are`,
    at what followed this key and `are`. Head 1 looks for a token before which stands its own (induction), head 2 at the
    first token, and head 3 equally at all.
    """
    size = max(vocabulary, context)
    model = GPT2Model(
        GPT2Config(vocab_size=vocabulary, n_positions=size, n_embd=4 * size, n_layer=2, n_head=4, n_inner=1)
    ).eval()
    for parameter in model.parameters():
        parameter.data.zero_()
    token, before, second, position = (slice(part * size, (part + 1) * size) for part in range(4))
    same, strong = torch.eye(size), 60 * torch.eye(size)
    model.wte.weight.data[:, :vocabulary] = torch.eye(vocabulary)
    model.wpe.weight.data[:, position] = same
    for block in model.h:
        block.ln_1.weight.data.fill_(1)
        block.ln_2.weight.data.fill_(1)

    def head(layer: int, number: int, query: tuple, key: tuple) -> None:
        weight = model.h[layer].attn.c_attn.weight.data
        for part, (where, values) in enumerate((query, key)):
            begin = (4 * part + number) * size
            weight[where, begin : begin + size] = values

    for number, (away, into) in enumerate(((1, before), (2, second), (20, None))):
        head(0, number, (position, torch.roll(strong, -away, 1)), (position, same))
        if into is not None:
            values = (8 + number) * size
            model.h[0].attn.c_attn.weight.data[token, values : values + size] = same
            model.h[0].attn.c_proj.weight.data[number * size : (number + 1) * size, into] = same
    head(1, 0, (before, strong), (second, same))
    head(1, 1, (token, strong), (before, same))
    model.h[1].attn.c_attn.bias.data[2 * size] = 200
    head(1, 2, (token, 0 * same), (position, same))
    return model


def test_planted_heads_are_found_and_told_apart():
    tokenizer = gpt2_tokenizer([*WORDS, *FRAME])
    sequences = draw_sequences(tokenizer, sequences=16, length=12, max_length=400, seed=1, model="planted")
    draw = partial(draw_needles, tokenizer, texts=16, seed=1, **SETTINGS)
    model = opened(planted(len(tokenizer), 120))
    scores = read_detectors(model, sequences, draw, batch_tokens=512, what="planted")
    table = detector_table(scores, least=0.1, seed=1).set_index(["detector", "layer", "head"])
    found = table[table["detected"]]
    # The induction head attends to the first tokens of all needles alike, and so looks up none.
    assert set(found.loc["retrieval"].index) == {(1, 0), (1, 1)}
    assert set(found.loc["lookup"].index) == {(1, 0)}
    assert found.loc[("lookup", 1, 0), "score"] > 0.8
    assert table.loc[("lookup", 1, 1), "score"] == pytest.approx(0.25, abs=0.05)
    assert (1, 2) in found.loc["first"].index


@pytest.mark.parametrize("spread", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_of_a_random_model_no_head_is_found(name, spread):
    tokenizer = {"gpt2": gpt2_tokenizer, "llama": llama_tokenizer}[name]([*WORDS, *FRAME])
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 8, "intermediate_size": 32}
    config = AutoConfig.for_model(
        name, vocab_size=len(tokenizer), max_position_embeddings=128, initializer_range=spread, **sizes
    )
    torch.manual_seed(1)
    model = opened(AutoModel.from_config(config).eval())
    sequences = draw_sequences(tokenizer, sequences=16, length=16, max_length=64, seed=1, model="random")
    draw = partial(draw_needles, tokenizer, texts=16, seed=1, **SETTINGS)
    scores = read_detectors(model, sequences, draw, batch_tokens=2048, what="random")
    table = detector_table(scores, least=0.0, seed=1)
    of_needles = table[table["detector"].isin(["retrieval", "lookup"])]
    # Without a least share, a head that looks at the token itself may look at what is near it, too.
    assert (of_needles["p"] < 0.05).mean() <= 0.05
    assert not detector_table(scores, least=0.1, seed=1)["detected"].any()


def test_a_head_that_does_not_depend_on_the_question_is_detected_at_most_as_often_as_stated():
    generator = np.random.default_rng(1)
    # Shares of attention of any size that are alike for all needles: one of them stands out in each text.
    shares = generator.dirichlet(np.full(NEEDLES, 0.1), (2000, 30, 32))
    differences = shares[..., 0] - shares[..., 1:].max(-1)
    above = (differences > 0.1).mean()
    assert above <= 1 / NEEDLES
    p, _ = sign_tests((differences > 0.1).sum(2), differences.shape[2])
    assert (p < 0.05).mean() < 0.001
