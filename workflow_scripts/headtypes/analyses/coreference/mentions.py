"""Mentions of a part of a document: their head words, candidates and antecedents.

Clark et al. (2019, section 4.3) define none of these; docs/understand/clark.md has the definitions used here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from headtypes.analyses.coreference.phrases import head_by_parse
from headtypes.data.kinds.coreference.records import AnnotatedDocument, AnnotatedSentence

# Where neither a tree nor a parse tells the head word, it stands before the first of these.
_PREPOSITIONS = ("of", "in", "on", "at", "to", "for", "with", "by", "from", "about")
_AFTER_HEAD = frozenset((*_PREPOSITIONS, "who", "which", "that", "where", ",", "--", ";", ":"))


@dataclass(frozen=True)
class Span:
    """Where a mention stands. Words are counted from 0 in the part.

    start, end: indices of the first and the last word; head: of the head word; entity: what it refers to.
    """

    start: int
    end: int
    head: int
    entity: str


M = TypeVar("M", bound=Span)


@dataclass(frozen=True)
class Anaphor(Generic[M]):
    """A coreferent mention of a part: one that has an antecedent.

    candidates:  mentions of the part that end before it starts, in the order of the document.
    antecedents: head words of the candidates that have its entity.
    """

    mention: M
    candidates: tuple[M, ...]
    antecedents: frozenset[int]

    @property
    def candidate_heads(self) -> list[int]:
        """The head words of the candidates, each once, in rising order."""
        return sorted({candidate.head for candidate in self.candidates})


def spans_of(document: AnnotatedDocument, part: range, subwords: Sequence[int] | None = None) -> list[Span]:
    """The mentions that lie wholly inside of a part, in their order.

    part:   words of the document, as `parts.parts_of` gives them.
    subwords: number of subwords of each word of the document; a mention whose head word has none is left out, since no
        model can look at it.
    """
    inside = []
    for mention in document.mentions:
        if mention.start < part.start or mention.end >= part.stop:
            continue
        before, sentence = sentence_of(document, mention.start)
        head = before + head_of(sentence, mention.start - before, mention.end - before)
        if subwords is None or subwords[head]:
            start, end = mention.start - part.start, mention.end - part.start
            inside.append(Span(start, end, head - part.start, mention.entity))
    return inside


def anaphors(mentions: Iterable[M]) -> list[Anaphor[M]]:
    """The coreferent mentions of a part, given all of its mentions."""
    mentions, coreferent = list(mentions), []
    for mention in mentions:
        candidates = tuple(other for other in mentions if other.end < mention.start)
        antecedents = frozenset(other.head for other in candidates if other.entity == mention.entity)
        if antecedents:
            coreferent.append(Anaphor(mention, candidates, antecedents))
    return coreferent


def sentence_of(document: AnnotatedDocument, word: int) -> tuple[int, AnnotatedSentence]:
    """The sentence of a word of a document, and the number of words before it."""
    before = 0
    for sentence in document.sentences:
        if word < before + len(sentence.words):
            return before, sentence
        before += len(sentence.words)
    raise IndexError(word)


def head_of(sentence: AnnotatedSentence, start: int, end: int) -> int:
    """The head word of the words start ... end of a sentence, counted from 0.

    With a dependency tree, the word whose head is not among them; of several, the one nearest to the root, then the
    first. With a parse, by Collins' rules for noun phrases. With neither, the last word before the first preposition,
    relative pronoun or mark (`_AFTER_HEAD`) that is not the first word.
    """
    if sentence.heads is not None:
        heads = sentence.heads
        tops = [word for word in range(start, end + 1) if not start <= heads[word] - 1 <= end]
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
