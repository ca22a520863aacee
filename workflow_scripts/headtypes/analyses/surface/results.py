"""Surface patterns on disk: one HDF5 file per model and task."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32

from headtypes.attention.settings import Of
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import PACKED, add_data, new_result, of_one_width, opened_result, read_texts
from headtypes.core.statistics import mean_of_known

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
        return mean_of_known(self.column(name, of))


def write_surface(path: StrPath, surface: Surface, provenance: dict) -> None:
    """Write surface patterns as a whole file, in compressed chunks with checksums, with their provenance."""
    with new_result(path, provenance) as file:
        add_data(file, "surface", surface.patterns, _CHUNK_SAMPLES, **PACKED)
        add_data(file, "uniform", surface.uniform)
        add_data(file, "length", surface.length)
        add_data(file, "sample_id", of_one_width(surface.sample_ids))
        add_data(file, "column", of_one_width(COLUMNS))
        if surface.norms is not None:
            add_data(file, "norms", surface.norms, _CHUNK_SAMPLES, **PACKED)


def read_surface(path: StrPath) -> Surface:
    """Read what `write_surface` wrote. Raises `InputError` that names a damaged file."""
    with opened_result(path, "holds no surface patterns") as file:
        if read_texts(file["column"]) != list(COLUMNS):
            raise ValueError("its columns are others")
        surface = Surface(
            patterns=file["surface"][:],
            uniform=file["uniform"][:],
            length=file["length"][:],
            sample_ids=read_texts(file["sample_id"]),
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
