"""Attention maps: a file of one sample (`core.hdf5_files.read_arrays`), or of several (`read_groups`); examples."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32, Float64, Int64

from headtypes.core.hdf5_files import Stored

# Patterns of Clark's Figure 1, and the column of surface patterns in which the head shown has the largest value.
PATTERNS = {"broad": "entropy", "next": "next", "sep": "sep", "punctuation": "punctuation"}


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


@dataclass(frozen=True)
class Examples:
    """The heads that show patterns best, on the last tokens of one segment.

    patterns: those of `PATTERNS` that the model can have; heads: layer and head of each, from 0; value: its mean over
        all segments of the pattern's column.
    attention: from token to token among those shown, each row divided by its sum.
    tokens: as a person reads them; begins: whether they begin the segment, which then is no longer.
    """

    patterns: Annotated[list[str], Stored("pattern", "example")]
    heads: Int64[np.ndarray, "example 2"]
    value: Float64[np.ndarray, " example"]
    attention: Float32[np.ndarray, "example token token"]
    tokens: Annotated[list[str], Stored("token", "token")]
    begins: bool
    sample_id: str
