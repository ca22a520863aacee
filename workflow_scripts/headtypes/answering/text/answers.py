"""What a language model's predictions cost: the cross entropy of each document of a text."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pandas as pd
from transformers import PreTrainedModel

from headtypes.answering.protocol import Answers
from headtypes.answering.text.predicted import PredictedTokens
from headtypes.base.errors import InputError
from headtypes.models.records import ModelRecord
from headtypes.tasks.records import Document
from headtypes.tasks.windows import Windows, check_same


class TextAnswers(Answers):
    """A model's loss on documents; `protocol.Answers` says what its methods do."""

    columns = ("loss", "tokens")

    def __init__(self, documents: Sequence[Document], windows: Windows):
        check_same(documents, windows)
        self._windows, self._predicted = windows, PredictedTokens(windows)

    @classmethod
    def of(cls, documents: Sequence[Document], windows: Windows, record: ModelRecord) -> "TextAnswers":
        """The loss of a fetched model."""
        return cls(documents, windows)

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

    def score(self, values: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """No answers, and a row for each document that has tokens to predict: id, loss and tokens, summed over it."""
        documents = len(self._windows.question_ids)
        loss, tokens = (np.bincount(self._windows.question, value, documents) for value in values)
        scores = pd.DataFrame({"id": self._windows.question_ids, "loss": loss, "tokens": tokens.astype(np.int64)})
        scores = scores[scores["tokens"] > 0].reset_index(drop=True)
        if scores.empty:
            raise InputError("No document has a token to predict; evaluate the model on more of them.")
        return {}, scores

    @staticmethod
    def summary(scores: pd.DataFrame) -> dict[str, float | int]:
        """The mean loss of a token in nats, the perplexity, and how many documents and tokens there are."""
        tokens = int(scores["tokens"].sum())
        loss = float(scores["loss"].sum() / tokens)
        return {"loss": loss, "perplexity": float(np.exp(loss)), "n_documents": len(scores), "n_tokens": tokens}
