"""The columns of a file of a table, as planning reads them off its first row."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headtypes.core.texts import check_header


def columns_in(file: str, where: str) -> list[str]:
    """The columns of a TSV, CSV or JSONL file by its first row; none of what cannot be read here.

    where: the file, for messages. Raises `InputError` where two columns have one name.
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
