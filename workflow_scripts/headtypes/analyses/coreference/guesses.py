"""Guesses at antecedents, of one model on one set of documents."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int16, Int32

# Among which words a head's guess is taken. No number says anything without the name of its candidates: for one and the
# same head they differ by up to 35 points.
CANDIDATES = ("words", "words_before", "mentions")


@dataclass(frozen=True)
class AntecedentGuesses:
    """What every head guesses to be the antecedent of each coreferent mention, in parts of documents.

    document:    that the part is of, from 0.
    start, stop: its words: from `start` to before `stop`, counted from 0 in the document.
    unread:      document and index of each word that has no token.
    part:        of each mention.
    mention:     its first and its last word, counted from 0 in the part.
    guess:       a word, counted from 0 in the part; -1 for none; candidates as in `CANDIDATES`.
    """

    document: Int32[np.ndarray, " part"]
    start: Int32[np.ndarray, " part"]
    stop: Int32[np.ndarray, " part"]
    unread: Int32[np.ndarray, "word 2"]
    part: Int32[np.ndarray, " mention"]
    mention: Int32[np.ndarray, "mention 2"]
    guess: Int16[np.ndarray, "mention layer head 3"]
