"""Mentions in documents: head words, candidates, antecedents and guesses, as docs/understand/clark.md defines them."""

import math
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int16, Int32

from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence

_BIT = re.compile(r"\(([^()*]+)|\*|\)")


# A constituent of a sentence, or one word with its part of speech; it is equal only to itself.
@dataclass(eq=False)
class _Phrase:
    label: str
    start: int
    stop: int


def head_by_parse(parse: Sequence[str], xpos: Sequence[str], start: int, stop: int) -> int:
    # Rules of Collins (1999, appendix A) for noun phrases. The tree has a piece for each word, such as `(NP*` and `*)`.
    phrases = _phrases(parse, xpos)
    # One of the largest constituents within the words, then a child of it, and so on down to a word.
    while children := _largest(phrases, start, stop):
        head = _head_child(children)
        phrases, start, stop = phrases[phrases.index(head) + 1 :], head.start, head.stop
    return start


def _phrases(parse: Sequence[str], xpos: Sequence[str]) -> list[_Phrase]:
    # In the order in which they begin: first a constituent, then what is inside of it.
    phrases, opened = [], []
    for word, bit in enumerate(parse):
        for mark in _BIT.finditer(bit):
            if mark[0] == ")":
                opened.pop().stop = word + 1
                continue
            phrases.append(_Phrase(mark[1] or xpos[word], word, word + 1))
            if mark[1]:
                opened.append(phrases[-1])
    return phrases


def _largest(phrases: Iterable[_Phrase], start: int, stop: int) -> list[_Phrase]:
    found = []
    for phrase in phrases:
        if start <= phrase.start and phrase.stop <= stop:
            found.append(phrase)
            start = phrase.stop
    return found


def _head_child(children: Sequence[_Phrase]) -> _Phrase:
    def first(order: Sequence[_Phrase], *labels: str) -> _Phrase | None:
        # A category such as NP-SBJ is NP; `-LRB-` is one.
        return next((child for child in order if re.match("-.*|[^-=]*", child.label)[0] in labels), None)

    from_right = children[::-1]
    if children[-1].label == "POS":
        return children[-1]
    return (
        first(from_right, "NN", "NNP", "NNPS", "NNS", "NX", "NML", "POS", "JJR")
        or first(children, "NP")
        or first(from_right, "$", "ADJP", "PRN")
        or first(from_right, "CD")
        or first(from_right, "JJ", "JJS", "RB", "QP")
        or children[-1]
    )


# Where neither a tree nor a parse tells the head word, it stands before the first of these.
_PREPOSITIONS = ("of", "in", "on", "at", "to", "for", "with", "by", "from", "about")
_AFTER_HEAD = frozenset((*_PREPOSITIONS, "who", "which", "that", "where", ",", "--", ";", ":"))


@dataclass(frozen=True)
class Span:
    """A mention of an entity: indices of its first, last and head word in a part of a document."""

    start: int
    end: int
    head: int
    entity: str


@dataclass(frozen=True)
class Anaphor:
    """A mention, with `mentions`, all mentions of its part of a document, in order.

    candidates: those of `mentions` that end before the mention starts. antecedents: the head words of the candidates
        that have the mention's entity. candidate_heads: the head words of all candidates, sorted. Head words are
        indices in the part.
    """

    mention: Span
    mentions: Sequence[Span]

    @cached_property
    def candidates(self) -> list[Span]:
        return [other for other in self.mentions if other.end < self.mention.start]

    @cached_property
    def antecedents(self) -> set[int]:
        return {other.head for other in self.candidates if other.entity == self.mention.entity}

    @property
    def candidate_heads(self) -> list[int]:
        return sorted({candidate.head for candidate in self.candidates})


def spans_of(document: AnnotatedDocument, part: range, unread: Container[int] = ()) -> list[Span]:
    """Return the mentions that lie wholly inside of a part of a document, in the order of the document.

    part: the part's words, by index in the document. unread: words without a token, by index in the document; a mention
        with such a head word is left out.
    """
    inside = []
    for mention in document.mentions:
        if mention.start < part.start or mention.end >= part.stop:
            continue
        before, sentence = sentence_with(document, mention.start)
        head = before + head_word_of(sentence, mention.start - before, mention.end - before)
        if head not in unread:
            start, end = mention.start - part.start, mention.end - part.start
            inside.append(Span(start, end, head - part.start, mention.entity))
    return inside


def anaphors(mentions: Sequence[Span]) -> list[Anaphor]:
    return [anaphor for mention in mentions if (anaphor := Anaphor(mention, mentions)).antecedents]


def sentence_with(document: AnnotatedDocument, word: int) -> tuple[int, AnnotatedSentence]:
    sentences = zip(_sentences(document), document.sentences, strict=True)
    return next((words.start, sentence) for words, sentence in sentences if word in words)


def head_word_of(sentence: AnnotatedSentence, start: int, end: int) -> int:
    """Return the head word of the words `start` to `end`, included; all three are indices in the sentence, from 0.

    With a dependency tree, the head word is the word whose syntactic head is outside of these words. With a parse tree
    alone, `head_by_parse` decides. With neither, the head word stands before the first preposition, relative pronoun or
    punctuation mark behind word `start`, or else is the last word.
    """
    if sentence.heads is not None:
        heads = sentence.heads
        tops = [word for word in range(start, end + 1) if not start <= heads[word] - 1 <= end]
        # Of several, the nearest to the root, then the first.
        return min(tops, key=lambda word: (_depth(heads, word), word))
    if sentence.parse is not None:
        return head_by_parse(sentence.parse, sentence.xpos, start, end + 1)
    after = (word for word in range(start + 1, end + 1) if sentence.words[word].lower() in _AFTER_HEAD)
    return next(after, end + 1) - 1


def _depth(heads: Sequence[int], word: int) -> int:
    depth = 0
    while heads[word]:
        word, depth = heads[word] - 1, depth + 1
    return depth


def parts_of(document: AnnotatedDocument, subwords: Sequence[int], room: int, extent: str) -> list[range]:
    """Return the parts of a document that a model reads: ranges of indices of words in the document.

    subwords: number of subwords of each word. room: most subwords of an input, without special tokens.
    extent: `first`, one part of as many of the first words as there is room for, as in the paper; `chunks`, parts of as
        many whole sentences as fit, where a sentence that fits nowhere is cut between words. A word of more subwords
        than `room` is in no part.
    """
    parts, used = [], math.inf
    for sentence in [range(len(subwords))] if extent == "first" else _sentences(document):
        whole = sum(subwords[word] for word in sentence) <= room
        if not whole:
            used = math.inf
        for unit in [sentence] if whole else [range(word, word + 1) for word in sentence]:
            size = sum(subwords[word] for word in unit)
            if size > room:
                # No part goes on behind such a word.
                used = math.inf
            elif used + size > room:
                parts.append(unit)
                used = size
            else:
                parts[-1] = range(parts[-1].start, unit.stop)
                used += size
    return [part for part in parts[:1] if part and not part.start] if extent == "first" else parts


def _sentences(document: AnnotatedDocument) -> Iterator[range]:
    start = 0
    for sentence in document.sentences:
        yield range(start, start + len(sentence.words))
        start += len(sentence.words)


# Among which words a head's guess is taken. No number says anything without the name of its candidates: for one and the
# same head they differ by up to 35 points.
CANDIDATES = ("words", "words_before", "mentions")


@dataclass(frozen=True)
class AntecedentGuesses:
    """The guesses of every head at the antecedent of each mention that has one, in parts of documents.

    guess: [mention, layer, head, 3] the word that the mention's head word looks at most: among all other words, among
    the words before it, and among head words of earlier mentions. A guess is a word's index in the part; -1 for none.
    """

    document: Int32[np.ndarray, " part"]
    # The words [start, stop) of the document.
    start: Int32[np.ndarray, " part"]
    stop: Int32[np.ndarray, " part"]
    # Document and index of each word that has no token.
    unread: Int32[np.ndarray, "word 2"]
    part: Int32[np.ndarray, " mention"]
    # First and last word in the part.
    mention: Int32[np.ndarray, "mention 2"]
    # Among each set of `CANDIDATES`.
    guess: Int16[np.ndarray, "mention layer head 3"]
