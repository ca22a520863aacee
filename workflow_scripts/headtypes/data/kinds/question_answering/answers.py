"""From start and end logits to answers, and their scores as the official SQuAD v1.1 evaluator defines them."""

import re
import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from headtypes.data.kinds.question_answering.squad import Question
from headtypes.data.windows import Windows, check_finite, check_same

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


class Spans(NamedTuple):
    """The best answer span of each window: start plus end logit, and first and last token, counted within the window.

    score float64, start and end int64, each [window]; -inf and -1 where the window has no context.
    """

    score: np.ndarray
    start: np.ndarray
    end: np.ndarray


def best_spans(
    start_logits: np.ndarray, end_logits: np.ndarray, context_mask: np.ndarray, max_answer_length: int = 30
) -> Spans:
    """The span of context tokens with the largest sum of start and end logit in each window.

    start_logits, end_logits: float [window, token], any precision; padding may hold anything.
    context_mask: bool [window, token], true on the context, which is one stretch; max_answer_length: tokens of a span.

    Of equal spans, the one that starts first is taken, then the one that ends first; sums are in double precision, so
    that rounding creates no ties. Raises `InputError` if a logit of the context is not finite.
    """
    for logits in (start_logits, end_logits):
        check_finite(logits[context_mask], "logits are")
    starts = np.where(context_mask, start_logits.astype(np.float64), -np.inf)
    ends = np.where(context_mask, end_logits.astype(np.float64), -np.inf)
    n_windows, n_tokens = starts.shape
    score = np.full((n_windows, n_tokens), -np.inf)
    further = np.zeros((n_windows, n_tokens), np.int64)
    for distance in range(min(max_answer_length, n_tokens)):
        fits = n_tokens - distance
        total = starts[:, :fits] + ends[:, distance:]
        better = total > score[:, :fits]
        score[:, :fits][better] = total[better]
        further[:, :fits][better] = distance
    start = score.argmax(axis=1)
    window = np.arange(n_windows)
    has_context = context_mask.any(axis=1)
    return Spans(
        score[window, start],
        np.where(has_context, start, -1),
        np.where(has_context, start + further[window, start], -1),
    )


def answer_questions(questions: Sequence[Question], windows: Windows, spans: Spans) -> dict[str, str]:
    """Each question's answer: the best span over all its windows, the first of equal ones, cut from the context.

    questions: those that the windows were built from; spans: of all windows, in their order; returns text by id.

    The original run_squad considers a start only in the window in which the token has most context, and only the twenty
    best starts and ends; here every span is considered.
    """
    check_same(questions, windows)
    best = np.full(len(questions), -np.inf)
    answers = {question.id: "" for question in questions}
    for window, (score, start, end) in enumerate(zip(*spans, strict=True)):
        index = windows.question[window]
        if score > best[index]:
            best[index] = score
            first = windows.offsets[window]
            begin, stop = windows.char_start[first + start], windows.char_end[first + end]
            answers[questions[index].id] = questions[index].context[begin:stop]
    return answers


def normalize_answer(text: str) -> str:
    """Lower case, without ASCII punctuation and the articles a, an, the; single spaces."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Collection[str]) -> float:
    """100 where the normalised prediction equals a normalised answer, else 0. Rajpurkar et al. 2016, section 6.1."""
    predicted = normalize_answer(prediction)
    return 100.0 * any(normalize_answer(answer) == predicted for answer in answers)


def f1(prediction: str, answers: Collection[str]) -> float:
    """F1 of the words (as multisets) of the prediction and of an answer, 0..100; the largest over the answers.

    Without a shared word it is 0, even if normalisation leaves none in either, as in the evaluator of v1.1 and unlike
    that of v2. Rajpurkar et al. 2016, section 6.1.
    """
    predicted = normalize_answer(prediction).split()
    return 100.0 * max(_overlap(predicted, normalize_answer(answer).split()) for answer in answers)


def _overlap(predicted: list[str], answer: list[str]) -> float:
    common = (Counter(predicted) & Counter(answer)).total()
    return 2 * common / (len(predicted) + len(answer)) if common else 0.0


def score_predictions(questions: Sequence[Question], predictions: Mapping[str, str]) -> pd.DataFrame:
    """Scores of every question's answer: id, article, exact_match (0 or 100), f1 (0..100), in their order.

    predictions: answer text by question id; those of other questions are ignored, as in the official evaluator. A
    missing one, which that evaluator counts as wrong, is a `KeyError`, so that an incomplete run shows.
    """
    rows = []
    for question in questions:
        prediction, answers = predictions[question.id], dict.fromkeys(question.answers)
        rows.append((question.id, question.article, exact_match(prediction, answers), f1(prediction, answers)))
    return pd.DataFrame(rows, columns=["id", "article", "exact_match", "f1"])
