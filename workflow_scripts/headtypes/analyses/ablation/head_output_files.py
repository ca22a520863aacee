"""Mean head outputs on disk: one small HDF5 file per model and task."""

from pathlib import Path

import h5py
import numpy as np

from headtypes.core.files import canonical_json, undamaged
from headtypes.core.hdf5_files import new_hdf5


def write_head_outputs(path: str | Path, head_outputs: np.ndarray, provenance: dict) -> None:
    """Write mean head outputs as a whole HDF5 file with a checksum, and what made them."""
    # Without times of creation, equal outputs give equal bytes.
    with new_hdf5(path, track_order=True) as file:
        file.create_dataset(
            "head_output", data=head_outputs, chunks=head_outputs.shape, fletcher32=True, track_times=False
        )
        file.attrs["provenance"] = canonical_json(provenance)


def read_head_outputs(path: str | Path | None) -> np.ndarray | None:
    """Read what `write_head_outputs` wrote: [layer, head, channel] float32; None where no path is given.

    Raises `InputError` for a damaged file.
    """
    if not path:
        return None
    with undamaged(path, "holds no mean head outputs"), h5py.File(path, "r") as file:
        return file["head_output"][:]
