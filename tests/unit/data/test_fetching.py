"""The data of a task: read as they are, refused where they are not what they should be, drawn by seed."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headtypes.core.files import sha256_file
from headtypes.data.encoding import sample_inputs, sample_questions
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.sentence_pair import Pair
from headtypes.data.tasks import Sample, read_rows, write_records
from tests.support.records import question_of
from tests.support.refusals import refusal

COLUMNS = {"first": "one", "second": "two"}
ROWS = [('He said "hi', "there"), ("a, b", "c"), ('"quoted"', "NA")]


def fetch(path, columns=None, kind="sentence_pair"):
    return fetch_task("pairs", kind, {"file": str(path)}, {**COLUMNS, **(columns or {})})


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def in_form(suffix: str):
    rows = [(*pair, index % 2, f"id{index}") for index, pair in enumerate(ROWS)]
    table = pd.DataFrame(rows, columns=["one", "two", "gold", "number"])
    match suffix:
        case ".tsv":
            return "\n".join("\t".join(map(str, row)) for row in [table.columns, *table.to_numpy()]) + "\n"
        case ".csv":
            return table.to_csv(index=False)
        case ".jsonl":
            return "".join(json.dumps(row) + "\n" for row in table.to_dict("records"))
        case ".parquet":
            return table


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet", ".TSV"])
def test_every_form_of_file_gives_the_same_rows(file, tmp_path, suffix):
    path = file(f"pairs{suffix}", in_form(suffix.lower()))
    rows, record = fetch(path, {"label": "gold", "id": "number"})
    assert [(row.first, row.second) for row in rows] == ROWS
    assert [row.id for row in rows] == ["id0", "id1", "id2"]
    assert [str(row.label) for row in rows] == ["0", "1", "0"]
    assert record == {"task": "pairs", "file": str(path), "sha256": sha256_file(path), "revision": None, "rows": 3}
    # Without an id the row is the id, and without a label there is none.
    rows, _ = fetch(path)
    assert [(row.id, row.label) for row in rows] == [("0", None), ("1", None), ("2", None)]
    write_records(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl", "sentence_pair") == rows


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_tables_of_a_spreadsheet_are_read_whatever_separates_their_columns(file, separator):
    text = f"\ufeffone{separator}two\r\nA cat, a dog{separator}It; sat.\r\n"
    if separator != "\t":
        text = text.replace("A cat, a dog", '"A cat, a dog"').replace("It; sat.", '"It; sat."')
    pairs, _ = fetch(file("a.csv", text))
    assert [(pair.first, pair.second) for pair in pairs] == [("A cat, a dog", "It; sat.")]


def test_pairs_that_nobody_could_decide_are_left_out_and_counted(file, capsys):
    labels = ["entailment", "-", "neutral", "-"]
    path = file("nli.tsv", "one\ttwo\tgold\n" + "".join(f"a\tb\t{label}\n" for label in labels))
    pairs, record = fetch(path, {"label": "gold", "labels": {"-": None}})
    assert [(pair.id, pair.label) for pair in pairs] == [("0", "entailment"), ("2", "neutral")]
    assert record["left_out"] == {"rows whose label is null in labels": 2}
    assert "2 rows whose label is null in labels left out, 2 rows read" in capsys.readouterr().out
    none = {"label": "gold", "labels": dict.fromkeys(labels)}
    assert f"tasks.pairs.labels: every row of {path} is left out; keep a label" in refusal(fetch, path, none)


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        ("x.tsv", "one\ttoo\na\tb\n", 'has no column two. Did you mean "too"? It has one, too.'),
        ("x.tsv", "one\ttwo\na\tb\nc\n", "row 2 has no text in one or two"),
        ("x.tsv", "one\ttwo\n", "has no rows"),
        ("x.csv", "one,two\na,b\nc,d,e\n", "cannot be read as csv"),
        ("x.tsv", "one\ttwo\nä\tb\n".encode("latin-1"), "line 2 is not UTF-8 text; save the file as UTF-8"),
    ],
)
def test_pairs_that_are_not_what_they_should_be_are_refused_in_one_sentence(file, name, content, fragment):
    path = file(name, content)
    message = refusal(fetch, path)
    assert fragment in message
    assert str(path) in message


@pytest.mark.parametrize(
    ("ids", "fragment"),
    [(["x", "y", "x"], "row 3 has the id 'x' of row 1; make"), (["x", "", "y"], "row 2 has '' in number")],
)
def test_ids_must_be_there_and_tell_rows_apart(file, ids, fragment):
    content = "one\ttwo\tnumber\n" + "".join(f"a\tb\t{id_}\n" for id_ in ids)
    assert fragment in refusal(fetch, file("x.tsv", content), {"id": "number"})


def test_whole_numbers_as_ids_and_labels_stay_whole_numbers(file):
    table = pd.DataFrame({"one": ["a", "b"], "two": ["c", "d"], "number": [3.0, 12.0], "gold": [True, False]})
    rows, _ = fetch(file("x.parquet", table), {"id": "number", "label": "gold"})
    assert [row.id for row in rows] == ["3", "12"]
    assert [row.label for row in rows] == [True, False]


QUESTIONS = [question_of(f"q{i}", f"Q{i}?", f"C{i}.", ["C"]) for i in range(50)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_a_drawing_has_no_row_twice_keeps_the_order_of_the_data_and_grows_without_changing(seed, wanted):
    def drawn(count):
        return [QUESTIONS.index(row) for row in sample_questions(QUESTIONS, questions=count, seed=seed)]

    found = drawn(wanted)
    assert len(found) == min(wanted, 50)
    assert found == sorted(set(found))
    assert set(found) <= set(drawn(wanted + 5))
    assert found == drawn(wanted)


def test_a_sample_is_question_and_context_or_two_sentences():
    (sample,) = sample_inputs(QUESTIONS[:1], kind="question_answering", samples=9, seed=0)
    assert sample == Sample("q0", "Q0?", "C0.")
    pair = [Pair("0", "a", "b", 1)]
    assert sample_inputs(pair, kind="sentence_pair", samples=9, seed=0) == [Sample("0", "a", "b")]
