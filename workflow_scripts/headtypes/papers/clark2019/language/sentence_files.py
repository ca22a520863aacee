"""Maps of sentences on disk, for Clark's Figure 5: one small HDF5 file per model and task."""

from dataclasses import dataclass

import h5py
import numpy as np

from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import add_data, new_result

# What the figure shows: relations by the paper's names, and coreference.
RELATIONS = ("dobj", "det", "poss", "auxpass", "pobj")
COREFERENCE = "coreference"


@dataclass(frozen=True)
class SentenceMap:
    """The attention of the best head for a phenomenon, among the words of one sentence or of a few.

    phenomenon:  one of `RELATIONS`, or `COREFERENCE`.
    layer, head: from 0; direction: as in `relations.guesses.DIRECTIONS`; accuracy: of the head, in percent.
    words:       [index] with the special tokens, where they are shown.
    marked:      indices of the words that have the relation, or are head words of mentions.
    attention:   [index, index] float32.
    """

    phenomenon: str
    layer: int
    head: int
    direction: str
    accuracy: float
    words: list[str]
    marked: list[int]
    attention: np.ndarray


def write_sentence_maps(path: StrPath, maps: list[SentenceMap], provenance: dict) -> None:
    """Write maps as a whole file, with their provenance."""
    with new_result(path, provenance) as file:
        for number, shown in enumerate(maps):
            group = file.create_group(f"{number:03d}", track_order=True)
            add_data(group, "attention", shown.attention)
            group.create_dataset("word", data=shown.words, dtype=h5py.string_dtype(), track_times=False)
            group.create_dataset("marked", data=np.array(shown.marked, np.int32), track_times=False)
            for name in ("phenomenon", "layer", "head", "direction", "accuracy"):
                group.attrs[name] = getattr(shown, name)
