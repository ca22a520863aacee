"""Attention maps on disk: small HDF5 files per model and task, of one sample or of several."""

from collections.abc import Sequence
from dataclasses import dataclass

import h5py
import numpy as np

from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import PACKED, add_data, new_result, opened_result, read_texts


@dataclass(frozen=True)
class AttentionMaps:
    """Attention of every head on one sample.

    attention: [layer, head, query, key] float32, rows sum to one (in a file, to the precision of float16).
    lengths:   [layer, head, key] float32, the length of what each token hands over (`attention.norms`), by which
        attention becomes norms; None where they were not read.
    tokens:    [token] as a person reads them.
    sample_id: the sample's id; truncated: whether it was cut.
    """

    attention: np.ndarray
    tokens: list[str]
    sample_id: str
    truncated: bool
    lengths: np.ndarray | None = None


def write_maps(path: StrPath, maps: AttentionMaps, provenance: dict) -> None:
    """Write attention maps as a whole HDF5 file, in half precision, and what made them."""
    with new_result(path, provenance) as file:
        _write(file, maps)


def read_maps(path: StrPath) -> AttentionMaps:
    """Read what `write_maps` wrote. Raises `InputError` that names a damaged file."""
    with opened_result(path, "holds no attention maps") as file:
        return _read(file)


def write_sample_maps(path: StrPath, samples: Sequence[AttentionMaps], provenance: dict) -> None:
    """Write the attention maps of several samples as a whole HDF5 file, in half precision, and what made them."""
    with new_result(path, provenance) as file:
        for number, maps in enumerate(samples):
            _write(file.create_group(str(number), track_order=True), maps)


def read_sample_maps(path: StrPath) -> list[AttentionMaps]:
    """Read what `write_sample_maps` wrote. Raises `InputError` that names a damaged file."""
    with opened_result(path, "holds no attention maps of samples") as file:
        return [_read(file[str(number)]) for number in range(max(1, len(file)))]


def _write(group: h5py.Group, maps: AttentionMaps) -> None:
    add_data(group, "attention", maps.attention.astype(np.float16), 1, **PACKED)
    if maps.lengths is not None:
        add_data(group, "lengths", maps.lengths, 1, **PACKED)
    group.create_dataset("token", data=maps.tokens, dtype=h5py.string_dtype(), track_times=False)
    group.attrs["sample_id"] = maps.sample_id
    group.attrs["truncated"] = maps.truncated


def _read(group: h5py.Group) -> AttentionMaps:
    maps = AttentionMaps(
        attention=group["attention"][:].astype(np.float32),
        tokens=read_texts(group["token"]),
        sample_id=group.attrs["sample_id"],
        truncated=bool(group.attrs["truncated"]),
        lengths=group["lengths"][:] if "lengths" in group else None,
    )
    if maps.attention.shape[2:] != 2 * (len(maps.tokens),):
        raise ValueError("its tokens and its maps differ in length")
    return maps
