"""Distance features on disk: one HDF5 file per model and task."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float32

from headtypes.analyses.distances.columns import COLUMNS, FINE_BINS, head_features
from headtypes.attention.settings import Of
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import PACKED, add_data, new_result, of_one_width, opened_result, read_texts

# Samples in one chunk.
_CHUNK_SAMPLES = 16
_CACHE_BYTES = 1 << 24
# The data sets of shares and of their parts that go to the first token, named as in `Features`; all but the first are
# not in every file.
SHARES = {"weights": ("distance", "first"), "norms": ("norms", "norms_first")}
_ALL_SHARES = tuple(chain(*SHARES.values()))


@dataclass(frozen=True)
class Features:
    """The distance features of every head on every sample.

    distance:   shares that sum to one with what goes to no token; columns as in `headtypes.analyses.distances.columns`.
    length:     [sample] int32, real tokens.
    truncated:  [sample] bool, whether the sample was cut to the model's longest input.
    sample_ids: of the samples, in the same order.
    first:      the part of each share that goes to the first token, where no sample has a `[CLS]`, else None.
    norms, norms_first: the same of norms instead of weights (`attention.norms`), if they were read, else None.
    """

    distance: Float32[np.ndarray, f"sample layer head {COLUMNS}"]
    length: np.ndarray
    truncated: np.ndarray
    sample_ids: list[str]
    first: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None
    norms: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None
    norms_first: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None


def write_features(path: StrPath, features: Features, provenance: dict) -> None:
    """Write features as a whole file, in compressed chunks with checksums, with their provenance."""
    shares = {name: values for name in _ALL_SHARES if (values := getattr(features, name)) is not None}
    blocks = {name: map(values.__getitem__, _blocks(len(values))) for name, values in shares.items()}
    _write(path, features.distance.shape, blocks, features.length, features.truncated, features.sample_ids, provenance)


def _blocks(samples: int) -> list[slice]:
    """The samples of each chunk."""
    return [slice(start, start + _CHUNK_SAMPLES) for start in range(0, samples, _CHUNK_SAMPLES)]


def _write(
    path: StrPath,
    shape: tuple[int, ...],
    shares: Mapping[str, Iterable[np.ndarray]],
    length: np.ndarray,
    truncated: np.ndarray,
    sample_ids: Sequence[str],
    provenance: dict,
) -> None:
    samples = shape[0]
    packed = {"chunks": (min(samples, _CHUNK_SAMPLES), *shape[1:]), "fletcher32": True, **PACKED}
    with new_result(path, provenance) as file:
        for name, blocks in shares.items():
            written = file.create_dataset(name, shape, np.float32, track_times=False, **packed)
            for block, rows in zip(_blocks(samples), blocks, strict=True):
                written[block] = rows
        add_data(file, "length", length)
        add_data(file, "truncated", truncated)
        add_data(file, "sample_id", of_one_width(sample_ids))


def read_features(path: StrPath) -> Features:
    """Read what `write_features` wrote. Raises `InputError` that names a damaged file."""
    with _opened(path) as file:
        return Features(
            length=file["length"][:],
            truncated=file["truncated"][:],
            sample_ids=read_texts(file["sample_id"]),
            **{name: file[name][:] for name in _ALL_SHARES if name in file},
        )


def has_first_token(path: StrPath) -> bool:
    """Whether the attention to the first token is stored on its own, as it is where no sample has a `[CLS]`."""
    with _opened(path) as file:
        return "first" in file


def read_lengths(path: StrPath) -> np.ndarray:
    """Read how many tokens each sample has: [sample] int."""
    with _opened(path) as file:
        return file["length"][:]


def read_distance(path: StrPath, distance_bins: int, first_token: bool = True, of: Of = "weights") -> np.ndarray:
    """Read the distance features of every sample: [sample, head, column] float32, heads layer by layer.

    first_token: whether the first token counts as `[CLS]` where its attention is stored on its own.
    of:          whether they are those of weights or of norms.
    Raises `InputError` where the file has no norms.
    """
    with _opened(path) as file:
        distance, first = (file.get(name) for name in SHARES[of])
        if distance is None:
            raise InputError(f"{path} holds no norms; extract the features again with clustering.of: [weights, norms].")
        first = first if first_token else None
        read = np.empty((*distance.shape[:-1], distance_bins + COLUMNS - FINE_BINS), np.float32)
        for block in _blocks(len(distance)):
            read[block] = head_features(distance[block], distance_bins, None if first is None else first[block])
        return read.reshape(len(read), -1, read.shape[-1])


def read_head_features(
    path: StrPath, distance_bins: int, first_token: bool = True, of: Of = "weights"
) -> tuple[np.ndarray, tuple[int, int]]:
    """Read the head features, the means over the samples: [head, column] float64; and (layers, heads)."""
    with _opened(path) as file:
        shape = file["distance"].shape[1:3]
    return read_distance(path, distance_bins, first_token, of).mean(0, dtype=np.float64), shape


@contextmanager
def _opened(path: StrPath):
    # Room for one chunk of a large model, so that a chunk that is read in pieces is unpacked once.
    with opened_result(path, "is not a feature file", rdcc_nbytes=_CACHE_BYTES) as file:
        if getattr(file["distance"], "shape", ())[3:] != (COLUMNS,):
            raise ValueError("it holds no distance features")
        if not len(file["distance"]) == len(file["length"]) == len(file["truncated"]) == len(file["sample_id"]):
            raise ValueError("its data sets are not of the same samples")
        if any(name in file and file[name].shape != file["distance"].shape for name in _ALL_SHARES):
            raise ValueError("its data sets are not of the same heads and samples")
        yield file
