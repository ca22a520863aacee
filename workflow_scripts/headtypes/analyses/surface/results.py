"""Surface patterns on disk: one HDF5 file per model and task."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from jaxtyping import Float, Float32

from headtypes.attention.settings import Of
from headtypes.core.files import canonical_json, undamaged
from headtypes.core.hdf5_files import new_hdf5

# The columns of a surface pattern, as `measure.SurfacePatterns` defines them.
COLUMNS = (
    "self",
    "previous",
    "next",
    "cls",
    "sep",
    "punctuation",
    "special",
    "sep_to_sep",
    "other_to_sep",
    "entropy",
    "entropy_cls",
    "peak",
    "first",
)
# Samples in one chunk.
_CHUNK_SAMPLES = 16


@dataclass(frozen=True)
class Surface:
    """The surface patterns of every head on every sample (Clark et al. 2019, sections 3.1 to 3.3).

    patterns:   columns as in `COLUMNS`; entropies in nats, the others shares of attention. NaN where a model cannot
        have the pattern.
    uniform:    mean over the tokens of the entropy of attention that is spread evenly over all that a token may look
        at, in nats.
    length:     [sample] int32, tokens.
    sample_ids: of the samples, in the same order.
    norms:      the same patterns of norms instead of weights (`attention.norms`), if they were read, else None.
    """

    patterns: Float32[np.ndarray, "sample layer head 13"]
    uniform: Float32[np.ndarray, "sample layer"]
    length: np.ndarray
    sample_ids: list[str]
    norms: Float32[np.ndarray, "sample layer head 13"] | None = None

    @property
    def read(self) -> tuple[Of, ...]:
        """What patterns were read of."""
        return ("weights",) if self.norms is None else ("weights", "norms")

    def column(self, name: str, of: Of = "weights") -> Float32[np.ndarray, "sample layer head"]:
        """One column on every sample."""
        return (self.patterns if of == "weights" else self.norms)[..., COLUMNS.index(name)]

    def mean(self, name: str, of: Of = "weights") -> Float[np.ndarray, "layer head"]:
        """One column of each head: the mean over samples, each of which counts once; float64.

        Samples on which the pattern is impossible (NaN) do not count; NaN where it is impossible on all of them.
        """
        column = self.column(name, of)
        possible = ~np.isnan(column)
        counted = possible.sum(0)
        return np.where(counted, np.nansum(column, 0, dtype=float) / np.maximum(counted, 1), np.nan)


def write_surface(path: str | Path, surface: Surface, provenance: dict) -> None:
    """Write surface patterns as a whole file, in compressed chunks with checksums, with their provenance."""
    data = {
        "surface": surface.patterns,
        "uniform": surface.uniform,
        "length": surface.length,
        "sample_id": _of_one_width(surface.sample_ids),
        "column": _of_one_width(COLUMNS),
    } | ({} if surface.norms is None else {"norms": surface.norms})
    # Without times of creation, equal patterns give equal bytes.
    with new_hdf5(path, track_order=True) as file:
        for name, values in data.items():
            large = name in ("surface", "norms")
            packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if large else {}
            chunks = (min(len(values), _CHUNK_SAMPLES), *values.shape[1:]) if large else values.shape
            file.create_dataset(name, data=values, chunks=chunks, fletcher32=True, track_times=False, **packed)
        file.attrs["provenance"] = canonical_json(provenance)


def _of_one_width(texts: Sequence[str]) -> np.ndarray:
    """Texts as HDF5 stores them with a checksum, which those of different lengths do not have."""
    encoded = np.array([text.encode() for text in texts], dtype=bytes)
    return encoded.astype(h5py.string_dtype(length=max(encoded.itemsize, 1)))


def read_surface(path: str | Path) -> Surface:
    """Read what `write_surface` wrote. Raises `InputError` that names a damaged file."""
    with undamaged(path, "holds no surface patterns"), h5py.File(path, "r") as file:
        if file["column"].asstr()[:].tolist() != list(COLUMNS):
            raise ValueError("its columns are others")
        surface = Surface(
            patterns=file["surface"][:],
            uniform=file["uniform"][:],
            length=file["length"][:],
            sample_ids=file["sample_id"].asstr()[:].tolist(),
            norms=file["norms"][:] if "norms" in file else None,
        )
        samples, layers, _, columns = surface.patterns.shape
        if (
            columns != len(COLUMNS)
            or surface.uniform.shape != (samples, layers)
            or (surface.norms is not None and surface.norms.shape != surface.patterns.shape)
            or not samples == len(surface.length) == len(surface.sample_ids)
        ):
            raise ValueError("its data sets are not of the same samples")
        return surface
