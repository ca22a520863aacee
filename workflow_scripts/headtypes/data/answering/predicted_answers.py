"""What a language model's predictions cost, whatever is made of that."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from transformers import PreTrainedModel

from headtypes.core.errors import InputError
from headtypes.data.answering.predicted import PredictedTokens
from headtypes.data.answering.protocol import Answers
from headtypes.data.windows import Windows, check_same
from headtypes.models.records import ModelRecord


class PredictedAnswers(Answers):
    """The losses of a model on the tokens that it is to predict; `protocol.Answers` says what its methods do."""

    columns = ("loss", "tokens")

    def __init__(self, rows: Sequence, windows: Windows):
        """windows: with targets."""
        check_same(rows, windows)
        self._rows, self._windows, self._predicted = rows, windows, PredictedTokens(windows)

    @classmethod
    def of(cls, rows: Sequence, windows: Windows, record: ModelRecord) -> "PredictedAnswers":
        """The losses of a fetched model."""
        return cls(rows, windows)

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """As many as there is memory for the logits of."""
        return self._predicted.batch_tokens(batch_tokens, vocabulary)

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Compute the logits that are needed, and no others."""
        with self._predicted.attached(model):
            yield

    def start(self, windows: np.ndarray) -> None:
        """Remember which windows the batch has."""
        self._batch = windows
        self._predicted.start(windows)

    def read(self, output, sentences: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The summed cross entropy of the predicted tokens of each window, in nats, and how many these are."""
        losses = self._predicted.loss_sums(output).cpu().numpy()
        if not np.isfinite(losses).all():
            raise InputError("The model's loss is not finite; run it in float32 or bfloat16, or check its weights.")
        return losses, self._predicted.tokens[self._batch]
