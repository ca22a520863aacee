import numpy as np
import pytest
from torchmetrics.functional.text import squad

from headtypes.core.files import read_json
from headtypes.data.kinds.question_answering import QuestionAnswering, score_predictions
from tests.support.places import SHARED_DATA
from tests.support.records import question_of, read_squad

DATA = SHARED_DATA / "squad"


def planted(n):
    rng = np.random.default_rng(3)
    content = ["cat,", "Cat", "sat", "U.S.", "é", "theatre", "24\u201310", "the\u2019s"]

    def text():
        return " ".join([rng.choice(content), *rng.choice([*content, "the", "a", "An", "-", "on"], rng.integers(0, 6))])

    questions = [
        question_of(f"q{i}", "?", "", [text() for _ in range(rng.integers(1, 4))], article=f"t{i % 7}")
        for i in range(n)
    ]
    return questions, {question.id: text() for question in questions}


def test_scores_are_those_of_torchmetrics():
    questions, predictions = planted(400)
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
    """As in the evaluator of SQuAD v1.1, and not in that of v2."""
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
