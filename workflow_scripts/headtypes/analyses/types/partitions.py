"""Ways of dividing a model's heads into types, as CSV files: made by clustering, or imported from the user."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from headtypes.analyses.distances.features import attention_groups
from headtypes.analyses.types.names import TYPES
from headtypes.core.errors import InputError, one_line, shortened
from headtypes.core.files import StrPath, undamaged
from headtypes.core.table_files import head_table, read_as_text, table_reader

_KINDS = {
    **dict.fromkeys(("layer", "head", "cluster"), int),
    "type": str,
    **dict.fromkeys(("silhouette", "near", "special", "far"), float),
    "doubtful": bool,
}
COLUMNS = list(_KINDS)
_OTHERWISE = "is not a partition file of this workflow"
_read_table = table_reader(_OTHERWISE, _KINDS)


@dataclass(frozen=True)
class Partition:
    """A division of all heads of a model into types.

    table: one row for each head, sorted by layer and head. Columns:
    - layer, head: from 0. cluster: number of the head's cluster. type: name of the head's type.
    - silhouette: -1 to 1; NaN if the partition has one type. doubtful: whether the type's name is uncertain.
    - near, special, far: shares of the head's attention to near tokens, to special tokens and punctuation, to others.
    """

    table: pd.DataFrame

    @cached_property
    def types(self) -> tuple[str, ...]:
        return order_types(self.table["type"])

    @cached_property
    def doubtful(self) -> tuple[str, ...]:
        return order_types(self.table.loc[self.table["doubtful"].astype(bool), "type"])

    @cached_property
    def shape(self) -> tuple[int, int]:
        return int(self.table["layer"].max()) + 1, int(self.table["head"].max()) + 1

    @cached_property
    def type_of(self) -> np.ndarray:
        """The name of the type of each head: [layer, head] object."""
        return self.table["type"].to_numpy(dtype=object).reshape(self.shape)

    def heads_of(self, type_name: str) -> list[tuple[int, int]]:
        # No numbers of NumPy, which other programs cannot write as JSON.
        return [(layer, head) for layer, head in np.argwhere(self.type_of == type_name).tolist()]


def order_types(names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names of types: those of Guan et al. (2020), then by alphabet, with `type-2` before `type-10`."""

    def rank(name: str) -> tuple:
        known = TYPES.index(name) if name in TYPES else len(TYPES)
        parts = re.split(r"([0-9]+)", name)  # text, digits, text, digits, ...
        return known, [int(part) if index % 2 else part for index, part in enumerate(parts)], name

    return tuple(sorted(set(names), key=rank))


def build_partition(features: np.ndarray, shape: tuple[int, int], **columns: np.ndarray | bool) -> Partition:
    """Return a partition; its columns near, special and far are computed from the features.

    features: [layer * head, column] distance features averaged over samples. shape: (layers, heads of a layer).
    columns: cluster, type, silhouette and doubtful, as in `Partition.table`, each [layer * head] or one value for all.
    """
    return Partition(head_table(shape, {**columns, **vars(attention_groups(features))})[COLUMNS])


def read_partition(path: StrPath) -> Partition:
    table = _read_table(path).sort_values(["layer", "head"], ignore_index=True)
    partition, heads = Partition(table[COLUMNS]), table[["layer", "head"]].to_numpy().tolist()
    with undamaged(path, _OTHERWISE):
        if len(heads) != np.prod(partition.shape) or heads != np.argwhere(np.ones(partition.shape)).tolist():
            raise ValueError("it does not have every head once")
    return partition


def read_types(path: StrPath, shape: tuple[int, int]) -> np.ndarray:
    """Return the type of each head, [layer, head] object, from a user's CSV file with the columns layer, head and type.

    shape: (layers, heads of a layer) of the model. Layers and heads in the file are counted from 0, in any order.
    Raises `InputError` that names the file and the line or head if a head is missing, listed twice or unknown.
    """
    try:
        # With blank lines, so that lines are counted as an editor does.
        table = read_as_text(path, skipinitialspace=True, skip_blank_lines=False)
    except FileNotFoundError as error:
        raise InputError(f"The partition file {path} does not exist.") from error
    except (ValueError, pd.errors.ParserWarning) as error:
        raise InputError(f"{path} cannot be read as CSV ({one_line(error)}).") from error
    table = table.fillna("").map(str.strip).rename(columns=str.strip)
    table = table[(table != "").any(axis=1)]
    lacking = [name for name in ("layer", "head", "type") if name not in table]
    if lacking:
        raise InputError(
            f"{path} lacks the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}: its first line must name layer, "
            f"head and type, but it names {', '.join(table)}."
        )

    def refuse(wrong: pd.Series, column: str, why: str) -> None:
        if wrong.any():
            line, value = wrong.idxmax(), str(table.loc[wrong.idxmax(), column])
            raise InputError(f"{path}, line {line + 2}: the {column} is {shortened(repr(value))}; {why}.")

    for column, size in zip(("layer", "head"), shape, strict=True):
        number = table[column].where(table[column].str.fullmatch("[0-9]{1,9}"), "-1").astype(int)
        from_one = number.min() == 1 and number.max() == size
        hint = f"; it looks as if the file counts {column}s from 1: subtract 1" if from_one else ""
        refuse(~number.between(0, size - 1), column, f"it must be a whole number from 0 to {size - 1}{hint}")
        table[column] = number
    refuse(table.duplicated(["layer", "head"]), "head", "its layer has a line for it already")
    types = np.full(shape, "", dtype=object)
    types[table["layer"], table["head"]] = table["type"]
    missing = np.argwhere(types == "")
    if len(missing):
        raise InputError(
            f"{path}: {len(missing)} of the model's {shape[0]} x {shape[1]} heads have no line, the first of them "
            f"layer {missing[0][0]}, head {missing[0][1]}; each must have one."
        )
    return types
