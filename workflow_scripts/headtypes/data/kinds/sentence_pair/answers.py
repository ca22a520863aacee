"""A model's answer to a sentence pair: the label with the largest logit."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from headtypes.core.errors import InputError
from headtypes.data.answering.protocol import Answers
from headtypes.data.kinds.sentence_pair.examples import label_numbers, labels_of
from headtypes.data.kinds.sentence_pair.scoring import score_pairs, summary
from headtypes.data.records import Pair
from headtypes.data.windows import Windows, check_same
from headtypes.models.records import ModelRecord


class PairAnswers(Answers):
    """A model's answers to sentence pairs; `protocol.Answers` says what its methods do."""

    columns = ("label",)

    def __init__(self, pairs: Sequence[Pair], windows: Windows, names: Sequence[str], where: str):
        """names, where: the model's labels, and the model for messages, as in `label_numbers`."""
        check_same(pairs, windows)
        self._ids, self._names = windows.question_ids, names
        self._label = label_numbers(pairs, names, where)

    @classmethod
    def of(cls, pairs: Sequence[Pair], windows: Windows, record: ModelRecord) -> "PairAnswers":
        """The answers of a fetched model."""
        return cls(pairs, windows, labels_of(record), f"models.{record.name}")

    def read(self, output, sentences: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The predicted label of a batch of pairs, by its place among the model's."""
        logits = output.logits.float().cpu().numpy()
        if not np.isfinite(logits).all():
            raise InputError(
                "The model's logits are not finite, so no label can be chosen; run it in float32 or bfloat16, or "
                "check its weights."
            )
        return (logits.argmax(1),)

    def score(self, values: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """The predicted labels, and the scores of `scoring.score_pairs`, from the labels read for all pairs."""
        scores = score_pairs(self._ids, self._label, values[0], self._names)
        return dict(zip(self._ids, scores["predicted"], strict=True)), scores

    @staticmethod
    def summary(scores: pd.DataFrame) -> dict[str, float | int]:
        """Accuracy and F1 (`scoring.summary`)."""
        return summary(scores)
