"""Distance features on disk: one HDF5 file per model and task."""

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from headtypes.columns import COLUMNS, FINE_WINDOWS, head_features
from headtypes.errors import InputError
from headtypes.files import canonical_json, replacing

# Samples in one chunk: features are read sample by sample, or all of them.
_CHUNK_SAMPLES = 16


@dataclass(frozen=True)
class Features:
    """What extraction found.

    distance:   [sample, layer, head, 69] float32, shares that sum to one; columns as in `headtypes.columns`.
    length:     [sample] int32, real tokens.
    truncated:  [sample] bool, whether the sample was cut to the model's limit.
    sample_ids: [sample] ids.
    """

    distance: np.ndarray
    length: np.ndarray
    truncated: np.ndarray
    sample_ids: list[str]


def write_features(path: str | Path, features: Features, made: dict) -> None:
    """Write features as a whole file, in compressed chunks with checksums, with what made them (`provenance`)."""
    samples, layers, heads, columns = features.distance.shape
    chunk = (min(samples, _CHUNK_SAMPLES), layers, heads, columns)
    # Without times of creation, equal features give equal bytes.
    with replacing(path) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        file.create_dataset(
            "distance",
            data=features.distance,
            chunks=chunk,
            compression="gzip",
            compression_opts=4,
            shuffle=True,
            fletcher32=True,
            track_times=False,
        )
        # Of one width, since texts of different lengths have no checksum.
        ids = np.array([id_.encode() for id_ in features.sample_ids])
        ids = ids.astype(h5py.string_dtype(length=ids.itemsize))
        for name, data in (("length", features.length), ("truncated", features.truncated), ("sample_id", ids)):
            file.create_dataset(name, data=data, chunks=(samples,), fletcher32=True, track_times=False)
        file.attrs["made"] = canonical_json(made)


def read_features(path: str | Path) -> Features:
    """Read what `write_features` wrote. Raises `InputError` that names a damaged file."""
    with _opened(path) as file:
        return Features(
            distance=file["distance"][:],
            length=file["length"][:],
            truncated=file["truncated"][:],
            sample_ids=file["sample_id"].asstr()[:].tolist(),
        )


def read_distance(path: str | Path, windows: int) -> np.ndarray:
    """Read the distance features of every sample: [sample, head, windows + 5] float32, heads by layer."""
    with _opened(path) as file:
        distance = file["distance"]
        read = np.empty((*distance.shape[:-1], windows + COLUMNS - FINE_WINDOWS), np.float32)
        for start in range(0, len(distance), _CHUNK_SAMPLES):
            block = slice(start, start + _CHUNK_SAMPLES)
            read[block] = head_features(distance[block], windows)
        return read.reshape(len(read), -1, read.shape[-1])


def read_head_features(path: str | Path, windows: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Read the head features, the means over the samples: [head, windows + 5] float64; and (layers, heads)."""
    with _opened(path) as file:
        shape = file["distance"].shape[1:3]
    return read_distance(path, windows).mean(0, dtype=np.float64), shape


@contextmanager
def _opened(path: str | Path):
    try:
        with h5py.File(path, "r") as file:
            if getattr(file["distance"], "shape", ())[3:] != (COLUMNS,):
                raise OSError("it holds no distance features")
            yield file
    except FileNotFoundError as error:
        raise InputError(f"{path} is not there; let the workflow make it.") from error
    except (OSError, KeyError) as error:
        raise InputError(f"{path} is damaged or no feature file ({error}); delete it and run again.") from error
