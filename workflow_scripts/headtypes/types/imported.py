"""A division of heads into types that the user made, imported from CSV."""

import csv
import re
from pathlib import Path

import numpy as np

from headtypes.base.errors import InputError, shortened
from headtypes.types.clustering import head_silhouettes
from headtypes.types.names import TYPE_NAME
from headtypes.types.partitions import Partition, build_partition, order_types


def import_partition(csv_path: str | Path, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    """Import the user's CSV, with the columns layer, head (both from 0) and type, in any order of rows.

    features: [layer * head, column] distance features; shape: number of layers, heads in a layer.

    Clusters are counted in the order of `order_types`; silhouettes are those of the unscaled features; other
    columns of the file are ignored and no name is doubtful. Raises `InputError` that names the file and the
    line or head where a head is missing, listed twice or not of this model, or where a type is empty or has
    characters other than A-Z, a-z, 0-9, `_` and `-`.
    """
    rows = _read_rows(csv_path)
    _check_range(csv_path, "layer", {line: head[0] for line, head, _ in rows}, shape[0])
    _check_range(csv_path, "head", {line: head[1] for line, head, _ in rows}, shape[1])

    lines: dict[tuple[int, int], int] = {}
    type_of = np.empty(shape, dtype=object)
    for line, head, type_name in rows:
        if head in lines:
            raise InputError(
                f"{csv_path}, line {line}: layer {head[0]}, head {head[1]} is already on line {lines[head]}; "
                "each head must have exactly one line."
            )
        lines[head] = line
        type_of[head] = type_name
    missing = [head for head in np.ndindex(shape) if head not in lines]
    if missing:
        more = f" and {len(missing) - 1} more heads are" if len(missing) > 1 else " is"
        raise InputError(
            f"{csv_path}: layer {missing[0][0]}, head {missing[0][1]}{more} missing; "
            f"each of the model's {shape[0]} x {shape[1]} heads must have exactly one line."
        )

    types = type_of.reshape(-1)
    order = order_types(types)
    cluster = np.array([order.index(name) for name in types])
    silhouette = head_silhouettes(features.astype(float), cluster)
    return build_partition(features, shape, cluster=cluster, types=types, silhouette=silhouette, doubtful=False)


def _read_rows(path: str | Path) -> list[tuple[int, tuple[int, int], str]]:
    """Read line number, (layer, head) and type of every row."""
    rows = []
    try:
        # Spreadsheets write a byte-order mark, which is not part of the first column's name.
        with open(path, encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, restval="", skipinitialspace=True)
            names = [name.strip() for name in reader.fieldnames or []]
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
    return rows


def _whole_number(path: str | Path, line: int, column: str, row: dict[str, str]) -> int:
    try:
        return int(row[column])
    except ValueError as error:
        raise InputError(
            f"{path}, line {line}: the {column} is {shortened(repr(row[column]))}; it must be a whole number from 0."
        ) from error


def _type_name(path: str | Path, line: int, name: str) -> str:
    if not name:
        raise InputError(f"{path}, line {line}: the type is empty; each head must have one.")
    if not re.fullmatch(TYPE_NAME, name):
        raise InputError(
            f"{path}, line {line}: the type {name!r} may have only letters A-Z and a-z, digits, '_' and '-', "
            "because it becomes part of tables, figures and conditions."
        )
    return name


def _check_range(path: str | Path, name: str, number_on_line: dict[int, int], size: int) -> None:
    for line, number in number_on_line.items():
        if not 0 <= number < size:
            numbers = number_on_line.values()
            from_one = min(numbers) == 1 and max(numbers) == size
            hint = f" It looks as if the file counts {name}s from 1: subtract 1." if from_one else ""
            raise InputError(
                f"{path}, line {line}: there is no {name} {shortened(str(number))}; the model has {size}, "
                f"counted from 0 to {size - 1}.{hint}"
            )
