"""The parts of a document that a model reads."""

import numpy as np
import pytest

from headtypes.analyses.coreference.mentions import parts_of
from headtypes.data.kinds.coreference.records import AnnotatedDocument, AnnotatedSentence


def document(*lengths: int) -> AnnotatedDocument:
    """A document of sentences of so many words."""
    sentences = []
    for length in lengths:
        nothing = ("",) * length
        sentences.append(AnnotatedSentence(("w",) * length, None, None, nothing, nothing, nothing, None, nothing))
    return AnnotatedDocument("d", tuple(sentences), (), 0)


@pytest.mark.parametrize(
    ("room", "expected"), [(3, [range(2)]), (4, [range(3)]), (1, [range(1)]), (20, [range(5)]), (0, [])]
)
def test_the_first_part_is_as_many_words_as_there_is_room_for(room, expected):
    # Whether or not a sentence ends there.
    assert parts_of(document(1, 4), [1, 2, 1, 3, 1], room, "first") == expected


@pytest.mark.parametrize(
    ("lengths", "room", "expected"),
    [
        ([2, 2, 2], 4, [(0, 4), (4, 6)]),
        # A sentence is not cut to fill a part.
        ([2, 3, 1], 4, [(0, 2), (2, 6)]),
        # One that fits nowhere is cut, and what is left of it is continued.
        ([1, 7, 1, 3], 3, [(0, 1), (1, 4), (4, 7), (7, 9), (9, 12)]),
        ([2, 2], 9, [(0, 4)]),
    ],
)
def test_chunks_are_whole_sentences_as_far_as_they_fit(lengths, room, expected):
    found = parts_of(document(*lengths), [1] * sum(lengths), room, "chunks")
    assert [(part.start, part.stop) for part in found] == expected


def test_a_word_that_has_no_room_is_in_no_part():
    assert parts_of(document(4, 2), [1, 9, 1, 9, 1, 1], 3, "chunks") == [range(1), range(2, 3), range(4, 6)]
    assert parts_of(document(4, 2), [9, 1, 1, 1, 1, 1], 3, "first") == []


@pytest.mark.parametrize("seed", range(20))
def test_chunks_hold_every_word_once_and_no_more_than_there_is_room_for(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, size=8).tolist()
    subwords, room = rng.integers(0, 5, size=sum(lengths)).tolist(), 10
    text = document(*lengths)
    parts = parts_of(text, subwords, room, "chunks")
    assert [word for part in parts for word in part] == list(range(sum(lengths)))
    assert max(sum(subwords[word] for word in part) for part in parts) <= room
    # A sentence that has room is in one part.
    ends = np.cumsum(lengths)
    for start, end in zip(ends - lengths, ends, strict=True):
        if sum(subwords[start:end]) <= room:
            assert any(part.start <= start and end <= part.stop for part in parts)
    first = parts_of(text, subwords, room, "first")
    assert first == [range(first[0].stop)]
    assert sum(subwords[: first[0].stop]) <= room < sum(subwords[: first[0].stop + 1])
