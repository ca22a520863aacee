"""Results in HDF5: whole files or none, even where the disk has no room for them, and what is common to all."""

import atexit
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import h5py
import numpy as np

from headtypes.core.files import StrPath, atomic_write, canonical_json, refusal, undamaged

# How large data sets are compressed.
PACKED = {"compression": "gzip", "shuffle": True}

# Files that could not be written, with the error that keeps alive what the writer has opened in them.
_broken: list[tuple[h5py.File, BaseException]] = []


class _Group(h5py.Group):
    """A group that holds what is made in it: a data set that is let go of earlier cannot say what went wrong."""

    def create_dataset(self, *arguments, **options) -> h5py.Dataset:
        """As that of h5py."""
        return self._hold(super().create_dataset(*arguments, **options))

    def create_group(self, *arguments, **options) -> h5py.Group:
        """As that of h5py."""
        return self._hold(_Group(super().create_group(*arguments, **options).id))

    def _hold(self, made: h5py.HLObject) -> Any:
        self._held = [*getattr(self, "_held", ()), made]
        return made


class _File(_Group, h5py.File):
    """A file that holds what is made in it."""


@contextmanager
def new_hdf5(path: StrPath, **options) -> Iterator[h5py.File]:
    """Yield a new HDF5 file, which appears under `path` when the block ends well; errors as of `files.atomic_write`.

    options: of `h5py.File`.
    """
    with atomic_write(path) as temporary:
        file = _File(temporary, "w", **options)
        try:
            yield file
            file.close()
        except BaseException as error:
            if refusal(error):
                _keep(file, error)
            else:
                file.close()
            raise


@contextmanager
def new_result(path: StrPath, provenance: dict) -> Iterator[h5py.File]:
    """Yield the new HDF5 file of a result, which keeps the order in which it is filled, and add its provenance."""
    with new_hdf5(path, track_order=True) as file:
        yield file
        file.attrs["provenance"] = canonical_json(provenance)


@contextmanager
def opened_result(path: StrPath, otherwise: str, **options) -> Iterator[h5py.File]:
    """Yield an HDF5 file to read; any error becomes an `InputError` that names the file, as of `files.undamaged`.

    options: of `h5py.File`.
    """
    with undamaged(path, otherwise), h5py.File(path, "r", **options) as file:
        yield file


def add_data(group: h5py.Group, name: str, values: np.ndarray, rows: int | None = None, **options) -> h5py.Dataset:
    """Add a data set with a checksum; an empty one has no chunks, and so none.

    rows: of a chunk; None for all in one. options: of `create_dataset`, such as `PACKED`.
    """
    if values.size:
        options |= {"chunks": (min(rows or len(values), len(values)), *values.shape[1:]), "fletcher32": True}
    else:
        options = {}
    # Without times of creation, equal data give equal bytes.
    return group.create_dataset(name, data=values, track_times=False, **options)


def of_one_width(texts: Sequence[str]) -> np.ndarray:
    """Texts as HDF5 stores them with a checksum, which those of different lengths do not have."""
    encoded = np.array([text.encode() for text in texts], dtype=bytes)
    return encoded.astype(h5py.string_dtype(length=max(encoded.itemsize, 1)))


def read_texts(data: h5py.Dataset) -> list[str]:
    """The texts of a data set."""
    return data.asstr()[:].tolist()


def _keep(file: h5py.File, error: BaseException) -> None:
    """Never let go of a file that cannot be written: HDF5 would try again, complain, and crash when Python ends."""
    if not _broken:
        atexit.register(_end)
    _broken.append((file, error))


def _end() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(1)
