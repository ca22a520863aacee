"""Words have the tokens that they have in a text, and their attention equals its definition, however rows are cut."""

import numpy as np
import pytest

from headtypes.analyses.relations.measure import Guesses
from headtypes.analyses.words.words import WordMaps, encode_words, indices_of, special_tokens
from headtypes.core.errors import InputError
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer
from tests.support.word_maps import dense_guesses, dense_words, random_maps, read_planted, tokens_of

KNOWN = ["the", "cat", "sat"]
MAKERS = {
    "bert": (bert_tokenizer, 1, 1), "roberta": (roberta_tokenizer, 1, 1),
    "gpt2": (gpt2_tokenizer, 0, 0), "llama": (llama_tokenizer, 1, 0),
}  # fmt: skip


@pytest.mark.parametrize(("make", "before", "behind"), MAKERS.values(), ids=MAKERS)
def test_words_are_joined_by_single_spaces(make, before, behind):
    tokenizer = make(KNOWN)
    words = ["the", "cats", "sat", "the"]
    ids, word_of = encode_words(tokenizer, words)
    text = tokenizer(" the cats sat the", add_special_tokens=False)["input_ids"]
    assert ids[before : len(ids) - behind] == text
    assert ids == tokenizer(" the cats sat the")["input_ids"]
    assert list(map(len, special_tokens(tokenizer))) == [before, behind]
    inner = word_of[before : len(ids) - behind]
    assert [-1] * before + inner + [-1] * behind == word_of
    # Three are one subword each; the plural has a subword or more of its own.
    assert inner[0] == 0
    assert inner[-2:] == [2, 3]
    assert inner[1:-2] == [1] * (len(text) - 3)


def test_a_word_without_a_subword_is_that_of_no_token():
    _, word_of = encode_words(bert_tokenizer(KNOWN), ["the", "\u200b", "cat"])
    assert word_of == [-1, 0, 2, -1]


# Subwords of each word: up to five, whole sentences of one and of two words, and two of one length.
SPLIT = [(1, 3, 1, 5, 2), (1,), (2,), (1, 1), (4, 1), (1, 1, 1), (2, 1, 1, 1, 1, 1, 3, 2)]
ENDS = {"both": (1, 1), "none": (0, 0), "only before": (1, 0), "two behind": (1, 2)}


@pytest.fixture(params=[(2**16, 32), (1, 1), (1, 3)], ids=["whole", "rows", "threes"])
def blocks(request, monkeypatch):
    """Rows cut into blocks of different sizes, also within words."""
    pairs, rows = request.param
    monkeypatch.setattr("headtypes.attention.hook._BLOCK_PAIRS", pairs)
    monkeypatch.setattr("headtypes.attention.hook.LEAST_ROWS", rows)


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_to_a_word_the_sum_and_from_a_word_the_mean(ends, blocks):
    rng = np.random.default_rng(1)
    tokens = sorted((tokens_of(split, *ends) for split in SPLIT), key=len)
    maps = [random_maps(len(each), rng) for each in tokens]
    for found, planted, word_of_token in zip(read_planted(WordMaps(tokens), maps), maps, tokens, strict=True):
        np.testing.assert_allclose(found, dense_words(planted, word_of_token), atol=1e-6)


@pytest.mark.parametrize("causal", [False, True], ids=["", "causal"])
def test_guesses_are_those_of_the_definition(causal, blocks):
    rng = np.random.default_rng(2)
    tokens = sorted(map(tokens_of, SPLIT), key=len)
    maps = [random_maps(len(each), rng, causal=causal) for each in tokens]
    for (guess, visible, to_sep), planted, word_of_token in zip(
        read_planted(Guesses(tokens), maps, causal), maps, tokens, strict=True
    ):
        dense = dense_words(planted, word_of_token)
        defined, margin = dense_guesses(dense, causal)
        assert guess.dtype == visible.dtype == np.int16
        np.testing.assert_array_equal(np.where(margin > 1e-6, guess, defined), defined)
        assert (margin <= 1e-6).sum() <= 1
        seen = np.nan if causal else dense[..., 1:-1, -1].transpose(2, 0, 1)
        np.testing.assert_allclose(to_sep, np.broadcast_to(seen, to_sep.shape), rtol=1e-3, atol=1e-6)
        assert to_sep.dtype == np.float16
        words = np.arange(1, len(guess) + 1)
        for direction in (0, 1):
            hidden = (words < words[:, None] if direction else words > words[:, None]) & causal
            ends = [
                others[[0, -1]] if len(others := words[~row & (words != word)]) else (-1, -1)
                for word, row in zip(words, hidden, strict=True)
            ]
            np.testing.assert_array_equal(visible[:, 0, direction], ends)


@pytest.mark.parametrize("ends", ENDS)
def test_to_what_ends_the_input_the_sum_and_nothing_where_nothing_does(ends, blocks):
    word_of_token = tokens_of((2, 1, 1), *ENDS[ends])
    maps = random_maps(len(word_of_token), np.random.default_rng(4))
    ((*_, to_sep),) = read_planted(Guesses([word_of_token]), [maps])
    dense = dense_words(maps, word_of_token)[..., 1:-1, -1].transpose(2, 0, 1)
    np.testing.assert_allclose(to_sep, dense if ENDS[ends][1] else np.full_like(dense, np.nan), rtol=1e-3)


def test_the_first_word_wins_a_tie(blocks):
    word_of_token = tokens_of((1, 1, 1, 1))
    maps = np.full((1, 1, 6, 6), 1 / 6)
    ((guess, *_),) = read_planted(Guesses([word_of_token]), [maps])
    assert guess[:, 0, 0].tolist() == [[2, 2], [1, 1], [1, 1], [1, 1]]


def test_a_word_alone_has_no_guess_and_none_is_the_root():
    ((guess, visible, _),) = read_planted(Guesses([tokens_of((3,))]), [random_maps(5, np.random.default_rng(0))])
    assert (guess == -1).all()
    assert (visible == -1).all()


def test_an_attention_that_is_not_finite_is_refused():
    maps = random_maps(5, np.random.default_rng(0))
    maps[1, 2, 3] = np.nan
    for reducer in (WordMaps([tokens_of((3,))]), Guesses([tokens_of((3,))])):
        with pytest.raises(InputError, match="head 2-3 is not finite"):
            read_planted(reducer, [maps])


def test_indices_count_words_as_heads_are_counted():
    assert indices_of([-1, 0, 0, 1, -1]).tolist() == [0, 1, 1, 2, 3]
    assert indices_of([0, 1]).tolist() == [1, 2]
    assert indices_of([0, -1]).tolist() == [1, 2]
