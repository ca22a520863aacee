"""Questions with choices: read from every form that benchmarks have them in, refused where they are none."""

import json

import numpy as np
import pandas as pd
import pytest

from headtypes.data.encoding import encode_samples
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.multiple_choice import ChoiceQuestion
from headtypes.data.kinds.registry import KINDS, read_rows
from headtypes.data.records import Sample, write_records
from headtypes.data.sampling import sample_inputs, sample_questions
from tests.support.refusals import refusal
from tests.support.tiny import gpt2_tokenizer

COLUMNS = {"question": "question", "choices": "choices", "answer": "answer"}
ROWS = [
    {"question": "The cat sat by the ", "choices": ["river", " house "], "answer": 1},
    {"question": "It ran. A dog", "choices": ["sat", "was", "saw it"], "answer": 2},
]
READ = [
    ChoiceQuestion("0", "The cat sat by the", ("river", "house"), 1),
    ChoiceQuestion("1", "It ran. A dog", ("sat", "was", "saw it"), 2),
]


def fetched(folder, rows=ROWS, columns=COLUMNS):
    path = folder / "asked.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return fetch_task("t", "multiple_choice", {"file": str(path)}, columns)[0]


def test_rows_are_read_written_drawn_and_encoded(tmp_path):
    rows = fetched(tmp_path)
    assert rows == READ
    write_records(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl", "multiple_choice") == rows
    assert sample_questions(rows, questions=1, seed=0)[0] in rows
    samples = sample_inputs(rows, kind="multiple_choice", samples=2, seed=0)
    assert samples == [Sample("0", "The cat sat by the house", None), Sample("1", "It ran. A dog saw it", None)]
    tokenizer = gpt2_tokenizer(["The", "cat"])
    encoded = encode_samples(samples, tokenizer, "multiple_choice", 64)
    assert tokenizer.decode(encoded.input_ids[0]) == "The cat sat by the house"


def test_columns_have_the_names_that_the_configuration_gives(tmp_path):
    rows = [{"ctx": "It ran to the", "endings": ["river", "cat"], "label": "1", "ind": number} for number in (24, 7)]
    columns = {"question": "ctx", "choices": "endings", "answer": "label", "id": "ind"}
    assert [(row.id, row.answer) for row in fetched(tmp_path, rows, columns)] == [("24", 1), ("7", 1)]
    assert "has no column contexts. Did you mean" not in refusal(
        fetched, tmp_path, rows, {**columns, "question": "contexts"}
    )
    assert 'Did you mean "endings"? It has ctx, endings' in refusal(
        fetched, tmp_path, rows, {**columns, "choices": "ending"}
    )


def test_choices_with_names_and_data_of_the_hub_are_read(tmp_path):
    """As ARC has them: a text and a name for each choice, of which the answer is one."""
    choices = {"text": ["river", "house"], "label": ["A", "B"]}
    (row,) = fetched(tmp_path, [{"question": "It sat by the", "choices": choices, "answer": "B"}])
    assert (row.choices, row.answer) == (("river", "house"), 1)

    class Rows:
        def to_pandas(self):
            as_arrays = [np.array(it["choices"], object) for it in ROWS]
            return pd.DataFrame(ROWS).assign(choices=as_arrays, answer=np.array([1, 2]))

    assert KINDS["multiple_choice"].rows_of_hub(Rows(), "some/data", "tasks.t.columns", COLUMNS) == READ


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"choices": ["one"]}, "row 2 needs a list of at least two texts"),
        ({"answer": 3}, "row 2 has the answer 3; it must be one of 0, 1, 2."),
        (
            {"choices": {"text": ["a", "b"], "label": ["A", "A"]}, "answer": "A"},
            "row 2 needs a name of its own for each",
        ),
        ({"answer": True}, "row 2 has the answer True"),
    ],
)
def test_what_is_no_question_with_choices_is_told_with_its_row(tmp_path, change, words):
    rows = [{**ROWS[0], "id": "a"}, {**ROWS[1], "id": "b", **change}]
    assert words in refusal(fetched, tmp_path, rows, {**COLUMNS, "id": "id"})
