"""Files appear whole or not at all, and what is broken is named."""

import errno
import gzip
import math
import os

import numpy as np
import pytest

from headtypes.analyses.distances.features import read_features
from headtypes.analyses.types.clustering import import_partition
from headtypes.core.errors import InputError
from headtypes.core.files import atomic_write, canonical_json, leftovers, read_json, read_json_lines, write_json_lines
from headtypes.core.table_files import read_as_text, table_reader
from headtypes.data.fetching import fetch_task
from headtypes.planning.checks import types_in
from tests.support.refusals import refusal


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "folder" / "file.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
        assert temporary.parent == path.parent, "a move within one folder cannot stop half-way"
    assert path.read_text() == "whole"
    assert os.listdir(path.parent) == ["file.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_what_was_there_and_nothing_beside_it(tmp_path, error):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fail():
        with atomic_write(path) as temporary:
            temporary.write_text("half of the n")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_json_lines_come_back_as_they_were_one_line_each(tmp_path):
    rows = [{"text": "line\nbreak \u2028 \x85 é"}, {}, {"n": 1}]
    write_json_lines(tmp_path / "x.jsonl", rows)
    assert read_json_lines(tmp_path / "x.jsonl") == rows
    assert (tmp_path / "x.jsonl").read_bytes().count(b"\n") == 3


def test_canonical_json_is_the_same_for_equal_data():
    assert canonical_json({"b": 1, "a": (1, 2)}) == canonical_json({"a": [1, 2], "b": 1}) == '{"a":[1,2],"b":1}'
    assert canonical_json("ä") == '"ä"'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(math.nan)


def test_a_byte_order_mark_and_blank_lines_are_no_data(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(tmp_path / "x.json") == [1]
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n\n')
    assert read_json_lines(tmp_path / "x.jsonl") == [{"a": 1}, {"a": 2}]


READ = (read_json, read_json_lines)


@pytest.mark.parametrize(
    ("read", "content", "said"),
    [
        (read_json, b'{"a": 1,\n"b": }\n', "x.json is not valid JSON: line 2"),
        (read_json, b'{"a": "\xff"}', "x.json, line 1 is not UTF-8 text; save"),
        (read_json_lines, b'{"a": 1}\n{"a":\n', "x.json, line 2 is not valid JSON"),
        (read_json_lines, b'{"a": 1}\n{"a": "\xff"}\n', "x.json, line 2 is not UTF-8 text"),
        *(
            (read, gzip.compress(b'{"data": []}' * 9, mtime=0), "x.json is packed, or no text; unpack it")
            for read in READ
        ),
        *((read, "a cat".encode("utf-16"), "x.json, line 1 is not UTF-8 text; save") for read in READ),
    ],
)
def test_broken_json_is_named_with_its_line(tmp_path, read, content, said):
    (tmp_path / "x.json").write_bytes(content)
    assert said in refusal(read, tmp_path / "x.json")


@pytest.mark.parametrize(
    ("json", "why"),
    [
        (r'{"a": "The cat \ud83c sat"}', r"half of a character, \ud83c, behind 'The cat '"),
        ("[" * 100_000, "brackets within too many others"),
        ('{"a": %s}' % ("9" * 10_000), "a number of too many digits"),
    ],
)
@pytest.mark.parametrize("read", READ)
def test_json_that_no_file_can_hold_is_named(tmp_path, json, why, read):
    (tmp_path / "x.jsonl").write_text(json)
    line = ", line 1" if read is read_json_lines else ""
    assert refusal(read, tmp_path / "x.jsonl") == f"{tmp_path / 'x.jsonl'}{line} holds {why}; correct it."


@pytest.mark.parametrize("number", [errno.EACCES, errno.EAGAIN, errno.ENOLCK, errno.ESTALE, errno.EMFILE, 524])
def test_a_file_that_the_system_does_not_read_is_not_called_damaged(tmp_path, monkeypatch, number):
    def refuse(*_, **__):
        raise OSError(number, f"unable to lock file, errno = {number}, error message = '{os.strerror(number)}'")

    monkeypatch.setattr("h5py.File", refuse)
    monkeypatch.setattr("pandas.read_csv", refuse)
    for read in (read_features, table_reader("is no table", {"a": None})):
        said = f"{tmp_path / 'x'} cannot be read: {os.strerror(number)}; fix this and run again."
        assert refusal(read, tmp_path / "x") == said


def test_what_a_killed_process_left_of_a_file_is_found_and_nothing_else(tmp_path):
    for name in (".a.h5.17.tmp", ".a.h5.json.17.tmp", ".ba.h5.17.tmp", "a.h5"):
        (tmp_path / name).touch()
    # Of a folder that is called a.h5.2.
    (tmp_path / ".a.h5.2.tmp").mkdir()
    assert [left.name for left in leftovers(tmp_path / "a.h5")] == [".a.h5.17.tmp"]


def pairs(file: str):
    return fetch_task("t", "sentence_pair", {"file": file}, {"first": "first", "second": "second"})


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
