"""The rows of a user's file of types, checked against the heads of a model; planning reads them too."""

import csv
import re

from headtypes.analyses.types.names import TYPE_NAME
from headtypes.core.errors import InputError, one_line, shortened
from headtypes.core.files import StrPath
from headtypes.core.texts import check_header

_NUMBER = re.compile(r"\s*-?[0-9]{1,9}\s*")
Row = tuple[int, tuple[int, int], str]


def read_partition_rows(path: StrPath, shape: tuple[int, int]) -> list[Row]:
    """Line, (layer, head), both from 0, and type of each row of a CSV with the columns layer, head and type.

    shape: number of layers, heads in a layer. Other columns are ignored. Raises `InputError` that names the file and
    the line or head where a head is missing, listed twice or not of this model, or where a type is empty or has
    characters other than A-Z, a-z, 0-9, `_` and `-`.
    """
    rows = _read_rows(path)
    _check_range(path, "layer", {line: head[0] for line, head, _ in rows}, shape[0])
    _check_range(path, "head", {line: head[1] for line, head, _ in rows}, shape[1])
    lines: dict[tuple[int, int], int] = {}
    for line, head, _ in rows:
        if head in lines:
            raise InputError(
                f"{path}, line {line}: layer {head[0]}, head {head[1]} is already on line {lines[head]}; "
                "each head must have exactly one line."
            )
        lines[head] = line
    missing = [head for layer in range(shape[0]) for head in ((layer, n) for n in range(shape[1])) if head not in lines]
    if missing:
        more = f" and {len(missing) - 1} more heads are" if len(missing) > 1 else " is"
        raise InputError(
            f"{path}: layer {missing[0][0]}, head {missing[0][1]}{more} missing; "
            f"each of the model's {shape[0]} x {shape[1]} heads must have exactly one line."
        )
    return rows


def _read_rows(path: StrPath) -> list[tuple[int, tuple[int, int], str]]:
    """Read line number, (layer, head) and type of every row."""
    rows = []
    try:
        # Spreadsheets write a byte-order mark, which is not part of the first column's name.
        with open(path, encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, restval="", skipinitialspace=True)
            names = [name.strip() for name in reader.fieldnames or []]
            check_header(names, path)
            lacking = [name for name in ("layer", "head", "type") if name not in names]
            if lacking:
                raise InputError(
                    f"{path} lacks the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}: its first line "
                    "must name layer, head and type, separated by commas, but it names "
                    f"{', '.join(names) or 'nothing'}."
                )
            reader.fieldnames = names
            for row in reader:
                line = reader.line_num
                head = (_whole_number(path, line, "layer", row), _whole_number(path, line, "head", row))
                rows.append((line, head, _type_name(path, line, row["type"].strip())))
    except FileNotFoundError as error:
        raise InputError(f"The partition file {path} does not exist.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: save it as CSV in UTF-8.") from error
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV ({one_line(error)}).") from error
    return rows


def _whole_number(path: StrPath, line: int, column: str, row: dict[str, str]) -> int:
    # Python reads more as a number: 1_0 is ten.
    if _NUMBER.fullmatch(row[column]) is None:
        raise InputError(
            f"{path}, line {line}: the {column} is {shortened(repr(row[column]))}; it must be a whole number from 0."
        )
    return int(row[column])


def _type_name(path: StrPath, line: int, name: str) -> str:
    if not name:
        raise InputError(f"{path}, line {line}: the type is empty; each head must have one.")
    if not re.fullmatch(TYPE_NAME, name):
        raise InputError(
            f"{path}, line {line}: the type {name!r} may have only letters A-Z and a-z, digits, '_' and '-', "
            "because it becomes part of tables, figures and conditions."
        )
    return name


def _check_range(path: StrPath, name: str, number_on_line: dict[int, int], size: int) -> None:
    for line, number in number_on_line.items():
        if not 0 <= number < size:
            numbers = number_on_line.values()
            from_one = min(numbers) == 1 and max(numbers) == size
            hint = f" It looks as if the file counts {name}s from 1: subtract 1." if from_one else ""
            raise InputError(
                f"{path}, line {line}: there is no {name} {shortened(str(number))}; the model has {size}, "
                f"counted from 0 to {size - 1}.{hint}"
            )
