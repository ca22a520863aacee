"""Example maps on disk: the attention of a few heads among a few tokens, one small HDF5 file per model and task."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from headtypes.core.files import canonical_json, undamaged
from headtypes.core.hdf5_files import new_hdf5

# Patterns of Clark's Figure 1, and the column of surface patterns in which the head shown has the largest value.
PATTERNS = {"broad": "entropy", "next": "next", "sep": "sep", "punctuation": "punctuation"}


@dataclass(frozen=True)
class Example:
    """A head that shows a pattern best.

    pattern:     one of `PATTERNS`; layer, head: from 0; value: its mean over all segments of the pattern's column.
    attention:   [query, key] float32 among the tokens shown, each row divided by its sum.
    """

    pattern: str
    layer: int
    head: int
    value: float
    attention: np.ndarray


@dataclass(frozen=True)
class Examples:
    """Heads on the last tokens of one segment; a pattern that a model cannot have is absent.

    tokens: [token] as a person reads them; begins: whether they begin the segment, which then is no longer.
    """

    examples: list[Example]
    tokens: list[str]
    begins: bool
    sample_id: str


def write_examples(path: str | Path, examples: Examples, provenance: dict) -> None:
    """Write example maps as a whole file, with their provenance."""
    # Without times of creation, equal maps give equal bytes.
    with new_hdf5(path, track_order=True) as file:
        for example in examples.examples:
            data = file.create_dataset(
                f"attention/{example.pattern}", data=example.attention, fletcher32=True, chunks=True, track_times=False
            )
            data.attrs["layer"], data.attrs["head"], data.attrs["value"] = example.layer, example.head, example.value
        file.create_dataset("token", data=examples.tokens, dtype=h5py.string_dtype(), track_times=False)
        file.attrs["begins"] = examples.begins
        file.attrs["sample_id"] = examples.sample_id
        file.attrs["provenance"] = canonical_json(provenance)


def read_examples(path: str | Path) -> Examples:
    """Read what `write_examples` wrote. Raises `InputError` that names a damaged file."""
    with undamaged(path, "holds no example maps"), h5py.File(path, "r") as file:
        tokens = file["token"].asstr()[:].tolist()
        data = {name: file["attention"][name] for name in PATTERNS if name in file["attention"]}
        examples = [
            Example(name, int(it.attrs["layer"]), int(it.attrs["head"]), float(it.attrs["value"]), it[:])
            for name, it in data.items()
        ]
        if any(example.attention.shape != 2 * (len(tokens),) for example in examples):
            raise ValueError("its tokens and its maps differ in length")
        return Examples(examples, tokens, bool(file.attrs["begins"]), file.attrs["sample_id"])
