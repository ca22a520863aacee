"""What a model with a head reads of a task, and what it should answer: for evaluation, importance and fine-tuning.

One line for each kind of task that a model can be evaluated on.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from transformers import PreTrainedTokenizerBase

from headtypes.models.records import ModelRecord
from headtypes.tasks.kinds import KINDS
from headtypes.tasks.question_answering.examples import QuestionExamples
from headtypes.tasks.question_answering.kind import QuestionAnswering
from headtypes.tasks.sentence_pair.examples import PairExamples
from headtypes.tasks.sentence_pair.kind import SentencePair
from headtypes.tasks.windows import Windows


class Examples(Protocol):
    """How rows of a kind become what a model reads and what it should answer.

    target_names: the argument of the model's `forward` that takes each column of the targets.
    """

    target_names: tuple[str, ...]

    def windows(
        self, rows: Sequence, tokenizer: PreTrainedTokenizerBase, *, max_length: int, max_seq_length: int, **shape: int
    ) -> Windows:
        """The encoded rows.

        max_length:     tokens of the longest input that the model takes.
        max_seq_length: tokens of the longest window.
        shape:          the kind's `window_keys`.
        """

    def targets(self, rows: Sequence, windows: Windows, record: ModelRecord) -> np.ndarray:
        """The right class of each of the head's softmaxes, such as start and end token: [window, class] int.

        record: the model, which has learned the task. A row that is negative belongs to a window without an answer.
        """

    def learned(self, rows: Sequence, windows: Windows) -> tuple[np.ndarray, list[str] | None]:
        """The targets that a new model learns, none of them negative, and the labels' names where it has labels."""


EXAMPLES: dict[str, Examples] = {
    QuestionAnswering.name: QuestionExamples(),
    SentencePair.name: PairExamples(),
}


def prepare_windows(
    rows: Sequence, tokenizer: PreTrainedTokenizerBase, *, kind: str, max_length: int, max_seq_length: int, **shape: int
) -> Windows:
    """Encode a task's rows for a model with a head.

    rows, kind: of a kind of `EXAMPLES`.
    max_length, max_seq_length, shape: as in `Examples.windows`; what the kind has no use for is left out.
    """
    shape = {key: value for key, value in shape.items() if key in KINDS[kind].window_keys}
    return EXAMPLES[kind].windows(rows, tokenizer, max_length=max_length, max_seq_length=max_seq_length, **shape)
