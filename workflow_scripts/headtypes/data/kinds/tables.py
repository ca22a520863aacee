"""Kinds of task whose data are tables with named columns."""

from collections.abc import Iterable, Mapping
from typing import Any

from headtypes.core.errors import InputError, nearest
from headtypes.data.kinds.protocol import Kind


class TableKind(Kind):
    """A kind of task whose rows are those of a table: of a file, or of a dataset of the Hub."""

    form = "table"

    def rows_of_hub(self, data: Any, where: str, key: str, columns: Mapping[str, Any] | None) -> list:
        """The rows of a dataset with such columns."""
        return self.rows_of_file(data.to_pandas(), where, key, columns)


def checked_table(data: Any, where: str, key: str, columns: Iterable[str]) -> Any:
    """A table (a pandas.DataFrame) whose columns have text for names; where, key: as of `Kind.rows_of_file`.

    Raises `InputError` where it has no rows, or lacks one of the columns.
    """
    if data.empty:
        raise InputError(f"{where} has no rows.")
    table = data.set_axis(map(str, data.columns), axis=1)
    for column in columns:
        if column not in table:
            raise InputError(
                f"{key}: {where} has no column {column}.{nearest(column, table)} It has {', '.join(table)}."
            )
    return table
