"""Detectors: drawn tokens, scores as defined on whole attention, planted heads found and those of random models not."""

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoConfig, AutoModel, GPT2Config, GPT2Model

from headtypes.analyses.detectors.measure import detector_table, draw_sequences, measure_detectors, read_detectors
from headtypes.models.fetching import load_tokenizer
from tests.support.models import WORDS, opened, plain_attentions, tiny_bert, tiny_language_model
from tests.support.records import recorded
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer, truncating_tokenizer

DRAWN = {"length": 9, "max_length": 64, "model": "tiny"}


@pytest.mark.parametrize(
    "make", [bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer, truncating_tokenizer]
)
def test_the_second_half_repeats_the_first_or_has_its_tokens_in_another_order(make):
    tokenizer = make(WORDS)
    drawn = draw_sequences(tokenizer, sequences=20, seed=1, **DRAWN)
    repeated, shuffled = np.split(np.array(drawn.encoded.input_ids), 2)
    start, half = drawn.start, drawn.start + 9
    first, second = repeated[:, start:half], repeated[:, half : half + 9]
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(shuffled[:, :half], repeated[:, :half])
    other = shuffled[:, half : half + 9]
    np.testing.assert_array_equal(np.sort(other), np.sort(first))
    # Neither the earlier occurrence of a token nor the token after that stands where it does in the repetition.
    assert not (other == first).any()
    assert not (other[:, :-1] == first[:, 1:]).any()
    assert all(len(set(tokens)) == 9 for tokens in first.tolist())
    # Special tokens stand where those of a text do, and nowhere else.
    text = tokenizer("a", truncation=False, padding=False)["input_ids"]
    assert repeated[:, :start].tolist() == [text[:start]] * 20
    assert repeated[:, half + 9 :].tolist() == [text[len(text) - (repeated.shape[1] - half - 9) :]] * 20
    assert not np.isin(first, tokenizer.all_special_ids).any()
    assert (drawn.encoded.token_types is None) == ("token_type_ids" not in tokenizer("a"))


def test_more_sequences_begin_with_the_same_and_another_seed_draws_others():
    few, more, others = (
        draw_sequences(bert_tokenizer(WORDS), sequences=count, seed=seed, **DRAWN).encoded.input_ids
        for count, seed in ((2, 1), (5, 1), (2, 2))
    )
    assert few == more[:2] + more[5:7]
    assert few != others


def defined(attention: np.ndarray, ids: list[int], start: int, length: int, detector: str, shuffled: bool):
    """A score, or its null, pair of tokens by pair of tokens, from the tokens themselves: [layer, head].

    attention: [layer, head, query, key]; shuffled: whether these are the sequences whose second half is shuffled.
    """
    half, reach = start + length, length // 2

    def mean(rows, key_of):
        return np.mean([attention[:, :, row, key_of(row)] for row in rows], axis=0)

    second, middle = range(half, half + length), range(half - reach, half - reach + length)
    if detector in ("previous", "next"):
        own = -1 if detector == "previous" else 1
        by_offset = {away: mean(middle, lambda row: row + away) for away in range(-reach, reach + 1)}  # noqa: B023
        return by_offset.pop(own), np.max(list(by_offset.values()), axis=0)
    if detector == "first":
        by_key = [mean(second, lambda row: key) for key in range(len(ids))]  # noqa: B023
        return by_key[0], np.max(by_key[1:], axis=0)
    # Where the token stood in the first half; under the null, where it would have stood if there were a repetition.
    if shuffled:
        return mean(second, lambda row: row - length + (detector == "induction"))
    return mean(second, lambda row: ids.index(ids[row], start) + (detector == "induction"))


@pytest.mark.parametrize("name", ["bert", "modernbert", "gpt2", "llama", "mistral"])
@pytest.mark.parametrize("length", [8, 9])
def test_scores_are_those_of_whole_attention(name, length, tmp_path):
    model, tokenizer = tiny_bert() if name == "bert" else tiny_language_model(name)
    record, how = recorded(model, tokenizer, tmp_path), {"sequences": 3, "length": length, "seed": 1}
    scores = measure_detectors(record, **how, precision="float32", batch_tokens=512)
    drawn = draw_sequences(load_tokenizer(record), **how, max_length=record.max_length, model="tiny")
    ids, types = drawn.encoded.input_ids, drawn.encoded.token_types
    attentions = [plain_attentions(model, each, types and types[number]) for number, each in enumerate(ids)]
    looks_ahead = name in ("bert", "modernbert")
    names = ["previous", *(["next"] if looks_ahead else []), "first", "duplicate", "induction"]
    assert list(dict.fromkeys(scores["detector"])) == names
    for detector in names:
        of = scores[scores["detector"] == detector]
        for sequence in range(3):
            rows = of[of["sequence"] == sequence].sort_values(["layer", "head"])
            repeated, shuffled = (
                defined(attentions[number], ids[number], drawn.start, length, detector, number >= 3)
                for number in (sequence, sequence + 3)
            )
            score, null = shuffled if isinstance(shuffled, tuple) else (repeated, shuffled)
            np.testing.assert_allclose(rows["score"], score.ravel(), atol=1e-5, err_msg=detector)
            np.testing.assert_allclose(rows["null"], null.ravel(), atol=1e-5, err_msg=detector)


LENGTH = 10


def planted(vocabulary: int) -> GPT2Model:
    """A GPT-2 whose heads are made by hand; of each layer, the last one looks equally at all it may see.

    Its channels are three parts: the token, the token before, and the position. The first layer has a head of the
    previous token, which copies it into the second part, and one of earlier occurrences and the token itself. The
    second has an induction head, which looks for tokens before which stood its own (Olsson et al. 2022), and one of the
    first token.
    """
    size = max(vocabulary, 2 * LENGTH)
    config = GPT2Config(
        vocab_size=vocabulary, n_positions=size, n_embd=3 * size, n_head=3, n_layer=2, n_inner=1, attn_pdrop=0
    )
    model = GPT2Model(config).eval()
    for parameter in model.parameters():
        parameter.data.zero_()
    token, before, position = (slice(part * size, (part + 1) * size) for part in range(3))
    same, strong = torch.eye(size), 40 * torch.eye(size)
    model.wte.weight.data[:, :vocabulary] = torch.eye(vocabulary)
    model.wpe.weight.data[:, position] = same
    for block in model.h:
        for norm in (block.ln_1, block.ln_2):
            norm.weight.data.fill_(1)

    def head(layer: int, number: int, query, key) -> torch.Tensor:
        # Sets queries and keys of a head, [channel, channel of the head]; returns the weights of all heads.
        weight = model.h[layer].attn.c_attn.weight.data
        for part, (where, values) in enumerate((query, key)):
            begin = part * 3 * size + number * size
            weight[where, begin : begin + size] = values
        return weight

    # Row s of the queries asks for position s - 1.
    weight = head(0, 0, (position, torch.roll(strong, -1, 1)), (position, same))
    weight[token, 6 * size : 7 * size] = same
    model.h[0].attn.c_proj.weight.data[:size, before] = same
    head(0, 1, (token, strong), (token, same))
    head(1, 0, (token, strong), (before, same))
    # The same query at all positions: a bias that asks for the first.
    model.h[1].attn.c_attn.bias.data[size] = 200
    head(1, 1, (token, 0 * same), (position, same))
    return model


def test_planted_heads_are_found_and_no_others():
    tokenizer = gpt2_tokenizer(WORDS)
    drawn = draw_sequences(tokenizer, sequences=12, length=LENGTH, max_length=2 * LENGTH, seed=1, model="planted")
    model = planted(len(tokenizer))
    scores = read_detectors(opened(model), drawn, batch_tokens=512, what="planted")
    table = detector_table(scores, least=0.1)
    found = table[table["detected"]]
    assert found[["detector", "layer", "head"]].to_numpy().tolist() == [
        *(["previous", 0, 0], ["first", 1, 1], ["duplicate", 0, 1], ["induction", 1, 0])
    ]
    scores_of = found.set_index("detector")["score"]
    assert (scores_of[["previous", "first", "induction"]] > 0.8).all()
    # Half of its attention is left to the token itself.
    assert scores_of["duplicate"] == pytest.approx(0.5, abs=0.05)
    assert (found["null"] < 0.1).all()


@pytest.mark.parametrize("spread", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_of_a_random_model_no_more_heads_are_detected_than_stated(name, spread):
    tokenizer = {"bert": bert_tokenizer, "gpt2": gpt2_tokenizer, "llama": llama_tokenizer}[name](WORDS)
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 8, "intermediate_size": 32}
    config = AutoConfig.for_model(
        name, vocab_size=len(tokenizer), max_position_embeddings=64, initializer_range=spread, **sizes
    )
    rates = []
    for seed in range(3):
        torch.manual_seed(seed)
        model = opened(AutoModel.from_config(config).eval())
        drawn = draw_sequences(tokenizer, sequences=16, length=16, max_length=64, seed=seed, model="random")
        table = detector_table(read_detectors(model, drawn, batch_tokens=2048, what="random"), least=0.1)
        assert not table["detected"].any()
        rates.append((table["p"] < 0.05).groupby(table["detector"]).mean())
    # Of each detector at most one head in twenty, even without a correction for their number.
    assert (sum(rates) / len(rates) <= 0.05).all()


def scores_of(differences: np.ndarray, detector: str = "first") -> pd.DataFrame:
    """Scores whose differences from a null of 0.1 are given: [sequence, layer, head]."""
    names = ["sequence", "layer", "head"]
    index = pd.MultiIndex.from_product([range(size) for size in differences.shape], names=names)
    return pd.DataFrame({"detector": detector, "score": 0.1 + differences.ravel(), "null": 0.1}, index).reset_index()


def test_the_table_has_means_and_the_test_by_hand():
    differences = np.zeros((10, 1, 3))
    differences[:, 0, 0] = np.linspace(0.11, 0.65, 10)
    differences[:, 0, 1] = [0.5] * 9 + [0.1]
    table = detector_table(scores_of(differences), least=0.1)
    assert table[["layer", "head"]].to_numpy().tolist() == [[0, 0], [0, 1], [0, 2]]
    means = [[0.48, 0.1, 0.38], [0.56, 0.1, 0.46], [0.1, 0.1, 0]]
    np.testing.assert_allclose(table[["score", "null", "difference"]], means, atol=1e-12)
    assert ((table["low"] <= table["difference"]) & (table["difference"] <= table["high"])).all()
    # All of ten, nine of ten (what equals the least is not above it), and none: by the binomial distribution.
    assert table["above"].tolist() == [10, 9, 0]
    assert table["sequences"].tolist() == [10] * 3
    np.testing.assert_allclose(table["p"], [1 / 1024, 11 / 1024, 1])
    np.testing.assert_allclose(table["corrected_p"], [3 / 1024, 22 / 1024, 1])
    assert table["detected"].tolist() == [True, True, False]
    assert not detector_table(scores_of(differences), least=0.7)["detected"].any()


def test_detectors_come_in_their_order_and_are_corrected_together():
    differences = np.zeros((10, 1, 3))
    differences[:, 0, 0] = 0.5
    two = pd.concat([scores_of(differences, "induction"), scores_of(differences, "previous")])
    table = detector_table(two.sample(frac=1, random_state=1), least=0.1)
    assert table["detector"].tolist() == ["previous"] * 3 + ["induction"] * 3
    np.testing.assert_allclose(table["corrected_p"], [6 / 1024, 1, 1] * 2)
