"""The rows of a coreference corpus."""

from dataclasses import dataclass

from headtypes.data.records import Strict


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
