"""What two runs of one config have made otherwise."""

import re
from pathlib import Path

import h5py
import numpy as np

# What figures make, how long a job took, and what a run of Snakemake itself writes. And the comparison of clusterings,
# with the records of what is made from it: spectral clustering of half of eight heads depends on the last bit of a sum.
NOT_COMPARED = re.compile(
    r"^(provenance/)?(guan2020/[^/]+/|clark2019/[^/]+/|(curves|compared_types)/.*(pdf|png)|index\.html)|benchmark\.tsv$"
    r"|^provenance/(guan2020/(comparison|quantities)\.)"
)


def differences(one: Path, other: Path) -> list[str]:
    """Files of two results folders that are not the same: in HDF5 the data and what describes them, else each byte."""
    files = {file.relative_to(folder) for folder in (one, other) for file in folder.rglob("*") if file.is_file()}
    results = [file for file in sorted(files) if not NOT_COMPARED.search(file.as_posix())]
    return [str(file) for file in results if not _same(one / file, other / file)]


def _same(one: Path, other: Path) -> bool:
    if not (one.is_file() and other.is_file()):
        return False
    if one.suffix != ".h5":
        return one.read_bytes() == other.read_bytes()
    with h5py.File(one) as here, h5py.File(other) as there:
        return _content(here) == _content(there)


def _content(file: h5py.File) -> dict[str, list]:
    """Attributes of each part, and type, shape and values of each data set."""
    found = {"/": [_plain(file.attrs)]}

    def add(name: str, part: h5py.Group | h5py.Dataset) -> None:
        data = [str(part.dtype), part.shape, _values(part)] if isinstance(part, h5py.Dataset) else []
        found[name] = [_plain(part.attrs), *data]

    file.visititems(add)
    return found


def _plain(attributes: h5py.AttributeManager) -> dict:
    return {name: np.asarray(value).tolist() for name, value in attributes.items()}


def _values(data: h5py.Dataset) -> bytes | list:
    """Bytes, so that NaN is equal to itself; text is held by reference."""
    return data[()].tolist() if data.dtype.kind == "O" else data[()].tobytes()
