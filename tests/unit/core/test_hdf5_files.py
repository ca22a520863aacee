"""HDF5 files that are whole or absent, also where the disk is full."""

import subprocess
import sys

import h5py
import numpy as np
import pytest

from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import new_hdf5
from tests.support.places import SCRIPTS

# Writes as our writers do, where a file may have that many bytes; a job would end with the same sentence.
_WRITER = """
import resource, sys
import h5py
import numpy as np
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import new_hdf5

limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    with new_hdf5(sys.argv[1], track_order=True) as file:
        values = file.create_dataset("values", (64, 9000), np.float64, chunks=(16, 9000), compression="gzip")
        for start in range(0, 64, 16):
            values[start : start + 16] = np.random.default_rng(start).random((16, 9000))
        file.create_dataset("names", data=np.array([b"a"] * 4000), chunks=(4000,), fletcher32=True)
        for number in range(3):
            group = file.create_group(str(number), track_order=True)
            group.create_dataset("maps", data=values[:2], chunks=(1, 9000), compression="gzip", fletcher32=True)
            group.create_dataset("tokens", data=["the"] * 900, dtype=h5py.string_dtype())
            group.attrs["id"] = number
        file.attrs["provenance"] = "x" * 2000
except InputError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("limit", [100, 3000, 500_000, 2_000_000, 4_300_000, 4_470_000, 4_700_000])
def test_a_disk_without_room_is_told_in_one_sentence_by_a_process_that_ends_well(tmp_path, limit):
    """In the head of the file, within the numbers, or only when the file is closed; h5py would crash at the end."""
    path = tmp_path / "new.h5"
    run = subprocess.run(
        [sys.executable, "-c", _WRITER, str(path), str(limit)],
        env={"PYTHONPATH": str(SCRIPTS), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr.splitlines()) == (
        1,
        [f"{path} cannot be written: File too large; fix this and run again."],
    )
    assert list(tmp_path.iterdir()) == []


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


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((InputError, OSError)), new_hdf5(tmp_path / "file/new.h5"):
        pass
