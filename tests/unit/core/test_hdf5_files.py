"""HDF5 files that are whole or absent, also where the disk is full, and the one form of results in them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import h5py
import numpy as np
import pytest
from jaxtyping import Float32, Int32

from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import SampleIds, Stored, opened_arrays, read_arrays, read_groups, write_arrays


@dataclass(frozen=True)
class Planted:
    shares: Annotated[Float32[np.ndarray, "sample head 2"], Stored("share", dtype=np.float16)]
    length: Int32[np.ndarray, " sample"]
    sample_ids: SampleIds
    rows: int
    title: str
    cut: bool
    norms: Float32[np.ndarray, "sample head 2"] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)


SHARES = np.array([[[0.25, np.nan]], [[1, 0]], [[0, 0.5]]], np.float32)
PLANTED = Planted(SHARES, np.array([3, 4, 5], np.int32), ["a", "é" * 3, ""], 12, "ä", True, None, {"long": 2})


def test_a_dataclass_comes_back_as_it_was(tmp_path):
    path = tmp_path / "planted.h5"
    for written in (PLANTED, replace(PLANTED, norms=2 * SHARES, cut=False)):
        write_arrays(path, written, {"rule": "plant"})
        read = read_arrays(path, Planted)
        for name, value in vars(written).items():
            np.testing.assert_array_equal(getattr(read, name), value)
        assert read.shares.dtype == np.float32
    with h5py.File(path) as file:
        assert json.loads(file.attrs["provenance"]) == {"rule": "plant"}
        assert list(file) == ["share", "length", "sample_id", "rows", "norms"]
        assert file["share"].dtype == np.float16
        assert all(data.fletcher32 for data in file.values())
    content = path.read_bytes()
    write_arrays(path, written, {"rule": "plant"})
    assert path.read_bytes() == content


def test_several_come_back_in_their_order_by_name_or_number(tmp_path):
    planted = {name: replace(PLANTED, title=name) for name in ("2", "10", "1")}
    for written, names in ((planted, list(planted)), (list(planted.values()), ["0", "1", "2"])):
        write_arrays(tmp_path / "planted.h5", written, {})
        read = read_groups(tmp_path / "planted.h5", Planted)
        assert list(read) == names
        assert [part.title for part in read.values()] == list(planted)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"length": np.array([3, 4], np.int32)}, "length"),
        ({"length": np.array([3, 4, 5], np.int64)}, "length"),
        ({"sample_ids": ["a", "b"]}, "sample_id"),
        ({"norms": SHARES[:, :, :1]}, "norms"),
        ({"norms": np.concatenate([SHARES, SHARES], 1)}, "norms"),
        ({"rows": None}, "rows"),
    ],
)
def test_a_file_that_is_not_as_declared_is_refused_by_name(change, what, tmp_path):
    write_arrays(tmp_path / "planted.h5", replace(PLANTED, **change), {})
    with pytest.raises(InputError, match=rf"planted\.h5 is damaged or holds no planted \(.*\b{what}\b"):
        read_arrays(tmp_path / "planted.h5", Planted)


def test_a_file_of_something_else_is_refused_by_name(tmp_path):
    (tmp_path / "planted.h5").write_text("layer,head\n")
    write_arrays(tmp_path / "several.h5", {"a": PLANTED}, {})
    write_arrays(tmp_path / "one.h5", PLANTED, {})
    for read, names in ((read_arrays, ("planted", "several", "absent")), (read_groups, ("planted", "one", "absent"))):
        for name in names:
            with pytest.raises(InputError, match=name):
                read(tmp_path / f"{name}.h5", Planted)


def test_what_h5py_cannot_read_is_damaged_and_neither_a_mistake_of_its_reader_nor_full_memory_is_the_files(tmp_path):
    """A `TypeError` of h5py, and an array that is not there; a `TypeError` of the reader stays one."""
    write_arrays(tmp_path / "planted.h5", PLANTED, {})
    with h5py.File(tmp_path / "planted.h5", "a") as file:
        file.create_dataset("large", (10**14,), float, chunks=(10,))
        h5py.h5d.create(file.id, b"times", h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((3,)))
    for name in ("times", "width"):
        with (
            pytest.raises(InputError, match=r"planted\.h5 is damaged or holds no planted"),
            opened_arrays(tmp_path / "planted.h5", Planted) as file,
        ):
            file[name][:]
    with pytest.raises(TypeError), opened_arrays(tmp_path / "planted.h5", Planted) as file:
        len(file["share"]) + "1"
    with pytest.raises(MemoryError), opened_arrays(tmp_path / "planted.h5", Planted) as file:
        file["large"][:]
