"""Words are masked as Devlin et al. (2019) did, and the same ones whatever else is read."""

import numpy as np

from headtypes.data.masking import mask_words

MASK, VOCABULARY = 4, np.arange(5, 1000)


def masked(ids, ordinary, seed=0):
    return mask_words(ids, np.array(ordinary), MASK, VOCABULARY, seed)


def test_fifteen_percent_of_the_ordinary_tokens_are_drawn_and_at_least_one():
    for length, drawn in ((1, 1), (6, 1), (7, 1), (10, 2), (100, 15), (1000, 150)):
        ordinary = np.array([False, *[True] * length, False])
        words = masked(np.arange(len(ordinary)) + 5, ordinary)
        assert len(words.indices) == drawn
        assert ordinary[words.indices].all()
        assert (np.diff(words.indices) > 0).all()


def test_without_an_ordinary_token_nothing_is_drawn():
    words = masked([1, 2], [False, False])
    assert len(words.indices) == len(words.targets) == 0
    assert words.input_ids.tolist() == [1, 2]


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
