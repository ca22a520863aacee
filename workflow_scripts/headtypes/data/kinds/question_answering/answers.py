"""A model's answer to a question: the best span in any of the question's windows."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from headtypes.data.answering.protocol import Answers
from headtypes.data.kinds.question_answering.scoring import score_predictions, summary
from headtypes.data.kinds.question_answering.spans import Spans, answer_questions, best_spans
from headtypes.data.records import Question
from headtypes.data.windows import Windows
from headtypes.models.records import ModelRecord


class QuestionAnswers(Answers):
    """A model's answers to questions; `protocol.Answers` says what its methods do."""

    columns = Spans._fields

    def __init__(self, questions: Sequence[Question], windows: Windows, max_answer_length: int):
        """max_answer_length: tokens of the longest answer."""
        self._questions, self._windows, self._max_answer_length = questions, windows, max_answer_length

    @classmethod
    def of(
        cls, questions: Sequence[Question], windows: Windows, record: ModelRecord, *, max_answer_length: int
    ) -> "QuestionAnswers":
        """The answers of a fetched model."""
        return cls(questions, windows, max_answer_length)

    def read(self, output, sentences: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The fields of `Spans` of a batch of windows."""
        context = np.zeros(output.start_logits.shape, dtype=bool)
        for row, sentence in enumerate(sentences):
            context[row, : len(sentence)] = sentence > 0
        start, end = (logits.float().cpu().numpy() for logits in (output.start_logits, output.end_logits))
        return best_spans(start, end, context, self._max_answer_length)

    def score(self, values: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """The answers, and the scores of `scoring.score_predictions`, from the spans of all windows."""
        answers = answer_questions(self._questions, self._windows, Spans(*values))
        return answers, score_predictions(self._questions, answers)

    @staticmethod
    def summary(scores: pd.DataFrame) -> dict[str, float | int]:
        """Mean exact match and F1 (`scoring.summary`)."""
        return summary(scores)
