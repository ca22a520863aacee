"""Questions as examples: windows of question and context, and the position of the answer in each."""

from collections.abc import Sequence

import numpy as np
from transformers import PreTrainedTokenizerBase

from headtypes.data.kinds.question_answering.sliding import build_windows
from headtypes.data.records import Question
from headtypes.data.windows import Windows, check_same
from headtypes.models.records import ModelRecord


class QuestionExamples:
    """What a model reads of questions and should answer; implements `examples.Examples`."""

    target_names = ("start_positions", "end_positions")

    def windows(
        self,
        rows: Sequence[Question],
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_length: int,
        max_seq_length: int,
        doc_stride: int,
        max_query_length: int,
    ) -> Windows:
        """Sliding windows, as `sliding.build_windows` cuts them."""
        shape = {"max_seq_length": max_seq_length, "doc_stride": doc_stride, "max_query_length": max_query_length}
        return build_windows(rows, tokenizer, max_length=max_length, **shape)

    def targets(self, rows: Sequence[Question], windows: Windows, record: ModelRecord) -> np.ndarray:
        """First and last token of the first answer in every window: [window, 2], as `answer_positions` finds them."""
        return answer_positions(rows, windows)

    def learned(self, rows: Sequence[Question], windows: Windows) -> tuple[np.ndarray, None]:
        """The same, but the first token (`[CLS]`) where a window lacks the answer, as in run_squad; and no labels."""
        return answer_positions(rows, windows).clip(0), None


def answer_positions(questions: Sequence[Question], windows: Windows) -> np.ndarray:
    """First and last token of each question's first answer in every window: [window, 2] int64, within the window.

    questions: those that the windows were built from.
    Both are -1 if the window does not contain the whole answer.
    """
    check_same(questions, windows)
    begin = np.array([question.answer_starts[0] for question in questions])
    stop = begin + [len(question.answers[0]) for question in questions]
    positions = np.full((len(windows), 2), -1)
    for window, question in enumerate(windows.question):
        starts, ends = windows.char_start[windows.tokens(window)], windows.char_end[windows.tokens(window)]
        first = np.flatnonzero((starts >= 0) & (starts <= begin[question]) & (begin[question] < ends))
        last = np.flatnonzero((starts >= 0) & (starts < stop[question]) & (stop[question] <= ends))
        if len(first) and len(last):
            positions[window] = first[0], last[-1]
    return positions
