"""Distance features on disk: one HDF5 file per model and task."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int

from headtypes.analyses.distances.columns import COLUMNS, FINE_BINS, head_features
from headtypes.attention.reducers import Of
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import SampleIds, opened_arrays, read_arrays

# The data sets of shares and of their parts that go to the first token, named as in `Features`; all but the first are
# not in every file.
SHARES = {"weights": ("distance", "first"), "norms": ("norms", "norms_first")}


@dataclass(frozen=True)
class Features:
    """The distance features of every head on every sample.

    distance: shares that sum to one with what goes to no token; columns as in `columns`. length: real tokens.
    truncated: whether the sample was cut to the model's longest input. sample_ids: in the same order.
    first: the part of each share that goes to the first token, where no sample has a `[CLS]`, else None.
    norms, norms_first: the same of norms instead of weights (`attention.norms`), if they were read, else None.
    """

    distance: Float32[np.ndarray, f"sample layer head {COLUMNS}"]
    length: Int[np.ndarray, " sample"]
    truncated: Bool[np.ndarray, " sample"]
    sample_ids: SampleIds
    first: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None
    norms: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None
    norms_first: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None


def read_features(path: StrPath) -> Features:
    """Read the features of a model on a task. Raises `InputError` that names a damaged file."""
    return read_arrays(path, Features)


def has_first_token(path: StrPath) -> bool:
    """Tell whether the attention to the first token is stored on its own, as it is where no sample has a `[CLS]`."""
    with opened_arrays(path, Features) as file:
        return "first" in file


def read_lengths(path: StrPath) -> np.ndarray:
    """Read how many tokens each sample has: [sample] int."""
    with opened_arrays(path, Features) as file:
        return file["length"][:]


def read_distance(path: StrPath, distance_bins: int, first_token: bool = True, of: Of = "weights") -> np.ndarray:
    """Read the distance features of every sample: [sample, head, column] float32, heads layer by layer.

    first_token: whether the first token counts as `[CLS]` where its attention is stored on its own.
    of:          whether they are those of weights or of norms.
    Raises `InputError` where the file has no norms.
    """
    with opened_arrays(path, Features) as file:
        distance, first = (file.get(name) for name in SHARES[of])
        if distance is None:
            raise InputError(f"{path} holds no norms; extract the features again with clustering.of: [weights, norms].")
        first = first if first_token else None
        read = np.empty((*distance.shape[:-1], distance_bins + COLUMNS - FINE_BINS), np.float32)
        for block in distance.iter_chunks():
            read[block[0]] = head_features(distance[block], distance_bins, None if first is None else first[block])
        return read.reshape(len(read), -1, read.shape[-1])


def read_head_features(
    path: StrPath, distance_bins: int, first_token: bool = True, of: Of = "weights"
) -> tuple[np.ndarray, tuple[int, int]]:
    """Read the head features, the means over the samples: [head, column] float64; and (layers, heads)."""
    with opened_arrays(path, Features) as file:
        shape = file["distance"].shape[1:3]
    return read_distance(path, distance_bins, first_token, of).mean(0, dtype=np.float64), shape
