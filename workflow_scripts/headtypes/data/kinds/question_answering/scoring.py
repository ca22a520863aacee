"""Exact match and F1 of predicted answers, as the official SQuAD v1.1 evaluator defines them."""

import re
import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from headtypes.core.errors import InputError
from headtypes.data.records import Question

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Lower case, without ASCII punctuation and the articles a, an, the; single spaces."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Collection[str]) -> float:
    """100 where the normalised prediction equals a normalised answer, else 0.

    Rajpurkar et al. 2016, section 6.1.
    """
    predicted = normalize_answer(prediction)
    return 100.0 * any(normalize_answer(answer) == predicted for answer in answers)


def f1(prediction: str, answers: Collection[str]) -> float:
    """F1 of the words (as multisets) of the prediction and of an answer, 0..100; the largest over the answers.

    If they share no word it is 0, even if normalisation leaves no word in either, as in the evaluator of v1.1 and
    unlike that of v2. Rajpurkar et al. 2016, section 6.1.
    """
    predicted = normalize_answer(prediction).split()
    return 100.0 * max(_overlap(predicted, normalize_answer(answer).split()) for answer in answers)


def _overlap(predicted: list[str], answer: list[str]) -> float:
    common = (Counter(predicted) & Counter(answer)).total()
    return 2 * common / (len(predicted) + len(answer)) if common else 0.0


def score_predictions(questions: Sequence[Question], predictions: Mapping[str, str]) -> pd.DataFrame:
    """Score every question's predicted answer.

    predictions  question id -> answer text; those of other questions are ignored, as in the official evaluator.
    returns      id, article, exact_match (0 or 100), f1 (0..100), one row per question in their order.

    Raises `InputError` if a question has no prediction: the official evaluator counts such a question as wrong, which
    would hide that a run is incomplete.
    """
    missing = [question.id for question in questions if question.id not in predictions]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(questions)} questions have no prediction, the first is {missing[0]}; "
            "predictions and questions must come from the same data."
        )
    rows = []
    for question in questions:
        prediction, answers = predictions[question.id], dict.fromkeys(question.answers)
        rows.append((question.id, question.article, exact_match(prediction, answers), f1(prediction, answers)))
    return pd.DataFrame(rows, columns=["id", "article", "exact_match", "f1"])


def summary(scores: pd.DataFrame) -> dict[str, float | int]:
    """Mean exact match and F1 over the questions, in percent, and the number of questions."""
    return {
        "exact_match": float(scores["exact_match"].mean()),
        "f1": float(scores["f1"].mean()),
        "n_questions": len(scores),
    }
