"""What two runs of one config have made otherwise."""

import re
from pathlib import Path

# What figures make, how long a job took, and what a run of Snakemake itself writes. And the comparison of clusterings,
# with the records of what is made from it: spectral clustering of half of eight heads depends on the last bit of a sum.
NOT_COMPARED = re.compile(
    r"^(provenance/)?(guan2020/[^/]+/|clark2019/[^/]+/|compared_types/.*(pdf|png)|index\.html)|benchmark\.tsv$"
    r"|^provenance/(guan2020/(comparison|quantities)\.)"
)


def differences(one: Path, other: Path) -> list[str]:
    """Files of two results folders that are not the same, byte by byte."""
    files = {file.relative_to(folder) for folder in (one, other) for file in folder.rglob("*") if file.is_file()}
    results = [file for file in sorted(files) if not NOT_COMPARED.search(file.as_posix())]
    return [str(file) for file in results if not _same(one / file, other / file)]


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()
