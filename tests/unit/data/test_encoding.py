"""Samples are encoded by the tokenizer's own rules; words are masked as Devlin et al. (2019) did."""

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from headtypes.data.encoding import SPECIAL_KINDS, encode_samples, mask_words, token_kinds
from headtypes.data.tasks import Sample
from tests.support.tiny import bert_tokenizer, roberta_tokenizer, truncating_tokenizer

WORDS = ["the", "a", "cat", "dog", "house", "river", "old", "young", "sat", "ran", "by", "in", "it", "who", "where"]
SAMPLES = [Sample("a", "who sat?", "The old cat, the young dog. It sat."), Sample("b", "where?", "A dog.")]


def tokens(tokenizer, ids):
    return tokenizer.convert_ids_to_tokens(ids)


@pytest.mark.parametrize("make", [bert_tokenizer, truncating_tokenizer])
def test_a_pair_is_question_then_context_between_special_tokens(make):
    tokenizer = make(WORDS)
    encoded = encode_samples(SAMPLES, tokenizer, "question_answering", 64)
    assert tokens(tokenizer, encoded.input_ids[1]) == ["[CLS]", "where", "?", "[SEP]", "a", "dog", ".", "[SEP]"]
    assert encoded.token_types[1] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert encoded.kinds[1].tolist() == [1, 0, 0, 2, 0, 0, 4, 2]
    assert encoded.lengths == [len(ids) for ids in encoded.input_ids] == [len(kinds) for kinds in encoded.kinds]
    assert encoded.truncated.tolist() == [False, False]


@pytest.mark.parametrize("make", [bert_tokenizer, roberta_tokenizer, truncating_tokenizer])
@pytest.mark.parametrize("max_length", [10, 11, 15])
def test_a_long_context_is_cut_and_its_question_is_not(make, max_length):
    tokenizer = make(WORDS)
    whole = encode_samples(SAMPLES, tokenizer, "question_answering", 64)
    cut = encode_samples(SAMPLES, tokenizer, "question_answering", max_length)
    assert cut.truncated.tolist() == [length > max_length for length in whole.lengths]
    assert cut.lengths[0] == len(cut.kinds[0]) == len((cut.token_types or cut.kinds)[0]) == max_length
    # All but the last special token is as it was.
    assert cut.input_ids[0][:-1] == whole.input_ids[0][: max_length - 1]
    assert cut.input_ids[0][-1] == whole.input_ids[0][-1]
    assert cut.truncated[1] or cut.input_ids[1] == whole.input_ids[1]


OF_BERT = {"[CLS]": "cls", "[SEP]": "sep", ",": "comma", ".": "period"}
# The mark of a word's beginning is no part of a token's surface.
OF_ROBERTA = {"<s>": "cls", "</s>": "sep", ",": "comma", ".": "period", "Ġ,": "comma", "Ġ.": "period"}


@pytest.mark.parametrize(("make", "expected"), [(bert_tokenizer, OF_BERT), (roberta_tokenizer, OF_ROBERTA)])
def test_the_four_special_kinds_and_no_others(make, expected):
    tokenizer = make([",", ".", *WORDS])
    kinds = token_kinds(tokenizer)
    special = {token: SPECIAL_KINDS[kinds[index] - 1] for token, index in tokenizer.get_vocab().items() if kinds[index]}
    assert special == expected


def test_without_cls_and_sep_the_beginning_and_end_of_text_take_their_place_if_they_are_added():
    def kinds(template="$A", **special):
        pieces = ["<b>", "<e>", ",", ".", ",,", "...", "dog"]
        backend = Tokenizer(models.WordLevel({piece: index for index, piece in enumerate(pieces)}, unk_token="dog"))
        backend.pre_tokenizer = pre_tokenizers.Whitespace()
        backend.post_processor = processors.TemplateProcessing(
            single=template, pair=f"{template} $B", special_tokens=[("<b>", 0), ("<e>", 1)]
        )
        return token_kinds(PreTrainedTokenizerFast(tokenizer_object=backend, **special))

    both = {"bos_token": "<b>", "eos_token": "<e>"}
    assert kinds("<b> $A <e>", **both).tolist() == [1, 2, 3, 4, 0, 0, 0]
    assert kinds("<b> $A", **both).tolist() == [1, 0, 3, 4, 0, 0, 0]
    assert kinds("$A <e>", **both).tolist() == [0, 2, 3, 4, 0, 0, 0]
    assert kinds(**both).tolist() == [0, 0, 3, 4, 0, 0, 0]
    assert kinds(cls_token="<b>", sep_token="<e>").tolist() == [1, 2, 3, 4, 0, 0, 0]
    assert kinds("<b> $A <b>", bos_token="<b>", eos_token="<b>").tolist() == [1, 0, 3, 4, 0, 0, 0]
    assert kinds().tolist() == [0, 0, 3, 4, 0, 0, 0]
    assert kinds().dtype == np.int8


MASK, VOCABULARY = 4, np.arange(5, 1000)


def masked(ids, ordinary):
    return mask_words(ids, ordinary, MASK, VOCABULARY, 0)


def test_fifteen_percent_of_the_ordinary_tokens_are_drawn_and_at_least_one():
    for length, drawn in ((0, 0), (1, 1), (6, 1), (7, 1), (10, 2), (100, 15), (1000, 150)):
        ordinary = np.array([False, *[True] * length, False])
        words = masked(np.arange(len(ordinary)) + 5, ordinary)
        assert len(words.indices) == len(words.targets) == drawn
        assert ordinary[words.indices].all()
        assert (np.diff(words.indices) > 0).all()


def test_of_the_tokens_drawn_eight_in_ten_are_masked_and_one_in_ten_stays():
    ids = np.full(20_000, 7)
    words = masked(ids, np.ones(len(ids), bool))
    now = words.input_ids[words.indices]
    assert (words.targets == 7).all()
    np.testing.assert_allclose([(now == MASK).mean(), (now == 7).mean()], [0.8, 0.1], atol=0.02)
    others = now[(now != MASK) & (now != 7)]
    assert set(others) <= set(VOCABULARY.tolist())
    assert len(set(others)) > 200
    np.testing.assert_array_equal(np.delete(words.input_ids, words.indices), np.delete(ids, words.indices))
