"""Rows and samples as JSON Lines: written as they are, read back as they were, refused where they are damaged."""

import json

import pytest

from headtypes.core.errors import InputError
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


WHOLE = {"id": "q", "article": "a", "question": "w", "context": "c", "answers": ["c"], "answer_starts": [0]}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "q",', "it is not valid JSON"),
        (b'{"id": "\xff"}', "it is not UTF-8 text"),
        ("3", "it: "),
        (json.dumps({key: WHOLE[key] for key in WHOLE if key != "context"}), "context is missing"),
        (json.dumps({**WHOLE, "context": None}), "context: input should be a valid string"),
        (json.dumps({**WHOLE, "id": 3}), "id: input should be a valid string"),
        (json.dumps({**WHOLE, "answers": "c"}), "answers: input should be a valid array"),
        (json.dumps({**WHOLE, "answer_starts": ["0"]}), "answer_starts: input should be a valid integer"),
        (json.dumps({**WHOLE, "answer_starts": [True]}), "answer_starts: input should be a valid integer"),
        (json.dumps({**WHOLE, "mine": 1}), "mine: "),
    ],
)
def test_a_damaged_row_is_named_by_file_line_and_field(tmp_path, line, problem):
    path = tmp_path / "rows.jsonl"
    line = line if isinstance(line, bytes) else line.encode()
    path.write_bytes(json.dumps(WHOLE).encode() + b"\n\n" + line + b"\n")
    with pytest.raises(InputError) as caught:
        read_records(path, Question)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 3 is not a valid question: {problem}")
    assert message.endswith("; delete the file and run again.")
    assert len(message.splitlines()) == 1


def test_a_file_without_rows_is_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"rows.jsonl has no rows"):
        read_records(tmp_path / "rows.jsonl", Sample)


def test_a_reader_is_made_once_and_not_for_each_record(tmp_path, monkeypatch):
    made, adapter = [], records.TypeAdapter
    monkeypatch.setattr(records, "TypeAdapter", lambda record: made.append(record) or adapter(record))
    records._adapter.cache_clear()
    write_records(tmp_path / "rows.jsonl", [QUESTION] * 3)
    for _ in range(2):
        assert read_records(tmp_path / "rows.jsonl", Question) == [QUESTION] * 3
    assert made == [Question]
