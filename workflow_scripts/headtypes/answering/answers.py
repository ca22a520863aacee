"""What a model answers and how good that is, for each kind of task on which models can be evaluated."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from headtypes.answering.question_answering.answers import QuestionAnswers
from headtypes.answering.sentence_pair.answers import PairAnswers
from headtypes.base.table_files import write_parquet
from headtypes.models.records import ModelRecord
from headtypes.tasks.question_answering.kind import QuestionAnswering
from headtypes.tasks.sentence_pair.kind import SentencePair
from headtypes.tasks.windows import Windows


class Answers(Protocol):
    """A model's answers to the rows of a task.

    columns: names of the values that are read from the model's output for each window.
    """

    columns: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence, windows: Windows, record: ModelRecord, **settings: int) -> "Answers":
        """The answers of a fetched model to rows, given the windows that were built from them.

        settings: the kind's `answer_keys`.
        """

    def read(self, output, sentences: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Read the values from the model's output for a batch: an array [window] for each of `columns`.

        sentences: the sentence of each token, [token] for each window, numbered as in `windows.Windows`.
        """

    def score(self, values: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """The answers by id, and a table of scores with one row for each.

        values: those of all windows, in their order, one array [window] for each of `columns`.
        """

    @staticmethod
    def summary(scores: pd.DataFrame) -> dict[str, float | int]:
        """The metrics in percent, and the number of answers, from the table of scores."""


ANSWERS: dict[str, type[Answers]] = {
    QuestionAnswering.name: QuestionAnswers,
    SentencePair.name: PairAnswers,
}


def write_scores(path: str | Path, scores: pd.DataFrame, provenance: dict) -> None:
    """Write a table of scores with its provenance as a Parquet file with checksums."""
    scores.attrs["provenance"] = provenance
    write_parquet(path, scores)
