"""What a model answers to a task and how good that is, and the scores on disk.

One line for each kind of task that a model can be evaluated on.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from headtypes.base.tables import write_parquet
from headtypes.models.records import ModelRecord
from headtypes.tasks.question_answering.answers import QuestionAnswers
from headtypes.tasks.question_answering.kind import QuestionAnswering
from headtypes.tasks.sentence_pair.answers import PairAnswers
from headtypes.tasks.sentence_pair.kind import SentencePair
from headtypes.tasks.windows import Windows


class Answers(Protocol):
    """A model's answers to the rows of a task.

    columns: names of what is read of every window.
    """

    columns: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence, windows: Windows, record: ModelRecord, **settings: int) -> "Answers":
        """Those of a fetched model to rows, and to the windows that were built of them.

        settings: the kind's `answer_keys`.
        """

    def read(self, output, sentences: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """What counts of a model's output for a batch: an array [window] for each of `columns`.

        sentences: the sentence of each token of each window, as `windows.Windows` has them.
        """

    def score(self, found: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """The answers by id, and one row of scores for each, from what was read of all windows in their order."""

    @staticmethod
    def summary(scores: pd.DataFrame) -> dict[str, float | int]:
        """The metrics in percent, and the number of answers, from the scores of each."""


ANSWERS: dict[str, type[Answers]] = {
    QuestionAnswering.name: QuestionAnswers,
    SentencePair.name: PairAnswers,
}


def write_scores(path: str | Path, scores: pd.DataFrame, provenance: dict) -> None:
    """Write the scores of each answer, and what made them, as a whole Parquet file with checksums."""
    scores.attrs["provenance"] = provenance
    write_parquet(path, scores)
