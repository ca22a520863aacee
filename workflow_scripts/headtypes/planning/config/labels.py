"""What a file of a table holds, as far as planning can tell without reading all of it."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from headtypes.core.texts import check_header

# Rows that are read: a label that a model does not know is seldom a rare one.
_ROWS = 1000


def labels_in(file: str, column: str) -> list[str]:
    """The labels in the first rows of a TSV, CSV or JSONL file, sorted, as text; none of what cannot be read here.

    Raises `InputError` where two columns have one name.
    """
    try:
        with open(file, encoding="utf-8-sig", newline="") as lines:
            values = [row.get(column) for row in islice(_rows(file, lines, file), _ROWS)]
    except (OSError, ValueError, AttributeError, RecursionError, csv.Error):
        # The job that reads the data says what is wrong with them.
        return []
    return sorted({str(value) for value in values if isinstance(value, str | int) and value != ""})


def columns_in(file: str, where: str) -> list[str]:
    """The columns of a TSV, CSV or JSONL file by its first row; none of what cannot be read here.

    where: the file, for messages. Raises `InputError` as `labels_in` does.
    """
    try:
        with open(file, encoding="utf-8-sig", newline="") as lines:
            rows = _rows(file, lines, where)
            return list((rows.fieldnames if isinstance(rows, csv.DictReader) else next(rows, None)) or ())
    except (OSError, ValueError, TypeError, RecursionError, csv.Error):
        return []


def _rows(file: str, lines: Any, where: str) -> Iterator[dict]:
    suffix = Path(file).suffix.lower()
    if suffix == ".jsonl":
        return (json.loads(line) for line in lines if line.strip())
    if suffix not in (".tsv", ".csv"):
        return iter(())
    # Quotes are part of the sentences, as in `data.fetching`.
    form = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if suffix == ".tsv" else {}
    rows = csv.DictReader(lines, **form)
    check_header((name.strip() for name in rows.fieldnames or ()), where)
    return rows
