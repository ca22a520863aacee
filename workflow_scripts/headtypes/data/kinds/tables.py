"""Kinds of task whose data are tables with named columns."""

from collections.abc import Iterable, Sequence
from typing import Any

from headtypes.core.errors import InputError, nearest
from headtypes.data.kinds.protocol import Kind

# Editors count the lines of a file from its header.
_ROW_1 = "row 1 is the first below a header"


class TableKind(Kind):
    """A kind of task whose rows are those of a table, from a file or from a dataset of the Hub."""

    form = "table"

    def rows_of_hub(self, data, where, key, columns):
        return self.rows_of_file(data.to_pandas(), where, key, columns)


def checked_table(data: Any, where: str, key: str, columns: Iterable[str]) -> Any:
    """Return a table (a pandas.DataFrame) whose columns have text for names; where, key: as in `Kind.rows_of_file`.

    Raises `InputError` where it has no rows, or lacks one of the columns.
    """
    if data.empty:
        raise InputError(f"{where} has no rows.")
    table = data.set_axis(map(str, data.columns), axis=1)
    names = list(table)
    for column in columns:
        if column not in names:
            near = nearest(column, names)
            raise InputError(f"{key}: {where} has no column {column}.{near} It has {', '.join(names)}.")
    return table


def texts_of_rows(table: Any, where: str, columns: Sequence[str]) -> list[Any]:
    """Return the texts of two columns of a table. Raises `InputError` where a row has none in one of them."""
    texts = [table[column].to_numpy(object) for column in columns]
    for row, of_row in enumerate(zip(*texts, strict=True), start=1):
        if not all(isinstance(text, str) and text.strip() for text in of_row):
            raise InputError(f"{where}: row {row} has no text in {' or '.join(columns)}; {_ROW_1}.")
    return texts


def read_ids(table: Any, where: str, column: str | None) -> list[str]:
    """Return the ids of a table's rows, as text; without a column, their numbers. Raises `InputError` for a truth
    value.
    """
    ids = range(len(table)) if column is None else plain_values(table, where, column)
    for row, id_ in enumerate(ids, start=1):
        if isinstance(id_, bool):
            raise InputError(f"{where}: row {row} has {id_} in {column}; text or a whole number is needed; {_ROW_1}.")
    return list(map(str, ids))


def plain_values(table: Any, where: str, column: str) -> list[str | int | bool]:
    """Return ids or labels as they go into JSON: text and whole numbers."""
    plain = []
    for row, value in enumerate(table[column].to_numpy(object), start=1):
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # pandas turns whole numbers into floats where one is missing.
        if value == "" or not isinstance(value, str | int):
            raise InputError(
                f"{where}: row {row} has {value!r} in {column}; text or a whole number is needed; {_ROW_1}."
            )
        plain.append(value)
    return plain
