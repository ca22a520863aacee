"""The protocol of what a model answers, for each kind of task; `answers.ANSWERS` is the registry."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np
import pandas as pd
from transformers import PreTrainedModel

from headtypes.data.windows import Windows
from headtypes.models.records import ModelRecord


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

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """At most so many padded tokens of a batch; vocabulary: how many tokens the model knows."""
        return batch_tokens

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Prepare a model for runs on batches, each of which `start` announces."""
        yield

    def start(self, windows: np.ndarray) -> None:
        """Prepare for the run of a batch; windows: [window] which of all windows it has."""

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
        """The metrics (percent; of a loss, nats per token), and the number of answers, from the table of scores."""
