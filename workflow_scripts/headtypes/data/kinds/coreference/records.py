"""The rows of a coreference corpus, and the brackets around mentions that they are made of."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from headtypes.data.conllu import malformed
from headtypes.data.records import Strict

_MARK = re.compile(r"(\()?([^()]+)(\))?")
# An entity's id, which of several spans this is, and further fields.
_ENTITY = re.compile(r"([^\[\]-]+)(\[[0-9]+/[0-9]+\])?(-.*)?")


@dataclass(frozen=True, slots=True)
class Mention(Strict):
    """Words that refer to an entity: from `start` to `end`, both included, counted from 0 in the document."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class AnnotatedSentence(Strict):
    """A sentence of a document with mentions; every list has one entry for each word.

    words:     as they are written, not re-cased.
    heads:     as in `treebank.Sentence`, counted within the sentence; None if there is no dependency tree.
    relations: likewise.
    upos, xpos: universal and language-specific parts of speech (CoNLL-2012 has the latter alone); empty where there is
        none.
    numbers:   the feature Number (`Sing`, `Plur`, ...); empty where there is none.
    parse:     the pieces of a bracketed parse, such as `(NP*`; None if there is none.
    speakers:  who says each word; empty where that is not known.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...] | None
    relations: tuple[str, ...] | None
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    numbers: tuple[str, ...]
    parse: tuple[str, ...] | None
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedDocument(Strict):
    """A document with the mentions of those entities that have two or more.

    mentions: in the order of their first words; of those, the longer first.
    left_out: mentions that are not one span of words, and therefore are not among `mentions`.
    """

    id: str
    sentences: tuple[AnnotatedSentence, ...]
    mentions: tuple[Mention, ...]
    left_out: int

    @property
    def words(self) -> list[str]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence.words]


def document(
    id_: str, sentences: Iterable[AnnotatedSentence], mentions: Collection[Mention], left_out: int
) -> AnnotatedDocument:
    """A document with those of the mentions whose entity has two or more, in their order."""
    often = Counter(mention.entity for mention in mentions)
    coreferent = [mention for mention in mentions if often[mention.entity] > 1]
    coreferent.sort(key=lambda mention: (mention.start, -mention.end, mention.entity))
    return AnnotatedDocument(id_, tuple(sentences), tuple(coreferent), left_out)


class DocumentBuilder:
    """Collects the sentences and mentions of a document; path, line: where it begins."""

    def __init__(self, id_: str, path: str, line: int):
        self.id = id_
        self._path, self._line = path, line
        self._sentences: list[AnnotatedSentence] = []
        self._mentions: set[Mention] = set()
        # By entity and piece: the line and the word at which each open mention begins.
        self._open: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        self._words, self._left_out, self._marked = 0, 0, False

    def mark(self, marks: str, line: int, start: int, end: int) -> None:
        """Open and close mentions.

        marks:      brackets with ids of entities, one after the other, such as `(1(2)` or `3)4)`.
        start, end: the words, counted in the sentence, where a mention opens or closes; of an empty node, the next and
            the previous one.
        Raises `InputError` with file and line if the marks cannot be read or a mention is closed that is not open.
        """
        brackets = list(_MARK.finditer(marks))
        if "".join(match[0] for match in brackets) != marks or not all(match[1] or match[3] for match in brackets):
            raise malformed(self._path, line, f"the brackets of {marks!r} cannot be read")
        for match in brackets:
            entity = _ENTITY.fullmatch(match[2])
            if entity is None:
                raise malformed(self._path, line, f"{match[2]!r} does not begin with the id of an entity")
            key = entity[1], entity[2] or ""
            if match[1]:
                self._open[key].append((line, self._words + start))
            if match[3]:
                self._close(key, line, self._words + end)
        self._marked = True

    def _close(self, key: tuple[str, str], line: int, end: int) -> None:
        name, part = key
        if not self._open[key]:
            problem = f"a mention of the entity {name}{part} is closed that is not open in this sentence"
            raise malformed(self._path, line, problem)
        _, start = self._open[key].pop()
        if not part and start <= end:
            self._mentions.add(Mention(start, end, name))
        elif not part or part.startswith("[1/"):
            self._left_out += 1

    def end_sentence(self, sentence: AnnotatedSentence) -> None:
        """Add the sentence whose mentions have been marked; raises `InputError` where one of them is still open."""
        for (name, part), openings in self._open.items():
            if openings:
                problem = f"the mention of the entity {name}{part} that opens here is not closed in its sentence"
                raise malformed(self._path, openings[-1][0], problem)
        self._sentences.append(sentence)
        self._words += len(sentence.words)

    def finish(self) -> AnnotatedDocument | None:
        """The document; None where nothing in it is marked as a mention. Raises `InputError` if it has no words."""
        if not self._sentences:
            raise malformed(self._path, self._line, f"the document {self.id} that begins here has no words")
        return document(self.id, self._sentences, self._mentions, self._left_out) if self._marked else None
