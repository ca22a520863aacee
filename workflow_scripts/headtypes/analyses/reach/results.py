"""How much heads attend beyond sinks and recent tokens, on disk: one small HDF5 file per model and task."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import add_data, new_result, opened_result


@dataclass(frozen=True)
class Reach:
    """The share of each head's attention that goes beyond sinks and recent tokens.

    share:    of each sample that is long enough to have such tokens.
    kv_heads: heads of keys and values in a layer; those of queries share them in equal runs.
    sink_size, recent_size: first tokens of a sample, and last tokens up to the query's own, that do not count.
    """

    share: Float32[np.ndarray, "sample layer head"]
    kv_heads: int
    sink_size: int
    recent_size: int


def write_reach(path: StrPath, reach: Reach, provenance: dict) -> None:
    """Write it as a whole file with a checksum, with its provenance."""
    with new_result(path, provenance) as file:
        add_data(file, "share", reach.share)
        for name in ("kv_heads", "sink_size", "recent_size"):
            file.attrs[name] = getattr(reach, name)


def read_reach(path: StrPath) -> Reach:
    """Read what `write_reach` wrote. Raises `InputError` for a damaged file."""
    with opened_result(path, "holds no reach of heads") as file:
        sizes = {name: int(file.attrs[name]) for name in ("kv_heads", "sink_size", "recent_size")}
        reach = Reach(file["share"][:], **sizes)
        if reach.share.ndim != 3 or reach.share.shape[-1] % reach.kv_heads:
            raise ValueError("its shape is not that of shares of heads")
        return reach
