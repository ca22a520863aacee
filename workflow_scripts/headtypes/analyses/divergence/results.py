"""Divergences between heads on disk, one HDF5 file per model and task; and their projection."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float64

from headtypes.core.files import StrPath, read_json, undamaged
from headtypes.core.hdf5_files import SampleIds, Stored
from headtypes.core.table_files import table_reader


@dataclass(frozen=True)
class Divergence:
    """The divergence of the attention of any two heads (Clark et al. 2019, section 6).

    total: Jensen-Shannon divergence of the rows of two heads, summed over all `rows`, in nats; heads layer by layer.
    norms: the same total of norms (`attention.norms`) in place of weights; None if norms were not read.
    """

    total: Annotated[Float64[np.ndarray, "head head"], Stored("divergence")]
    rows: int
    layers: int
    sample_ids: SampleIds
    norms: Float64[np.ndarray, "head head"] | None = None

    @property
    def of_a_row(self) -> Float64[np.ndarray, "head head"]:
        """The mean divergence of two heads' rows, in nats: from 0 (equal) to ln 2 (no token shared)."""
        return self.total / self.rows


# Reads the table of `projection.project_heads`.
read_projection = table_reader("holds no places of heads", {"layer": int, "head": int, "x": float, "y": float})


def read_projection_fit(path: StrPath) -> dict:
    """Return the summary of `project_heads` from a JSON file, with the keys rows, stress, correlation and layers."""
    with undamaged(path, "does not say how well a projection fits"):
        fit = read_json(path)
        if not {"stress", "correlation", "layers"} <= fit.keys():
            raise ValueError("it lacks the stress, the correlation or the layers")
        return fit
