"""Accuracy and F1 of predicted labels of sentence pairs, as GLUE scores them (Wang et al. 2019)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def score_pairs(ids: Sequence[str], label: np.ndarray, predicted: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
    """Score the predicted label of every pair.

    label, predicted: [pair] int, places in `names`, the model's labels in their order.
    returns  id, label and predicted (categories, so that even a table of few pairs has all labels), and correct
        (0 or 100), one row per pair.
    """
    return pd.DataFrame(
        {
            "id": list(ids),
            "label": pd.Categorical.from_codes(label, list(names)),
            "predicted": pd.Categorical.from_codes(predicted, list(names)),
            "correct": 100.0 * (label == predicted),
        }
    )


def summary(scores: pd.DataFrame) -> dict[str, float | int]:
    """Accuracy in percent and the number of pairs; between the two, F1 if there are two labels.

    F1 is that of the second label, in percent, as in GLUE for MRPC; 0 if no pair has it and it is never predicted.
    """
    accuracy = {"accuracy": float(scores["correct"].mean())}
    labels = scores["label"].cat.categories
    if len(labels) == 2:
        label, predicted = (scores[column] == labels[1] for column in ("label", "predicted"))
        either = int(label.sum() + predicted.sum())
        accuracy["f1"] = 200.0 * int((label & predicted).sum()) / either if either else 0.0
    return {**accuracy, "n_pairs": len(scores)}
