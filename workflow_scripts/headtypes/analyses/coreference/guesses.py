"""Guesses at antecedents on disk: one small HDF5 file per model and set of documents."""

from dataclasses import dataclass, fields
from pathlib import Path

import h5py
import numpy as np
from jaxtyping import Int16

from headtypes.core.files import canonical_json, undamaged
from headtypes.core.hdf5_files import new_hdf5

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


def write_antecedents(path: str | Path, guesses: AntecedentGuesses, provenance: dict) -> None:
    """Write guesses as a whole HDF5 file with checksums, and what made them."""
    # Without times of creation, equal guesses give equal bytes.
    with new_hdf5(path, track_order=True) as file:
        for field in fields(AntecedentGuesses):
            data = getattr(guesses, field.name)
            packed = {"chunks": data.shape, "compression": "gzip", "fletcher32": True} if len(data) else {}
            file.create_dataset(field.name, data=data, track_times=False, **packed)
        file.attrs["provenance"] = canonical_json(provenance)


def read_antecedents(path: str | Path) -> AntecedentGuesses:
    """Read what `write_antecedents` wrote. Raises `InputError` that names a damaged file."""
    with undamaged(path, "holds no guesses at antecedents"), h5py.File(path, "r") as file:
        guesses = AntecedentGuesses(*(file[field.name][:] for field in fields(AntecedentGuesses)))
        if not len(guesses.part) == len(guesses.mention) == len(guesses.guess):
            raise ValueError("its data sets are not of the same mentions")
        return guesses
