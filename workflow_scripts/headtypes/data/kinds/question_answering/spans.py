"""From start and end logits to answers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headtypes.core.errors import InputError
from headtypes.data.records import Question
from headtypes.data.windows import Windows, check_same


class Spans(NamedTuple):
    """The best answer span of each window.

    score    float64 [window], start plus end logit; -inf where the window has no context
    start    int64 [window], first token of the span, counted within the window; -1 without a context
    end      int64 [window], last token of the span, inclusive; -1 without a context
    """

    score: np.ndarray
    start: np.ndarray
    end: np.ndarray


def best_spans(
    start_logits: np.ndarray, end_logits: np.ndarray, context_mask: np.ndarray, max_answer_length: int = 30
) -> Spans:
    """Find the span of context tokens with the largest sum of start and end logit in each window.

    start_logits, end_logits  float [window, token], any precision; padding may hold anything.
    context_mask              bool [window, token], true on the context, which is one stretch of tokens.
    max_answer_length         tokens of the longest span.

    Of equal spans, the one that starts first is taken, then the one that ends first. Sums are computed in double
    precision, so that rounding creates no ties. Raises `InputError` if a logit of the context is not finite.
    """
    if not all(np.isfinite(logits[context_mask]).all() for logits in (start_logits, end_logits)):
        raise InputError(
            "The model's logits are not finite, so no answer can be chosen; run it in float32 or bfloat16, "
            "or check its weights."
        )
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
    """Choose each question's answer: the best span over all its windows, cut from the context.

    questions  those that the windows were built from, in the same order.
    spans      of all windows, in their order.
    returns    question id -> text, in the order of the questions.

    Of equally good windows, the first is taken. (The original run_squad considers a start only in the window in which
    the token has most context, and only the twenty best starts and ends; here every span is considered.)
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
