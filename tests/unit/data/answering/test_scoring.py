import re
import string

import numpy as np
import pytest

from headtypes.core.files import read_json
from headtypes.data.kinds.question_answering.answers import score_predictions
from headtypes.data.kinds.question_answering.kind import QuestionAnswering
from tests.support.places import SHARED_DATA
from tests.support.records import question_of, read_squad

DATA = SHARED_DATA / "squad"


def naive_words(text):
    kept = "".join(" " if c.isspace() else c for c in text.lower() if c not in string.punctuation)
    # A quotation mark outside ASCII stays and ends a word, so an article before it goes.
    runs = re.findall(r"\w+|[^\w\s]+|\s+", kept)
    return "".join(" " if run in ("a", "an", "the") else run for run in runs).split()


def naive_f1(prediction, answer):
    left, right = naive_words(prediction), naive_words(answer)
    common = 0
    for word in list(left):
        if word in right:
            right.remove(word)
            common += 1
    if common == 0:
        return 0.0
    precision, recall = common / len(left), common / len(naive_words(answer))
    return 100 * 2 * precision * recall / (precision + recall)


def planted(n):
    rng = np.random.default_rng(3)
    words = [*["the", "a", "An", "cat,", "Cat", "sat", "U.S.", "é", "-", "on", "theatre"], "the\u2019s", "24\u201310"]

    def text():
        return " ".join(rng.choice(words, rng.integers(1, 7)))

    questions = [
        question_of(f"q{i}", "?", "", [text() for _ in range(rng.integers(1, 4))], article=f"t{i % 7}")
        for i in range(n)
    ]
    return questions, {question.id: text() for question in questions}


def test_scores_equal_a_naive_reference():
    questions, predictions = planted(400)
    scores = score_predictions(questions, predictions)
    assert list(scores.columns) == ["id", "article", "exact_match", "f1"]
    assert scores["id"].tolist() == [question.id for question in questions]
    assert scores["article"].tolist() == [question.article for question in questions]
    for row, question in zip(scores.itertuples(), questions, strict=True):
        prediction, answers = predictions[question.id], question.answers
        exact = any(naive_words(prediction) == naive_words(answer) for answer in answers)
        assert row.exact_match == 100 * exact
        assert row.f1 == pytest.approx(max(naive_f1(prediction, answer) for answer in answers))
    assert 0 < scores["exact_match"].mean() < scores["f1"].mean() < 100


@pytest.mark.real
@pytest.mark.skipif(not DATA.exists(), reason="no real data")
def test_official_scores_of_the_ensemble_on_dev():
    questions = read_squad(DATA / "dev-v1.1.json")
    predictions = read_json(DATA / "pred_bert_ensemble.json")
    scores = QuestionAnswering().mean_scores(score_predictions(questions, predictions))
    assert scores["n_questions"] == 10570
    assert scores["exact_match"] == pytest.approx(86.2062, abs=5e-5)
    assert scores["f1"] == pytest.approx(92.1956, abs=5e-5)
