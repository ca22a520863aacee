import copy
import json

import pytest
from datasets import Dataset

from headtypes.core.errors import InputError
from headtypes.data.kinds.question_answering import Question, questions_from_rows
from tests.support.records import read_squad

CONTEXT = "Café Ada opened in 1843. It stands in Narrow Street."


ASKED = [("a1", "When did it open?", ["1843", "in 1843"], [19, 16]), ("a2", "Where is it?", ["Narrow Street"], [38])]


def answers_of(texts, starts):
    return [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]


QAS = [{"id": name, "question": question, "answers": answers_of(*answers)} for name, question, *answers in ASKED]
SQUAD = {"version": "1.1", "data": [{"title": "Cafés", "paragraphs": [{"context": CONTEXT, "qas": QAS}]}]}


def written(tmp_path, data):
    path = tmp_path / "questions.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def test_questions_carry_article_context_and_all_answers(tmp_path):
    assert read_squad(written(tmp_path, SQUAD)) == [
        Question("a1", "Cafés", "When did it open?", CONTEXT, ("1843", "in 1843"), (19, 16)),
        Question("a2", "Cafés", "Where is it?", CONTEXT, ("Narrow Street",), (38,)),
    ]


def test_rows_of_a_dataset_give_the_same_questions(tmp_path):
    rows = [
        {"id": name, "title": "Cafés", "context": CONTEXT, "question": question}
        | {"answers": {"text": texts, "answer_start": starts}}
        for name, question, texts, starts in ASKED
    ]
    assert questions_from_rows(Dataset.from_list(rows), "rajpurkar/squad") == read_squad(written(tmp_path, SQUAD))


def broken(change):
    data = copy.deepcopy(SQUAD)
    change(data, data["data"][0]["paragraphs"][0]["qas"])
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (broken(lambda data, qas: qas[1].update(answers=[], is_impossible=True)), r"a2 has no answers.*v2"),
        (broken(lambda data, qas: qas[1]["answers"][0].update(answer_start=39)), r"a2 is not in the context"),
        (broken(lambda data, qas: qas[1]["answers"][0].update(answer_start=-14)), r"a2 is not in the context"),
    ],
)
def test_unusable_file_is_named_with_the_reason(tmp_path, data, message):
    path = written(tmp_path, data)
    with pytest.raises(InputError, match=message) as caught:
        read_squad(path)
    assert str(path) in str(caught.value)
