"""The table of an analysis of a user's own."""

import pandas as pd

from headtypes.analyses.declaration import by_head
from headtypes.core.files import StrPath
from headtypes.core.table_files import table_reader

COLUMNS = {
    **dict.fromkeys(("layer", "head"), int),
    **dict.fromkeys(("value", "low", "high"), float),
    "samples": int,
    **dict.fromkeys(("label", "unit"), str),
}
_read = table_reader("holds no values of heads", COLUMNS)


def read_values(path: StrPath) -> pd.DataFrame:
    """Read the table of `measure.value_table`, layer by layer. Raises `InputError` that names a damaged file."""
    return by_head(_read(path))


def labelled(table: pd.DataFrame) -> str:
    label, unit = table["label"][0], table["unit"][0]
    return f"{label} ({unit})" if unit else label
