"""What a model reads and what it should answer, for each kind of task on which models can be evaluated.

Used by evaluation, importance and fine-tuning.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from transformers import PreTrainedTokenizerBase

from headtypes.data.kinds.multiple_choice.examples import ChoiceExamples
from headtypes.data.kinds.multiple_choice.kind import MultipleChoice
from headtypes.data.kinds.protocol import LANGUAGE_MODEL
from headtypes.data.kinds.question_answering.examples import QuestionExamples
from headtypes.data.kinds.question_answering.kind import QuestionAnswering
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.sentence_pair.examples import PairExamples
from headtypes.data.kinds.sentence_pair.kind import SentencePair
from headtypes.data.kinds.text.examples import TextExamples
from headtypes.data.kinds.text.kind import Text
from headtypes.data.windows import Windows
from headtypes.models.records import ModelRecord


class Examples(Protocol):
    """Turns rows of a kind into what a model reads and what it should answer.

    target_names: arguments of the model's `forward` that take the columns of the targets.
    """

    target_names: tuple[str, ...]

    def windows(
        self, rows: Sequence, tokenizer: PreTrainedTokenizerBase, *, max_length: int, max_seq_length: int, **shape: int
    ) -> Windows:
        """The encoded rows.

        max_length:     tokens of the longest input that the model takes.
        max_seq_length: tokens of the longest window.
        shape:          the kind's `window_keys`; of what a language model answers, its record and a seed.
        """

    def targets(self, rows: Sequence, windows: Windows, record: ModelRecord) -> np.ndarray:
        """The correct class of each of the head's softmaxes, such as start and end token: [window, softmax] int.

        record: the model, which answers the task. Rows of windows without an answer are negative. Of a text, the number
            of tokens to predict, which are in the windows.
        """

    def learned(self, rows: Sequence, windows: Windows) -> tuple[np.ndarray, list[str] | None]:
        """The targets from which a new model learns, none of them negative, and the names of its labels, if any."""


EXAMPLES: dict[str, Examples] = {
    QuestionAnswering.name: QuestionExamples(),
    SentencePair.name: PairExamples(),
    MultipleChoice.name: ChoiceExamples(),
    Text.name: TextExamples(),
}


def prepare_windows(
    rows: Sequence,
    tokenizer: PreTrainedTokenizerBase,
    *,
    kind: str,
    max_length: int,
    max_seq_length: int,
    record: ModelRecord | None = None,
    seed: int | None = None,
    **shape: int,
) -> Windows:
    """Encode a task's rows for a model with a head.

    rows, kind: of a kind of `EXAMPLES`.
    max_length, max_seq_length, shape: as in `Examples.windows`; keys that the kind does not have are ignored.
    record, seed: the model, and the seed of the words that are hidden, for a kind that language models answer.
    """
    shape = {key: value for key, value in shape.items() if key in KINDS[kind].window_keys}
    if KINDS[kind].head == LANGUAGE_MODEL:
        shape |= {"record": record, "seed": seed}
    return EXAMPLES[kind].windows(rows, tokenizer, max_length=max_length, max_seq_length=max_seq_length, **shape)
