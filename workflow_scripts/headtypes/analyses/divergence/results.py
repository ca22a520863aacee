"""Divergences between heads and their projection, as files hold them."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float64

from headtypes.core.files import StrPath, read_json, undamaged
from headtypes.core.hdf5_files import SampleIds, Stored
from headtypes.core.table_files import table_reader


@dataclass(frozen=True)
class Divergence:
    """The Jensen-Shannon divergence of the attention of any two heads (Clark et al. 2019, section 6).

    total: [head, head] sum over `rows` rows of attention, in nats. norms: the same of norms; None if not read.
    """

    total: Annotated[Float64[np.ndarray, "head head"], Stored("divergence")]
    rows: int
    layers: int
    sample_ids: SampleIds
    norms: Float64[np.ndarray, "head head"] | None = None

    @property
    def of_a_row(self) -> Float64[np.ndarray, "head head"]:
        return self.total / self.rows


read_projection = table_reader("holds no places of heads", {"layer": int, "head": int, "x": float, "y": float})


def read_projection_fit(path: StrPath) -> dict:
    with undamaged(path, "does not say how well a projection fits"):
        fit = read_json(path)
        if not {"stress", "correlation", "layers"} <= fit.keys():
            raise ValueError("it lacks the stress, the correlation or the layers")
        return fit
