"""What a language model's predictions cost: the cross entropy of each document of a text."""

import numpy as np
import pandas as pd

from headtypes.core.errors import InputError
from headtypes.data.answering.predicted_answers import PredictedAnswers


class TextAnswers(PredictedAnswers):
    """A model's loss on documents; `protocol.Answers` says what its methods do."""

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
