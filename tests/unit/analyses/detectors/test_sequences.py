"""Random tokens twice over: with the second half as the first, and shuffled."""

import numpy as np
import pytest

from headtypes.analyses.detectors.measure import draw_sequences
from headtypes.core.errors import InputError
from tests.support.models import WORDS
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer, truncating_tokenizer

SETTINGS = {"length": 9, "max_length": 64, "model": "tiny"}


@pytest.mark.parametrize(
    "make", [bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer, truncating_tokenizer]
)
def test_the_second_half_repeats_the_first_or_has_its_tokens_in_another_order(make):
    tokenizer = make(WORDS)
    drawn = draw_sequences(tokenizer, sequences=20, seed=1, **SETTINGS)
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
    assert not (np.diff(np.sort(first)) == 0).any()
    # Special tokens stand where those of a text do, and nowhere else.
    text = tokenizer("a", truncation=False, padding=False)["input_ids"]
    assert repeated[:, :start].tolist() == [text[:start]] * 20
    assert repeated[:, half + 9 :].tolist() == [text[len(text) - (repeated.shape[1] - half - 9) :]] * 20
    assert not np.isin(first, tokenizer.all_special_ids).any()
    assert (drawn.encoded.token_types is None) == ("token_type_ids" not in tokenizer("a"))


def test_more_sequences_begin_with_the_same_and_another_seed_draws_others():
    few, more, others = (
        draw_sequences(bert_tokenizer(WORDS), sequences=count, seed=seed, **SETTINGS).encoded.input_ids
        for count, seed in ((2, 1), (5, 1), (2, 2))
    )
    assert few == more[:2] + more[5:7]
    assert few != others


def test_a_half_that_is_too_long_is_refused():
    tokenizer = bert_tokenizer(WORDS)
    with pytest.raises(InputError, match=r"tiny: half a sequence cannot have 32 different .* at most 31 can be drawn"):
        draw_sequences(tokenizer, sequences=1, seed=1, **{**SETTINGS, "length": 32})
    with pytest.raises(InputError, match=r"the vocabulary has 1\d\d, .* at most 1\d\d"):
        draw_sequences(tokenizer, sequences=1, seed=1, length=300, max_length=900, model="tiny")
