"""Example maps on disk: the attention of a few heads among a few tokens, one small HDF5 file per model and task."""

from dataclasses import dataclass

import h5py
import numpy as np

from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import add_data, new_result, opened_result, read_texts

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


def write_examples(path: StrPath, examples: Examples, provenance: dict) -> None:
    """Write example maps as a whole file, with their provenance."""
    with new_result(path, provenance) as file:
        for example in examples.examples:
            data = add_data(file, f"attention/{example.pattern}", example.attention)
            data.attrs["layer"], data.attrs["head"], data.attrs["value"] = example.layer, example.head, example.value
        file.create_dataset("token", data=examples.tokens, dtype=h5py.string_dtype(), track_times=False)
        file.attrs["begins"] = examples.begins
        file.attrs["sample_id"] = examples.sample_id


def read_examples(path: StrPath) -> Examples:
    """Read what `write_examples` wrote. Raises `InputError` that names a damaged file."""
    with opened_result(path, "holds no example maps") as file:
        tokens = read_texts(file["token"])
        data = {name: file["attention"][name] for name in PATTERNS if name in file["attention"]}
        examples = [
            Example(name, int(it.attrs["layer"]), int(it.attrs["head"]), float(it.attrs["value"]), it[:])
            for name, it in data.items()
        ]
        if any(example.attention.shape != 2 * (len(tokens),) for example in examples):
            raise ValueError("its tokens and its maps differ in length")
        return Examples(examples, tokens, bool(file.attrs["begins"]), file.attrs["sample_id"])
