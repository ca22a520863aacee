"""Rows and samples as JSON Lines: written as they are, read back as they were, refused where they are damaged."""

import pytest

from headtypes.data.kinds.question_answering.squad import Question
from headtypes.data.kinds.sentence_pair import Pair
from headtypes.data.records import Sample, read_records, write_records

QUESTION = Question("é1", "Cafés", "Where?", 'A "café"\u2028 here.', ("café", "A"), (3, 0))
RECORDS = {
    Sample: [Sample("a", "one text", None), Sample("b", "two", "texts")],
    Question: [QUESTION, Question("2", "", "Who?", "Ada.", ("Ada",), (0,))],
    Pair: [Pair("0", "a", "b", label) for label in (0, 1, True, "same", None, -1)],
}


@pytest.mark.parametrize("record", RECORDS)
def test_records_come_back_as_they_were(tmp_path, record):
    path = tmp_path / "rows.jsonl"
    write_records(path, RECORDS[record])
    found = read_records(path, record)
    assert found == RECORDS[record]
    # True equals 1.
    assert [type(getattr(row, "label", None)) for row in found] == [
        type(getattr(row, "label", None)) for row in RECORDS[record]
    ]
