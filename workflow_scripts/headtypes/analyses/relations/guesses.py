"""Guesses at syntactic heads on disk: one HDF5 file per model and treebank."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float16, Int16

from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import PACKED, add_data, new_result, opened_result

# Words in one chunk.
_CHUNK_WORDS = 1024
# From the word that looks, to the word that is looked at.
DIRECTIONS = ("dependent_to_head", "head_to_dependent")
_FIELDS = ("sentence", "length", "guess", "visible", "to_sep")


@dataclass(frozen=True)
class ArcGuesses:
    """What every head guesses to be the syntactic head of each word, of the sentences that a model could read.

    sentence: [sentence] int32, which of the treebank's sentences these are; the others are too long, or have a word
        without a token.
    length:   [sentence] int32, words of each; the words of all stand one after the other below.
    guess:    1 for the first word of the sentence, -1 for no guess; directions as in `DIRECTIONS`.
    visible:  first and last word that each guess could be; causal and local layers hide some. -1 for none.
    to_sep:   share of each word's attention that goes to what ends the input ([SEP]), NaN where it can see none.
    """

    sentence: np.ndarray
    length: np.ndarray
    guess: Int16[np.ndarray, "word layer head 2"]
    visible: Int16[np.ndarray, "word layer 2 2"]
    to_sep: Float16[np.ndarray, "word layer head"]

    def can_be(self, words: np.ndarray, heads: np.ndarray) -> Bool[np.ndarray, "pair layer 2"]:
        """Whether a guess for a word could be this head.

        words: [pair] indices among all words, from 0; heads: [pair] counted within the sentence, 0 for the root.
        """
        first, last = np.moveaxis(self.visible[words], -1, 0)
        head = heads[:, None, None]
        return (first > 0) & (first <= head) & (head <= last)


def write_arcs(path: StrPath, parts: Mapping[str, ArcGuesses], provenance: dict) -> None:
    """Write the guesses for each part of a treebank, `file` and, where there is one, `test`."""
    with new_result(path, provenance) as file:
        for name, part in parts.items():
            for field in _FIELDS:
                add_data(file, f"{name}/{field}", getattr(part, field), _CHUNK_WORDS, **PACKED)


def read_arcs(path: StrPath) -> dict[str, ArcGuesses]:
    """Read what `write_arcs` wrote. Raises `InputError` that names a damaged file."""
    with opened_result(path, "holds no guesses at syntactic heads") as file:
        parts = {name: ArcGuesses(*(group[field][:] for field in _FIELDS)) for name, group in file.items()}
        for part in parts.values():
            if not part.length.sum() == len(part.guess) == len(part.visible) == len(part.to_sep):
                raise ValueError("its data sets are not of the same words")
        return parts
