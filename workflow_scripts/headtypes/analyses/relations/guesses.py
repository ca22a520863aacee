"""Guesses at syntactic heads on disk: one HDF5 file per model and treebank."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float16, Int16

from headtypes.core.files import StrPath, canonical_json
from headtypes.core.hdf5_files import PACKED, add_data, new_result, opened_result

# Words in one chunk.
_CHUNK_WORDS = 1024
# From the word that looks, to the word that is looked at.
DIRECTIONS = ("dependent_to_head", "head_to_dependent")
_FIELDS = ("sentence", "length", "guess", "visible", "to_sep")


@dataclass(frozen=True)
class ArcGuesses:
    """What every head guesses to be the syntactic head of each word, of the sentences that a model could read.

    sentence: [sentence] int32, which of the treebank's sentences these are.
    length:   [sentence] int32, words of each; the words of all stand one after the other below.
    guess:    1 for the first word of the sentence, -1 for no guess; directions as in `DIRECTIONS`.
    visible:  first and last word that each guess could be; causal and local layers hide some. -1 for none.
    to_sep:   share of each word's attention that goes to what ends the input ([SEP]), NaN where it can see none.
    left_out: how many of the treebank's sentences are not among these, by what they have: too many tokens, or a word
        without one.
    """

    sentence: np.ndarray
    length: np.ndarray
    guess: Int16[np.ndarray, "word layer head 2"]
    visible: Int16[np.ndarray, "word layer 2 2"]
    to_sep: Float16[np.ndarray, "word layer head"]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence where some of the treebank's sentences are not among these."""
        if not self.left_out:
            return ()
        reasons = " and ".join(f"{count:,} with {what}" for what, count in self.left_out.items())
        return (f"Of {len(self.sentence) + sum(self.left_out.values()):,} sentences, {reasons} are left out.",)

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
            for data in _FIELDS:
                add_data(file, f"{name}/{data}", getattr(part, data), _CHUNK_WORDS, **PACKED)
            file[name].attrs["left_out"] = canonical_json(dict(part.left_out))


def read_arcs(path: StrPath) -> dict[str, ArcGuesses]:
    """Read what `write_arcs` wrote. Raises `InputError` that names a damaged file."""
    with opened_result(path, "holds no guesses at syntactic heads") as file:
        parts = {
            name: ArcGuesses(*(group[data][:] for data in _FIELDS), json.loads(group.attrs["left_out"]))
            for name, group in file.items()
        }
        for part in parts.values():
            if not part.length.sum() == len(part.guess) == len(part.visible) == len(part.to_sep):
                raise ValueError("its data sets are not of the same words")
        return parts
