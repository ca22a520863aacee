"""Ways of dividing a model's heads into types, as CSV files: made by clustering, or brought by the user."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from headtypes.clustering import Clustering, head_silhouettes
from headtypes.errors import InputError
from headtypes.files import replacing
from headtypes.naming import attention_groups
from headtypes.type_names import TYPES

COLUMNS = ["layer", "head", "cluster", "type", "silhouette", "near", "special", "far", "doubtful"]


@dataclass(frozen=True)
class Partition:
    """Every head of a model with its type.

    table: one row per head, by layer and head (both from 0), with the columns `COLUMNS`: silhouette is NaN
        where there is one type; near, special and far are the head's own attention and sum to one; doubtful
        says whether the type's name is, as `naming.name_types` explains.
    """

    table: pd.DataFrame

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types in the order in which they are listed everywhere."""
        return order_types(self.table["type"])

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of layers, number of heads in a layer."""
        return int(self.table["layer"].max()) + 1, int(self.table["head"].max()) + 1

    @cached_property
    def type_of(self) -> np.ndarray:
        """[layer, head] object, the type of each head."""
        return self.table["type"].to_numpy(dtype=object).reshape(self.shape)

    def heads_of(self, type_name: str) -> np.ndarray:
        """[n, 2] int, layer and head of each head of a type."""
        return np.argwhere(self.type_of == type_name)


def order_types(names: Iterable[str]) -> tuple[str, ...]:
    """Sort distinct type names: the paper's four in their order, then the others, numbers by value."""

    def rank(name: str) -> tuple:
        known = TYPES.index(name) if name in TYPES else len(TYPES)
        parts = re.split(r"([0-9]+)", name)  # text, digits, text, digits, ...
        return known, [int(part) if place % 2 else part for place, part in enumerate(parts)], name

    return tuple(sorted(set(names), key=rank))


def partition_of(clustering: Clustering, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    """Return clustered heads as a partition.

    features: [layer * head, column], as they were clustered; shape: number of layers, heads in a layer.
    """
    naming = clustering.naming
    doubtful = np.array([doubt != "" for doubt in naming.doubts])
    return _build(
        features,
        shape,
        cluster=clustering.labels,
        types=np.array(naming.names, dtype=object)[clustering.labels],
        silhouette=clustering.silhouette,
        doubtful=doubtful[clustering.labels],
    )


def write_partition(path: str | Path, partition: Partition) -> None:
    """Write a partition as CSV: equal partitions give equal bytes."""
    with replacing(path) as temporary:
        partition.table.to_csv(temporary, index=False, float_format="%.9g", lineterminator="\n")


def read_partition(path: str | Path) -> Partition:
    """Read what `write_partition` wrote."""
    table = pd.read_csv(
        path, dtype={"type": str, "silhouette": float}, keep_default_na=False, na_values={"silhouette": [""]}
    )
    missing = [column for column in COLUMNS if column not in table]
    if missing:
        raise InputError(f"{path} is no partition file of ours: it lacks the columns {', '.join(missing)}.")
    return Partition(table[COLUMNS].sort_values(["layer", "head"], ignore_index=True))


def import_partition(csv_path: str | Path, features: np.ndarray, shape: tuple[int, int]) -> Partition:
    """Read a CSV of the user's, with the columns layer, head (both from 0) and type, in any order of rows.

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
    return _build(features, shape, cluster=cluster, types=types, silhouette=silhouette, doubtful=False)


def _build(
    features: np.ndarray,
    shape: tuple[int, int],
    *,
    cluster: np.ndarray,
    types: np.ndarray,
    silhouette: np.ndarray,
    doubtful: np.ndarray | bool,
) -> Partition:
    layer, head = (index.reshape(-1) for index in np.indices(shape))
    groups = attention_groups(features)
    table = pd.DataFrame(
        {
            "layer": layer,
            "head": head,
            "cluster": cluster,
            "type": types,
            "silhouette": silhouette,
            "near": groups.near,
            "special": groups.special,
            "far": groups.far,
            "doubtful": doubtful,
        }
    )
    return Partition(table)


def _read_rows(path: str | Path) -> list[tuple[int, tuple[int, int], str]]:
    """Read line number, (layer, head) and type of every row."""
    rows = []
    try:
        # A byte-order mark, as spreadsheets write it, is no part of the first column's name.
        with open(path, encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, restval="", skipinitialspace=True)
            names = [name.strip() for name in reader.fieldnames or []]
            lacking = [name for name in ("layer", "head", "type") if name not in names]
            if lacking:
                raise InputError(
                    f"{path} lacks the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}: its first line "
                    "must name layer, head and type, separated by commas, and it names "
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
            f"{path}, line {line}: the {column} is {row[column]!r}; it must be a whole number from 0."
        ) from error


def _type_name(path: str | Path, line: int, name: str) -> str:
    if not name:
        raise InputError(f"{path}, line {line}: the type is empty; each head must have one.")
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise InputError(
            f"{path}, line {line}: the type {name!r} may have only letters A-Z and a-z, digits, '_' and '-', "
            "because it becomes part of file names."
        )
    return name


def _check_range(path: str | Path, name: str, number_on_line: dict[int, int], size: int) -> None:
    for line, number in number_on_line.items():
        if not 0 <= number < size:
            numbers = number_on_line.values()
            from_one = min(numbers) == 1 and max(numbers) == size
            hint = f" It looks as if the file counts {name}s from 1: subtract 1." if from_one else ""
            raise InputError(
                f"{path}, line {line}: there is no {name} {number}; the model has {size}, "
                f"counted from 0 to {size - 1}.{hint}"
            )
