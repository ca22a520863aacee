"""Guesses at antecedents on disk: one small HDF5 file per model and set of documents."""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Int16

from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import add_data, new_result, opened_result

# Among which words a head's guess is taken. No number says anything without the name of its candidates: for one and the
# same head they differ by up to 35 points.
CANDIDATES = ("words", "words_before", "mentions")


@dataclass(frozen=True)
class AntecedentGuesses:
    """What every head guesses to be the antecedent of each coreferent mention, in parts of documents.

    document:    [part] int32, the document that the part is of, from 0.
    start, stop: [part] int32, its words: from `start` to before `stop`, counted from 0 in the document.
    unread:      [word, 2] int32, document and index of each word that has no token.
    part:        [mention] int32, the part of each mention.
    mention:     [mention, 2] int32, its first and its last word, counted from 0 in the part.
    guess:       a word, counted from 0 in the part; -1 for none; candidates as in `CANDIDATES`.
    """

    document: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    unread: np.ndarray
    part: np.ndarray
    mention: np.ndarray
    guess: Int16[np.ndarray, "mention layer head 3"]


def write_antecedents(path: StrPath, guesses: AntecedentGuesses, provenance: dict) -> None:
    """Write guesses as a whole HDF5 file with checksums, and what made them."""
    with new_result(path, provenance) as file:
        for field in fields(AntecedentGuesses):
            add_data(file, field.name, getattr(guesses, field.name), compression="gzip")


def read_antecedents(path: StrPath) -> AntecedentGuesses:
    """Read what `write_antecedents` wrote. Raises `InputError` that names a damaged file."""
    with opened_result(path, "holds no guesses at antecedents") as file:
        guesses = AntecedentGuesses(*(file[field.name][:] for field in fields(AntecedentGuesses)))
        if not len(guesses.part) == len(guesses.mention) == len(guesses.guess):
            raise ValueError("its data sets are not of the same mentions")
        return guesses
