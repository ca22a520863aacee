"""What comes out of heads on disk: one HDF5 file per model and task, and the tables made of it."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
from jaxtyping import Float32, Float64

from headtypes.core.files import canonical_json, undamaged
from headtypes.core.hdf5_files import new_hdf5
from headtypes.core.table_files import read_csv

TOKENS = ("written", "written_first", "written_special", "written_punctuation", "written_other")
QUARTERS = tuple(f"written_quarter_{number}" for number in range(1, 5))
COLUMNS = (*TOKENS, *QUARTERS, "length", "first", "to_largest")
STREAM = ("largest", "median", "token")
HEADS = ("layer", "head", *TOKENS, *QUARTERS, "low", "high", "relative", "off", "off_no_sink", "first", "to_largest")
_OFTEN = ("off", "off_no_sink", "varies")
LAYERS = ("layer", "largest", "median", "ratio", "massive", "token", "to_largest", "even", *_OFTEN)


@dataclass(frozen=True)
class Outputs:
    """What every head writes into the residual stream, on every sample.

    written: the columns `COLUMNS`. Those that begin with `written` are means over tokens of the length of what the head
        adds to a token, divided by that of the residual stream there: over all tokens, the first one, other special
        ones (`[CLS]`, `[SEP]`), comma and period, the rest, and each quarter of the sample without its first token; NaN
        where there is no such token. length: the mean length over all tokens. first, to_largest: the share of the
        head's attention to the first token, and to the token with the largest number of the stream.
    stream: of the stream that the layer reads, the columns `STREAM`: the largest number of all tokens, by its
        magnitude; the median magnitude; the token with the largest, from 0.
    length: [sample] int32, tokens. sample_ids: of the samples, in the same order.
    reason: why there are no values, or None.
    """

    written: Float32[np.ndarray, "sample layer head 12"]
    stream: Float64[np.ndarray, "sample layer 3"]
    length: np.ndarray
    sample_ids: list[str]
    reason: str | None = None

    @property
    def warnings(self) -> list[str]:
        """What to tell the user."""
        return [] if self.reason is None else [f"nothing is measured: {self.reason}"]

    def column(self, name: str) -> Float64[np.ndarray, "sample layer head"]:
        """One column on every sample."""
        return self.written[..., COLUMNS.index(name)].astype(float)


def write_outputs(path: str | Path, outputs: Outputs, provenance: dict) -> None:
    """Write what heads write as a whole file, with checksums, with its provenance."""
    ids = np.array([id_.encode() for id_ in outputs.sample_ids], dtype=bytes)
    data = {
        "written": outputs.written,
        "stream": outputs.stream,
        "length": outputs.length,
        "sample_id": ids.astype(h5py.string_dtype(length=max(ids.itemsize, 1))),
    }
    # Without times of creation, equal numbers give equal bytes.
    with new_hdf5(path, track_order=True) as file:
        for name, values in data.items():
            packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if name == "written" else {}
            chunks = (min(len(values), 16), *values.shape[1:])
            file.create_dataset(name, data=values, chunks=chunks, fletcher32=True, track_times=False, **packed)
        file.attrs["reason"] = outputs.reason or ""
        file.attrs["provenance"] = canonical_json(provenance)


def read_outputs(path: str | Path) -> Outputs:
    """Read what `write_outputs` wrote. Raises `InputError` that names a damaged file."""
    with undamaged(path, "holds nothing that heads write"), h5py.File(path, "r") as file:
        ids = file["sample_id"].asstr()[:].tolist()
        read = {name: file[name][:] for name in ("written", "stream", "length")}
        outputs = Outputs(**read, sample_ids=ids, reason=file.attrs["reason"] or None)
        samples, layers, _, columns = outputs.written.shape
        if columns != len(COLUMNS) or outputs.stream.shape != (samples, layers, len(STREAM)):
            raise ValueError("its columns are others")
        if not samples == len(outputs.length) == len(ids):
            raise ValueError("its data sets are not of the same samples")
        return outputs


def read_heads(path: str | Path) -> pd.DataFrame:
    """Read the table of `tables.heads_table`, layer by layer. Raises `InputError` that names a damaged file."""
    table = read_csv(path, "holds nothing that heads write", HEADS)
    return table.sort_values(["layer", "head"], ignore_index=True)


def read_layers(path: str | Path) -> pd.DataFrame:
    """Read the table of `tables.layers_table`. Raises `InputError` that names a damaged file."""
    return read_csv(path, "says nothing of a residual stream", LAYERS)
