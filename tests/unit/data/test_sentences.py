import numpy as np
import pytest

from headtypes.data.sentences import sentence_of, split_sentences


def pieces(text):
    return [text[start:end] for start, end in split_sentences(text)]


def test_offsets_count_characters_and_not_bytes():
    text = "Café Müller is é. It is 😀 good! Dr. Smith went home.  He saw it."
    assert [piece.strip() for piece in pieces(text)] == [
        "Café Müller is é.",
        "It is 😀 good!",
        "Dr. Smith went home.",
        "He saw it.",
    ]
    assert "".join(pieces(text)) == text


def test_white_space_between_paragraphs_is_no_sentence():
    assert pieces("One stands here.\n\nTwo stands there.") == ["One stands here.", "Two stands there."]


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_text_without_sentences(text):
    boundaries = split_sentences(text)
    assert boundaries.shape == (0, 2)
    assert sentence_of(np.array([0]), boundaries).tolist() == [0]


@pytest.mark.parametrize("space", ["\u3000", "\u2029", "\u00a0", "\u2009"])
def test_wide_white_space_splits_like_a_space(space):
    text = "Mr. A\u3000. went home. Then he slept.".replace("\u3000", space)
    assert split_sentences(text).tolist() == split_sentences(text.replace(space, " ")).tolist()


def test_tokens_fall_into_the_sentence_in_which_they_start():
    boundaries = np.array([[2, 5], [5, 9], [12, 20]])
    offsets = np.arange(24)
    naive = [max([index for index, (start, _) in enumerate(boundaries) if start <= at], default=0) for at in offsets]
    found = sentence_of(offsets, boundaries)
    assert found.tolist() == naive
    assert found.dtype == np.int32
    # Between two sentences the preceding one, before the first the first, after the last the last.
    assert found[[10, 0, 23]].tolist() == [1, 0, 2]
