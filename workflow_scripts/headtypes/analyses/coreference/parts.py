"""The parts of a document that a model reads, each as a document of its own (Clark et al. 2019, section 4.3)."""

from collections.abc import Iterator, Sequence

from headtypes.analyses.words.settings import Extent
from headtypes.data.kinds.coreference.records import AnnotatedDocument


def parts_of(document: AnnotatedDocument, subwords: Sequence[int], room: int, extent: Extent) -> list[range]:
    """The words of each part, counted from 0 in the document.

    subwords: number of subwords of each word of the document.
    room:     subwords that an input has room for, without its special tokens.
    extent:   `first`, as many of the first words as there is room for; `chunks`, sentence by sentence as long as they
        fit, a sentence that fits nowhere cut between words. A word that alone has no room is in no part.
    """
    if extent == "first":
        return _filled(range(len(subwords)), subwords, room)[:1] if subwords and subwords[0] <= room else []
    return list(_chunks(document, subwords, room))


def _chunks(document: AnnotatedDocument, subwords: Sequence[int], room: int) -> Iterator[range]:
    chunk, used = range(0), 0
    for sentence in _sentences(document):
        size = sum(subwords[word] for word in sentence)
        if chunk and used + size <= room:
            chunk, used = range(chunk.start, sentence.stop), used + size
            continue
        if chunk:
            yield chunk
        # What is left of a sentence that was cut is continued by the next one.
        *whole, chunk = _filled(sentence, subwords, room) or [range(0)]
        yield from whole
        used = sum(subwords[word] for word in chunk)
        if chunk and chunk.stop < sentence.stop:
            yield chunk
            chunk, used = range(0), 0
    if chunk:
        yield chunk


def _sentences(document: AnnotatedDocument) -> Iterator[range]:
    start = 0
    for sentence in document.sentences:
        yield range(start, start + len(sentence.words))
        start += len(sentence.words)


def _filled(words: range, subwords: Sequence[int], room: int) -> list[range]:
    """Words that follow each other, as many in each range as there is room for."""
    parts, start, used = [], words.start, 0
    for word in words:
        if used + subwords[word] > room:
            if start < word:
                parts.append(range(start, word))
            start, used = word, 0
        if subwords[word] > room:
            start = word + 1
        else:
            used += subwords[word]
    if start < words.stop:
        parts.append(range(start, words.stop))
    return parts
