"""Results in HDF5: whole files or none, even where the disk has no room for them.

A dataclass declares a file: `jaxtyping` annotations name the type and the dimensions of its arrays, and
`Annotated[..., Stored(...)]` what the file has otherwise.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import h5py
import numpy as np
from jaxtyping import Shaped, jaxtyped

from headtypes.core.errors import spelled_out
from headtypes.core.files import StrPath, atomic_write, canonical_json, undamaged

T = TypeVar("T")
# Of a chunk, at most, unless a single row is larger.
_CHUNK_BYTES = 1 << 20


class Stored(NamedTuple):
    """The way a field is stored: under another name; for texts, their dimension; for numbers, a less precise type."""

    name: str = ""
    dimension: str = ""
    dtype: type | None = None


SampleIds = Annotated[list[str], Stored("sample_id", "sample")]


@contextmanager
def new_hdf5(path: StrPath, **options) -> Iterator[h5py.File]:
    """Yield a new HDF5 file, whole or absent as by `files.atomic_write`; options: those of `h5py.File`.

    It is filled in memory: where a disk has no room, HDF5 tries again, complains, and crashes when Python ends.
    """
    content = BytesIO()
    with h5py.File(content, "w", **options) as file:
        yield file
    with atomic_write(path) as temporary:
        temporary.write_bytes(content.getbuffer())


@contextmanager
def new_result(path: StrPath, provenance: dict) -> Iterator[h5py.File]:
    """Yield the new HDF5 file of a result, which keeps the order in which it is filled, and add its provenance."""
    with new_hdf5(path, track_order=True) as file:
        yield file
        file.attrs["provenance"] = canonical_json(provenance)


@contextmanager
def opened_result(path: StrPath, otherwise: str) -> Iterator[h5py.File]:
    with undamaged(path, otherwise), h5py.File(path, "r") as file:
        yield file


def write_arrays(path: StrPath, result: Any, provenance: dict) -> None:
    """Write a dataclass, or several by name or in a list, each as a group, as a whole file, and their provenance.

    Arrays, lists of texts and integers become data sets; a text, a truth value or a mapping an attribute; None nothing.
    """
    with new_result(path, provenance) as file:
        if isinstance(result, list | Mapping):
            for name, part in result.items() if isinstance(result, Mapping) else enumerate(result):
                _fill(file.create_group(str(name), track_order=True), part)
        else:
            _fill(file, result)


def read_arrays(path: StrPath, kind: type[T]) -> T:
    """Read a file of one dataclass. Raises `InputError` that names a damaged file, or one that holds something else."""
    with opened_arrays(path, kind) as file:
        return _take(file, kind)


def read_groups(path: StrPath, kind: type[T]) -> dict[str, T]:
    """Read a file of several dataclasses by name, in the order in which they were written; errors as `read_arrays`."""
    with opened_arrays(path, kind) as file:
        return {name: _take(group, kind) for name, group in file.items()}


@contextmanager
def opened_arrays(path: StrPath, kind: type) -> Iterator[h5py.File]:
    """Yield a file of `write_arrays`, to read a part of it; errors as `read_arrays`."""
    with opened_result(path, f"holds no {spelled_out(kind)}") as file:
        yield file


def _declared(kind: type) -> Iterator[tuple[str, Any, Stored]]:
    for name, hint in get_type_hints(kind, include_extras=True).items():
        form, stored = get_args(hint) if get_origin(hint) is Annotated else (hint, Stored())
        form = get_args(form)[0] if get_origin(form) is UnionType else form
        yield name, form, stored._replace(name=stored.name or name)


def _fill(group: h5py.Group, result: Any) -> None:
    for name, _, stored in _declared(type(result)):
        value = getattr(result, name)
        if isinstance(value, str | bool):
            group.attrs[stored.name] = value
        elif isinstance(value, Mapping):
            group.attrs[stored.name] = canonical_json(dict(value))
        elif value is not None:
            values = of_one_width(value) if stored.dimension else np.atleast_1d(np.asarray(value, stored.dtype))
            add_data(group, stored.name, values)


@jaxtyped(typechecker=None)
def _take(group: h5py.Group, kind: type[T]) -> T:
    """Read the dataclass of a group; dimensions of one name have one size in all of its arrays."""
    read = {}
    for name, form, stored in _declared(kind):
        if stored.name in group.attrs:
            value = group.attrs[stored.name]
            read[name] = json.loads(value) if get_origin(form) is Mapping else form(value)
        elif stored.name in group:
            data = group[stored.name]
            values = data[:] if stored.dtype is None else data[:].astype(form.dtypes[0])
            array = Shaped[np.ndarray, stored.dimension] if stored.dimension else form
            if form is not int and not isinstance(values, array):
                raise ValueError(f"its {stored.name} is not as declared: {array.__name__}, of the size of the others")
            read[name] = read_texts(data) if stored.dimension else int(values[0]) if form is int else values
    return kind(**read)


def add_data(group: h5py.Group, name: str, values: np.ndarray) -> h5py.Dataset:
    """Add a compressed data set with a checksum; an empty one has neither chunks nor checksum."""
    options: dict[str, Any] = {}
    if values.size:
        rows = max(1, min(len(values), _CHUNK_BYTES // values[:1].nbytes))
        options = {"chunks": (rows, *values.shape[1:]), "fletcher32": True, "compression": "gzip", "shuffle": True}
    # Without times of creation, equal data give equal bytes.
    return group.create_dataset(name, data=values, track_times=False, **options)


def of_one_width(texts: Sequence[str]) -> np.ndarray:
    """Encode texts in one width, since HDF5 has no checksum for texts of different lengths."""
    encoded = np.array([text.encode() for text in texts], dtype=bytes)
    return encoded.astype(h5py.string_dtype(length=max(encoded.itemsize, 1)))


def read_texts(data: h5py.Dataset) -> list[str]:
    return data.asstr()[:].tolist()
