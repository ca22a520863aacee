"""Attention maps on disk: one small HDF5 file per model and task."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from headtypes.base.files import canonical_json, undamaged
from headtypes.base.hdf5_files import new_hdf5


@dataclass(frozen=True)
class AttentionMaps:
    """Attention of every head on one sample.

    attention: [layer, head, query, key] float32, rows sum to one (in a file, to the precision of float16).
    tokens:    [token] as a person reads them.
    sample_id: the sample's id; truncated: whether it was cut.
    """

    attention: np.ndarray
    tokens: list[str]
    sample_id: str
    truncated: bool


def write_maps(path: str | Path, maps: AttentionMaps, provenance: dict) -> None:
    """Write attention maps as a whole HDF5 file, in half precision, and what made them."""
    # Without times of creation, equal maps give equal bytes.
    with new_hdf5(path, track_order=True) as file:
        file.create_dataset(
            "attention",
            data=maps.attention.astype(np.float16),
            chunks=(1, *maps.attention.shape[1:]),
            compression="gzip",
            shuffle=True,
            fletcher32=True,
            track_times=False,
        )
        file.create_dataset("token", data=maps.tokens, dtype=h5py.string_dtype(), track_times=False)
        for name, value in {
            "sample_id": maps.sample_id,
            "truncated": maps.truncated,
            "provenance": canonical_json(provenance),
        }.items():
            file.attrs[name] = value


def read_maps(path: str | Path) -> AttentionMaps:
    """Read what `write_maps` wrote. Raises `InputError` that names a damaged file."""
    with undamaged(path, "holds no attention maps"), h5py.File(path, "r") as file:
        maps = AttentionMaps(
            attention=file["attention"][:].astype(np.float32),
            tokens=file["token"].asstr()[:].tolist(),
            sample_id=file.attrs["sample_id"],
            truncated=bool(file.attrs["truncated"]),
        )
        if maps.attention.shape[2:] != 2 * (len(maps.tokens),):
            raise ValueError("its tokens and its maps differ in length")
        return maps
