"""Tables on disk, CSV and Parquet, with one sentence for a file that is damaged."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from headtypes.core.files import replacing, undamaged, write_text


def read_csv(path: str | Path, otherwise: str, columns: Iterable[str], rows: int = 1, **options) -> pd.DataFrame:
    """Read a CSV file that the workflow wrote.

    otherwise: as in `files.undamaged`; columns: those it must have; rows: the least number; options: of
        `pandas.read_csv`.
    Raises `InputError` where the file is damaged, or has fewer rows, or lacks a column.
    """
    with undamaged(path, otherwise):
        return _checked(pd.read_csv(path, **options), columns, rows)


def write_csv(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as a whole CSV file, numbers to nine digits: equal tables give equal bytes."""
    write_text(path, table.to_csv(index=False, float_format="%.9g", lineterminator="\n"))


def read_parquet(path: str | Path, otherwise: str, columns: Iterable[str]) -> pd.DataFrame:
    """Read what `write_parquet` wrote, with or without rows; `otherwise` as in `read_csv`."""
    with undamaged(path, otherwise):
        return _checked(pd.read_parquet(path, page_checksum_verification=True), columns, rows=0)


def write_parquet(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as a whole Parquet file, with checksums."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False, write_page_checksum=True)


def _checked(table: pd.DataFrame, columns: Iterable[str], rows: int) -> pd.DataFrame:
    lacking = [column for column in columns if column not in table]
    if lacking:
        raise ValueError(f"it lacks the column {lacking[0]}")
    if len(table) < rows:
        raise ValueError("it has no rows")
    return table
