"""Tables on disk, CSV and Parquet, with one sentence for a file that is damaged; names of heads, and tables of them."""

import csv
import warnings
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd

from headtypes.core.files import StrPath, atomic_write, check_header, separator_of, text_of, undamaged, write_text


def read_csv(path: StrPath, otherwise: str, columns: Iterable[str], rows: int = 1, **options) -> pd.DataFrame:
    """Return the table of a CSV file that the workflow wrote; options: those of `pandas.read_csv`.

    columns, rows: columns that the file must have, and its least number of rows. otherwise: end of the `InputError`
        `PATH is damaged or OTHERWISE`, such as `is not a partition`.
    """
    with undamaged(path, otherwise):
        return _checked(pd.read_csv(path, **options), columns, rows)


def table_reader(
    otherwise: str, columns: Mapping[str, type | None], rows: int = 1
) -> Callable[[StrPath], pd.DataFrame]:
    """Return a function from the path of a CSV file that the workflow wrote to the file's table.

    otherwise: end of the `InputError` `PATH is damaged or OTHERWISE`; rows: least number of rows in the file.
    columns: {name: type} of the columns that the file must have; None lets pandas choose the type. Text columns are
        kept as written, even "1" and "NA"; an empty cell is "" in a text column, and missing in any other column.
    """
    kinds = {name: kind for name, kind in columns.items() if kind is not None}
    texts = {name: "" for name, kind in kinds.items() if kind is str}

    def read(path: StrPath) -> pd.DataFrame:
        table = read_csv(path, otherwise, columns, rows, dtype=kinds, keep_default_na=False, na_values=[""])
        return table.fillna(texts)

    return read


def read_as_text(path: StrPath, sep: str | None = None, **form) -> pd.DataFrame:
    """Return a user's table with every cell as text; form: options of `pandas.read_csv`.

    sep: the separator of columns; None for the most frequent of comma, semicolon and tab in the first line.
    A line with more fields than the first line raises `pandas.errors.ParserWarning`.
    """
    text = text_of(path)
    header = text.partition("\n")[0]
    sep = sep or separator_of(header)
    # Of two columns with one name, pandas renames the second.
    (names,) = csv.reader([header], delimiter=sep, quoting=form.get("quoting", csv.QUOTE_MINIMAL))
    check_header(map(str.strip, names), path)
    with warnings.catch_warnings():
        # Without this and index_col, a surplus field in every line would shift the columns, or be dropped.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(StringIO(text), sep=sep, dtype=str, keep_default_na=False, index_col=False, **form)


def write_csv(path: StrPath, table: pd.DataFrame) -> None:
    """Write a table as CSV, with numbers of nine significant digits: equal tables give equal bytes."""
    write_text(path, table.to_csv(index=False, float_format="%.9g", lineterminator="\n"))


def read_parquet(path: StrPath, otherwise: str, columns: Iterable[str]) -> pd.DataFrame:
    """Return a Parquet file's table; `InputError` `PATH is damaged or OTHERWISE`, also if it lacks one of `columns`."""
    with undamaged(path, otherwise):
        return _checked(pd.read_parquet(path, page_checksum_verification=True), columns, rows=0)


def write_parquet(path: StrPath, table: pd.DataFrame) -> None:
    with atomic_write(path) as temporary:
        table.to_parquet(temporary, index=False, write_page_checksum=True)


def _checked(table: pd.DataFrame, columns: Iterable[str], rows: int) -> pd.DataFrame:
    lacking = [column for column in columns if column not in table]
    if lacking:
        raise ValueError(f"it lacks the column {lacking[0]}")
    if len(table) < rows:
        raise ValueError("it has no rows")
    return table


def head_name(layer: int, head: int) -> str:
    """Return the name of a head for a reader, `layer-head`, both counted from 1; layer, head: counted from 0."""
    return f"{layer + 1}-{head + 1}"


def head_table(shape: tuple[int, int], columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with one row per head, layer by layer, and the columns layer, head (both from 0) and `columns`.

    shape: (layers, heads per layer); columns: {name: values in the order of rows, or one value for all heads}.
    """
    layer, head = np.indices(shape).reshape(2, -1)
    return pd.DataFrame({"layer": layer, "head": head, **columns})
