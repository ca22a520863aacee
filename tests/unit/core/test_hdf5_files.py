"""HDF5 files that are whole or absent, also where the disk is full."""

import h5py
import numpy as np
import pytest

from headtypes.core.hdf5_files import new_hdf5


def test_the_file_is_there_when_the_block_has_ended_well_and_not_otherwise(tmp_path):
    path = tmp_path / "new.h5"

    def fail():
        with new_hdf5(path) as file:
            file["values"] = np.arange(3)
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()
    assert list(tmp_path.iterdir()) == []
    with new_hdf5(path) as file:
        file["values"] = np.arange(3)
        assert not path.exists()
    with h5py.File(path) as file:
        assert file["values"][:].tolist() == [0, 1, 2]
