"""Questions about contexts: read from SQuAD's forms, answered by spans, and scored as the official evaluator does."""

import copy
import json

import numpy as np
import pytest
from datasets import Dataset
from torchmetrics.functional.text import squad

from headtypes.core.errors import InputError
from headtypes.core.files import read_json
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.question_answering import (
    Question,
    QuestionAnswering,
    Spans,
    answer_questions,
    best_spans,
    build_windows,
    score_predictions,
)
from headtypes.data.windows import joined_windows
from tests.support.places import SHARED_DATA
from tests.support.records import question_of, read_squad
from tests.support.refusals import refusal
from tests.support.tiny import bert_tokenizer, roberta_tokenizer

DATA = SHARED_DATA / "squad"
OF_CAFES = "Café Ada opened in 1843. It stands in Narrow Street."
ASKED = [("a1", "When did it open?", ["1843", "in 1843"], [19, 16]), ("a2", "Where is it?", ["Narrow Street"], [38])]


def answers_of(texts, starts):
    return [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]


QAS = [{"id": name, "question": question, "answers": answers_of(*answers)} for name, question, *answers in ASKED]
SQUAD = {"version": "1.1", "data": [{"title": "Cafés", "paragraphs": [{"context": OF_CAFES, "qas": QAS}]}]}


def written(tmp_path, data):
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(data))
    return path


ROWS = [
    {"id": name, "title": "Cafés", "context": OF_CAFES, "question": question}
    | {"answers": {"text": texts, "answer_start": starts}}
    for name, question, texts, starts in ASKED
]


def fetched(file) -> list[Question]:
    return fetch_task("t", "question_answering", {"file": str(file)}, None)[0]


def test_questions_carry_article_context_and_all_answers_in_every_form(tmp_path):
    questions = [
        Question("a1", "Cafés", "When did it open?", OF_CAFES, ("1843", "in 1843"), (19, 16)),
        Question("a2", "Cafés", "Where is it?", OF_CAFES, ("Narrow Street",), (38,)),
    ]
    assert read_squad(written(tmp_path, SQUAD)) == questions
    rows = Dataset.from_list(ROWS)
    assert QuestionAnswering().rows_of_hub(rows, "rajpurkar/squad", "", None) == questions
    rows.to_parquet(tmp_path / "a.parquet")
    assert fetched(tmp_path / "a.parquet") == questions
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    assert "b.parquet cannot be read as parquet" in refusal(fetched, tmp_path / "b.parquet")


def test_rows_as_json_lines_are_read_and_those_without_a_title_are_of_one_article_for_each_context(tmp_path):
    (row, _), other = ROWS, {"context": f"{OF_CAFES} It is old."}
    untitled = {key: value for key, value in row.items() if key != "title"}
    rows = [untitled, {**untitled, "id": "r"}, {**untitled, "id": "s", **other}, {**row, "id": "t"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    articles = [question.article for question in fetched(tmp_path / "a.jsonl")]
    assert articles == ["context 1", "context 1", "context 2", "Cafés"]


def test_whole_numbers_are_ids_and_articles_without_titles_are_numbered(tmp_path):
    data = copy.deepcopy(SQUAD)
    del data["data"][0]["title"]
    data["data"][0]["paragraphs"][0]["qas"][0]["id"] = 7
    asked = [(question.id, question.article) for question in read_squad(written(tmp_path, data))]
    assert asked == [("7", "article 1"), ("a2", "article 1")]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], r"a2 has no answers.*v2"),
        (answers_of(["Narrow Street"], [39]), r"a2 is not in the context"),
        (answers_of(["Narrow Street"], [-14]), r"a2 is not in the context"),
        (answers_of(["Narrow Street"], ["38"]), r"answer_start of question a2 is '38'; it must be a whole number"),
        (answers_of(["Narrow Street"], [38.0]), r"answer_start of question a2 is 38\.0; it must be a whole number"),
        (answers_of(["Narrow Street"], [None]), r"answer_start of question a2 is None; it must be a whole number"),
    ],
)
def test_unusable_file_is_named_with_the_reason(tmp_path, answers, message):
    data = copy.deepcopy(SQUAD)
    data["data"][0]["paragraphs"][0]["qas"][1]["answers"] = answers
    path = written(tmp_path, data)
    with pytest.raises(InputError, match=message) as caught:
        read_squad(path)
    assert str(path) in str(caught.value)


def naive_span(start_logits, end_logits, mask, max_answer_length):
    context = np.flatnonzero(mask).tolist()
    pairs = [(start, end) for start in context for end in context if 0 <= end - start < max_answer_length]
    spans = [(float(start_logits[start]) + float(end_logits[end]), start, end) for start, end in pairs]
    return max(spans, key=lambda span: span[0], default=(-np.inf, -1, -1))


@pytest.mark.parametrize("max_answer_length", [1, 4, 30, 100])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("ties", [False, True])
def test_best_spans_equal_an_exhaustive_search(max_answer_length, dtype, ties):
    rng = np.random.default_rng(5)
    n_windows, n_tokens = 40, 37
    starts, ends = (rng.normal(size=(n_windows, n_tokens)) for _ in range(2))
    if ties:
        starts, ends = starts.round(), ends.round()
    starts, ends = starts.astype(dtype), ends.astype(dtype)
    mask = np.zeros((n_windows, n_tokens), bool)
    for window in range(n_windows):
        first = rng.integers(0, n_tokens)
        mask[window, first : first + rng.integers(0, n_tokens)] = True
    mask[7] = False
    # What stands outside of the context must not matter.
    starts[~mask], ends[~mask] = 1000, np.nan
    found = best_spans(starts, ends, mask, max_answer_length)
    naive = [naive_span(*arrays, max_answer_length) for arrays in zip(starts, ends, mask, strict=True)]
    assert list(zip(*(array.tolist() for array in found), strict=True)) == naive
    assert found.start[7] == found.end[7] == -1


def test_sums_in_double_precision_keep_apart_what_single_precision_makes_equal():
    starts = np.array([[2.0**24, 2.0**24]], np.float32)
    ends = np.array([[0.0, 1.0]], np.float32)
    found = best_spans(starts, ends, np.ones((1, 2), bool), 1)
    assert (found.start[0], found.end[0]) == (1, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_logits_that_are_not_finite_are_refused(value, which):
    logits = [np.zeros((2, 5), np.float32), np.zeros((2, 5), np.float32)]
    logits[which][1, 2] = value
    with pytest.raises(InputError, match="not finite"):
        best_spans(*logits, np.ones((2, 5), bool))


CONTEXT = "Ada met Bob at noon . Café Zoë 😀 shut then . Bob wrote the long notes at home ."
QUESTIONS = [question_of("q0", "Who met Bob ?", CONTEXT), question_of("q1", "What shut ?", CONTEXT)]
WORDS = sorted(set(CONTEXT.split()) | {"Who", "What", "?"})


@pytest.mark.parametrize("make", [bert_tokenizer, roberta_tokenizer])
def test_planted_answers_come_back(make):
    windows = build_windows(QUESTIONS, make(WORDS), max_seq_length=18, doc_stride=4)
    n_tokens = int(np.diff(windows.offsets).max())
    starts, ends = np.zeros((2, len(windows), n_tokens))
    mask = np.zeros((len(windows), n_tokens), bool)
    wanted = {"q0": "Bob wrote", "q1": "Zoë 😀"}
    for window, (first, last) in enumerate(zip(windows.offsets[:-1], windows.offsets[1:], strict=True)):
        name = windows.question_ids[windows.question[window]]
        begin = CONTEXT.index(wanted[name])
        mask[window, : last - first] = windows.sentence[first:last] > 0
        starts[window, : last - first] = 5 * (windows.char_start[first:last] == begin)
        ends[window, : last - first] = 5 * (windows.char_end[first:last] == begin + len(wanted[name]))
    assert answer_questions(QUESTIONS, windows, best_spans(starts, ends, mask)) == wanted


def three_windows():
    """Windows 0 and 1 are of the first question, window 2 of the second; every token is one letter."""
    texts = ["abcdef", "uvwxyz"]
    questions = [question_of(f"q{i}", "?", text) for i, text in enumerate(texts)]
    start = np.array([[-1, 0, 1, 2], [-1, 3, 4, 5], [-1, 0, 1, 2]])
    of_tokens = {"input_ids": 0 * start, "char_start": start, "char_end": np.where(start < 0, -1, start + 1)}
    return questions, joined_windows(questions, [0, 0, 1], **of_tokens, sentence=np.sign(start))


@pytest.mark.parametrize(
    ("scores", "answer"), [((3.0, 1.0), "ab"), ((1.0, 3.0), "ef"), ((2.0, 2.0), "ab"), ((-9.0, -8.0), "ef")]
)
def test_best_window_wins_and_the_first_on_a_tie_and_without_context_the_answer_is_empty(scores, answer):
    questions, windows = three_windows()
    spans = Spans(np.array([*scores, 0.0]), np.array([1, 2, 3]), np.array([2, 3, 3]))
    assert answer_questions(questions, windows, spans) == {"q0": answer, "q1": "w"}
    spans = Spans(np.array([*scores, -np.inf]), np.array([1, 2, -1]), np.array([2, 3, -1]))
    assert answer_questions(questions, windows, spans) == {"q0": answer, "q1": ""}
    with pytest.raises(InputError, match="Question q2 has no window; build windows"):
        answer_questions([*questions, question_of("q2", "?", "")], windows, spans)


def planted():
    rng = np.random.default_rng(3)
    content = ["cat,", "Cat", "sat", "U.S.", "é", "theatre", "24\u201310", "the\u2019s"]

    def text():
        return " ".join([rng.choice(content), *rng.choice([*content, "the", "a", "An", "-", "on"], rng.integers(0, 6))])

    answers = ([text() for _ in range(rng.integers(1, 4))] for _ in range(400))
    questions = [question_of(f"q{i}", "?", "", texts, article=f"t{i % 7}") for i, texts in enumerate(answers)]
    return questions, {question.id: text() for question in questions}


def test_scores_are_those_of_torchmetrics():
    questions, predictions = planted()
    scores = score_predictions(questions, predictions)
    assert list(scores.columns) == ["id", "article", "exact_match", "f1"]
    for row, question in zip(scores.itertuples(), questions, strict=True):
        assert (row.id, row.article) == (question.id, question.article)
        answers = {"text": [*question.answers], "answer_start": [*question.answer_starts]}
        predicted = {"id": question.id, "prediction_text": predictions[question.id]}
        expected = squad(predicted, {"id": question.id, "answers": answers})
        assert row.exact_match == expected["exact_match"].item()
        assert row.f1 == pytest.approx(expected["f1"].item())
    assert 0 < scores["exact_match"].mean() < scores["f1"].mean() < 100


def test_without_a_word_that_is_no_article_f1_is_zero():
    (row,) = score_predictions([question_of("q", "?", "", ["a"])], {"q": "the"}).itertuples()
    assert (row.exact_match, row.f1) == (100, 0)


@pytest.mark.real
@pytest.mark.skipif(not DATA.exists(), reason="no real data")
def test_official_scores_of_the_ensemble_on_dev():
    questions = read_squad(DATA / "dev-v1.1.json")
    predictions = read_json(DATA / "pred_bert_ensemble.json")
    scores = QuestionAnswering().mean_scores(score_predictions(questions, predictions))
    assert scores["n_questions"] == 10570
    assert scores["exact_match"] == pytest.approx(86.2062, abs=5e-5)
    assert scores["f1"] == pytest.approx(92.1956, abs=5e-5)
