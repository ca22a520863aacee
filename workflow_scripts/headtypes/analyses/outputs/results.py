"""Head outputs on disk: one HDF5 file per model and task, and the tables made of it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64, Int

from headtypes.core.hdf5_files import SampleIds
from headtypes.core.table_files import table_reader

TOKENS = ("written", "written_first", "written_special", "written_punctuation", "written_other")
QUARTERS = tuple(f"written_quarter_{number}" for number in range(1, 5))
COLUMNS = (*TOKENS, *QUARTERS, "length", "first", "to_largest")
STREAM = ("largest", "median", "token")
HEADS = ("layer", "head", *TOKENS, *QUARTERS, "low", "high", "relative", "off", "off_no_sink", "first", "to_largest")


@dataclass(frozen=True)
class Outputs:
    """The vectors that every head writes into the residual stream, on every sample.

    written: the columns `COLUMNS`. Those that begin with `written` are means over tokens of the length of the vector
        that
        the head adds to a token, divided by that of the residual stream there: over all tokens, the first one, other
        special ones (`[CLS]`, `[SEP]`), comma and period, the rest, and each quarter of the sample without its first
        token; NaN where there is no such token. length: the mean length over all tokens. first, to_largest: the share
        of
        the head's attention to the first token, and to the token with the largest number of the stream.
    stream: of the stream that the layer reads, the columns `STREAM`: the largest number of all tokens, by its
        magnitude; the median magnitude; the token with the largest, from 0.
    length: tokens. reason: why there are no values, or None.
    """

    written: Float32[np.ndarray, "sample layer head 12"]
    stream: Float64[np.ndarray, "sample layer 3"]
    length: Int[np.ndarray, " sample"]
    sample_ids: SampleIds
    reason: str | None = None

    @property
    def warnings(self) -> list[str]:
        return [] if self.reason is None else [f"nothing is measured: {self.reason}"]

    def column(self, name: str) -> Float64[np.ndarray, "sample layer head"]:
        return self.written[..., COLUMNS.index(name)].astype(float)


# Of the table of `tables.heads_table`.
read_heads = table_reader("holds nothing that heads write", dict.fromkeys(HEADS))
