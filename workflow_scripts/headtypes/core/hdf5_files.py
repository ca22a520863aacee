"""New HDF5 files, whole or absent, even where the disk has no room for them."""

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

from headtypes.core.files import atomic_write, refusal

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
def new_hdf5(path: str | Path, **options) -> Iterator[h5py.File]:
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


def _keep(file: h5py.File, error: BaseException) -> None:
    """Never let go of a file that cannot be written: HDF5 would try again, complain, and crash when Python ends."""
    if not _broken:
        atexit.register(_end)
    _broken.append((file, error))


def _end() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(1)
