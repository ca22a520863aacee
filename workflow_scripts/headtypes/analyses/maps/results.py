"""Attention maps: a file of one sample (`core.hdf5_files.read_arrays`), or of several (`read_groups`)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from headtypes.core.hdf5_files import Stored


@dataclass(frozen=True)
class AttentionMaps:
    """Attention of every head on one sample.

    attention: rows sum to one (in a file, to the precision of float16). tokens: as a person reads them.
    truncated: whether the sample was cut. lengths: of what each token hands over (`attention.norms`), or None.
    """

    attention: Annotated[Float32[np.ndarray, "layer head token token"], Stored(dtype=np.float16)]
    tokens: Annotated[list[str], Stored("token", " token")]
    sample_id: str
    truncated: bool
    lengths: Float32[np.ndarray, "layer head token"] | None = None
