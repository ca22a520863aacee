"""Surface patterns on disk: one HDF5 file per model and task."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from jaxtyping import Float, Float32, Int

from headtypes.attention.reducers import Of
from headtypes.core.hdf5_files import SampleIds, Stored
from headtypes.core.statistics import mean_of_known

# The columns of a surface pattern, as `measure.SurfacePatterns` defines them.
COLUMNS = (
    *("self", "previous", "next", "cls", "sep", "punctuation", "special"),
    *("sep_to_sep", "other_to_sep", "entropy", "entropy_cls", "peak", "first"),
)


@dataclass(frozen=True)
class Surface:
    """The surface patterns of every head on every sample (Clark et al. 2019, sections 3.1 to 3.3).

    patterns: columns as in `COLUMNS`; entropies in nats, the others shares of attention; NaN where there can be none.
    uniform: mean over the tokens of the entropy of attention that is spread evenly over all that a token may look at.
    length: tokens. norms: the same patterns of norms (`attention.norms`) instead of weights, if they were read.
    """

    patterns: Annotated[Float32[np.ndarray, "sample layer head 13"], Stored("surface")]
    uniform: Float32[np.ndarray, "sample layer"]
    length: Int[np.ndarray, " sample"]
    sample_ids: SampleIds
    norms: Float32[np.ndarray, "sample layer head 13"] | None = None
    columns: Annotated[list[str], Stored("column", "13")] = field(default_factory=lambda: list(COLUMNS))

    @property
    def read(self) -> tuple[Of, ...]:
        """The names of what was read: `weights`, and `norms` where these were read too."""
        return ("weights",) if self.norms is None else ("weights", "norms")

    def column(self, name: str, of: Of = "weights") -> Float32[np.ndarray, "sample layer head"]:
        return (self.patterns if of == "weights" else self.norms)[..., COLUMNS.index(name)]

    def mean(self, name: str, of: Of = "weights") -> Float[np.ndarray, "layer head"]:
        """Return one column of each head: the mean over samples, each of which counts once; float64.

        Samples on which the pattern is impossible (NaN) do not count; NaN where it is impossible on all of them.
        """
        return mean_of_known(self.column(name, of))
