"""The rows of a treebank."""

from dataclasses import dataclass

from headtypes.data.records import Strict


@dataclass(frozen=True, slots=True)
class Sentence(Strict):
    """A sentence of a treebank; every list has one entry for each word.

    words:     as they are written, not re-cased.
    heads:     the number of each word's head, counted from 1; 0 for the root, of which there is one.
    relations: of each word to its head, with subtypes (`nsubj:pass`).
    upos, xpos, lemmas: universal and language-specific parts of speech, and lemmas; empty where there is none.
    """

    id: str
    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    lemmas: tuple[str, ...]
