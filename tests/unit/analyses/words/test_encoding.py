"""Words that are already split have the tokens that they have in a text, whatever the tokenizer."""

import pytest

from headtypes.analyses.words.words import encode_words, special_tokens
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer

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
