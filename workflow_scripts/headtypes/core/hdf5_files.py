"""Results in HDF5: whole files or none, even where the disk has no room for them. A dataclass declares a file."""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO
from traceback import walk_tb
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import h5py
import numpy as np
from jaxtyping import Shaped, jaxtyped

from headtypes.core.errors import spelled_out
from headtypes.core.files import StrPath, atomic_write, canonical_json, undamaged

T = TypeVar("T")
_CHUNK_BYTES = 1 << 20  # of a chunk, at most, unless a single row is larger


class Stored(NamedTuple):
    """The form of a dataclass field in an HDF5 file; the field is annotated with `Annotated[..., Stored(...)]`.

    name:      name in the file; by default the field's own name.
    dimension: for a field that is a list of texts, a name of its axis, such as "sample"; empty for any other field.
    dtype:     type of an array in the file, such as float16 to save space; None for the array's own type.
    """

    name: str = ""
    dimension: str = ""
    dtype: type | None = None


SampleIds = Annotated[list[str], Stored("sample_id", "sample")]


def write_arrays(path: StrPath, result: Any, provenance: dict) -> None:
    """Write one or several dataclass instances to an HDF5 file, with `provenance` as an attribute in JSON.

    result: an instance, or a list or mapping of instances, each of which becomes a group named by its index or key.
    Fields that hold an array, an integer or a list of texts become data sets. Fields that hold a text, a truth value or
    a mapping become attributes. A field that is None is left out.
    """
    # In memory, since HDF5 tries again on a full disk, complains, and crashes when Python ends.
    content = BytesIO()
    with h5py.File(content, "w", track_order=True) as file:
        if isinstance(result, list | Mapping):
            for name, part in result.items() if isinstance(result, Mapping) else enumerate(result):
                _fill(file.create_group(str(name), track_order=True), part)
        else:
            _fill(file, result)
        file.attrs["provenance"] = canonical_json(provenance)
    with atomic_write(path) as temporary:
        temporary.write_bytes(content.getbuffer())


def read_arrays(path: StrPath, kind: type[T]) -> T:
    """Return the instance of dataclass `kind` that `write_arrays` wrote; raise `InputError` if the file holds none."""
    with _undamaged(path, kind), h5py.File(path) as file:
        return _take(file, kind)


def read_groups(path: StrPath, kind: type[T]) -> dict[str, T]:
    """Return {group's name: instance of dataclass `kind`} from a file of `write_arrays`, in the order of writing."""
    with _undamaged(path, kind), h5py.File(path) as file:
        return {name: _take(group, kind) for name, group in file.items()}


@contextmanager
def opened_arrays(path: StrPath, kind: type) -> Iterator[h5py.File]:
    """Yield a file in which `write_arrays` wrote an instance of dataclass `kind`, open for reading parts of arrays.

    Errors that h5py raises in the `with` block become an `InputError`; errors of other code stay as they are.
    """
    own = None
    with _undamaged(path, kind), h5py.File(path) as file:
        try:
            yield file
        except Exception as error:
            if any(frame.f_globals["__name__"].startswith("h5py.") for frame, _ in walk_tb(error.__traceback__)):
                raise
            own = error
    if own is not None:
        raise own


def _undamaged(path: StrPath, kind: type) -> AbstractContextManager[None]:
    return undamaged(path, f"holds no {spelled_out(kind)}")


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
            if stored.dimension:
                # Of equal length, since HDF5 has no checksum for texts of different lengths.
                encoded = np.array([text.encode() for text in value], dtype=bytes)
                values = encoded.astype(h5py.string_dtype(length=max(encoded.itemsize, 1)))
            else:
                values = np.atleast_1d(np.asarray(value, stored.dtype))
            options: dict[str, Any] = {}
            if values.size:
                rows = max(1, min(len(values), _CHUNK_BYTES // values[:1].nbytes))
                options = {"chunks": (rows, *values.shape[1:]), "compression": "gzip"}
                options |= {"fletcher32": True, "shuffle": True}
            # Without times of creation, equal data give equal bytes.
            group.create_dataset(stored.name, data=values, track_times=False, **options)


# Dimensions of one name have one size in all arrays.
@jaxtyped(typechecker=None)
def _take(group: h5py.Group, kind: type[T]) -> T:
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
            read[name] = data.asstr()[:].tolist() if stored.dimension else int(values[0]) if form is int else values
    return kind(**read)
