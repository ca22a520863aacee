"""A column that is named twice is refused by every reader of a user's tables: they differ in which they take."""

import numpy as np
import pytest

from headtypes.analyses.types.clustering import import_partition
from headtypes.core.errors import InputError
from headtypes.core.table_files import read_as_text
from headtypes.data.fetching import fetch_task
from headtypes.planning.config.checks import types_in


def pairs(file: str):
    return fetch_task("t", "sentence_pair", {"file": file}, {"first": "first", "second": "second"})


# By name: what the file holds, and what reads it.
READERS = {
    "heads.csv": (
        "layer,head,type, type\n0,0,a,b\n",
        lambda file: import_partition(file, np.full((1, 21), 1 / 21), (1, 1)),
    ),
    "types.csv": ("layer,head,type,type\n0,0,a,b\n", lambda file: types_in("partitions.mine.file", file)),
    "pairs.csv": ("first,second,type,type\na,b,0,1\n", pairs),
    "pairs.tsv": ("first\tsecond\ttype\ttype\na\tb\t0\t1\n", pairs),
}


@pytest.mark.parametrize("name", READERS)
def test_a_column_that_is_named_twice_is_refused(name, tmp_path):
    content, read = READERS[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=f"{name} has more than one column type; rename or remove all but one"):
        read(str(tmp_path / name))


def test_columns_without_a_name_are_as_many_as_a_spreadsheet_leaves(tmp_path):
    (tmp_path / "x.csv").write_text("type,,\na,,\n")
    assert types_in("partitions.mine.file", str(tmp_path / "x.csv")) == ("a",)
    assert read_as_text(tmp_path / "x.csv")["type"].tolist() == ["a"]
