"""Rows and samples as JSON Lines: written as they are, read back as they were, refused where they are damaged."""

import json

import pytest

from headtypes.data import records
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


def test_a_line_is_an_object_with_the_fields_in_order(tmp_path):
    write_records(tmp_path / "rows.jsonl", [QUESTION])
    (line,) = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    fields = {"id": "é1", "article": "Cafés", "question": "Where?", "context": 'A "café"\u2028 here.'}
    answers = {"answers": ["café", "A"], "answer_starts": [3, 0]}
    assert line == json.dumps({**fields, **answers}, ensure_ascii=False)


def test_a_reader_is_made_once_and_not_for_each_record(tmp_path, monkeypatch):
    made, adapter = [], records.TypeAdapter
    monkeypatch.setattr(records, "TypeAdapter", lambda record: made.append(record) or adapter(record))
    records._adapter.cache_clear()
    write_records(tmp_path / "rows.jsonl", [QUESTION] * 3)
    for _ in range(2):
        assert read_records(tmp_path / "rows.jsonl", Question) == [QUESTION] * 3
    assert made == [Question]
