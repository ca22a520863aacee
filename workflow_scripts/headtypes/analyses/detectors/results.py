"""Tests of which heads are of a kind: they attend more to a detector's tokens than under its null."""

import pandas as pd

from headtypes.core.statistics import ALPHA, holm, mean_intervals, sign_tests
from headtypes.core.table_files import table_reader

# Those of the workflow; there may be further ones, of a user's own.
DETECTORS = ("previous", "next", "first", "duplicate", "induction")
COLUMNS = {
    "detector": str,
    **dict.fromkeys(("layer", "head"), int),
    **dict.fromkeys(("score", "null", "difference", "low", "high"), float),
    **dict.fromkeys(("above", "sequences"), int),
    **dict.fromkeys(("p", "corrected_p"), float),
    "detected": bool,
}


def detector_table(scores: pd.DataFrame, *, least: float) -> pd.DataFrame:
    """Return the score of every head by each detector, and whether the detector detects the head.

    scores: a row for each detector, sequence, layer and head, with score and null, shares of attention. least: the
        share by which the score of a detected head exceeds the null.

    The table has a row for each detector, layer and head (from 0), with the columns detector, layer, head; score, null
    and difference, means over sequences; low and high, the interval of difference; above, on how many sequences the
    difference is above `least`; sequences, their number; p, the p-value of the hypothesis that it is above on at most
    half of all sequences (sign test); corrected_p, corrected for the number of heads and detectors of the model (Holm
    1979); and detected, whether corrected_p is below 0.05. If the hypothesis is true of every head and detector of a
    model, the probability that any head is detected is at most 0.05.
    """
    floats = scores.astype({"score": float, "null": float})
    score, null = (floats.pivot_table(name, ["detector", "layer", "head"], "sequence") for name in ("score", "null"))
    difference = (score - null).to_numpy()
    low, high = mean_intervals(difference, reach=(-1, 1))
    above, sequences = (difference > least).sum(1), difference.shape[1]
    p = sign_tests(above, sequences)
    corrected = holm(p)
    columns = {
        "score": score.mean(axis=1).to_numpy(),
        "null": null.mean(axis=1).to_numpy(),
        "difference": difference.mean(1),
        "low": low,
        "high": high,
        "above": above,
        "sequences": sequences,
        "p": p,
        "corrected_p": corrected,
        "detected": corrected < ALPHA,
    }
    table = pd.DataFrame(columns, score.index).reset_index().astype(COLUMNS)
    known = list(dict.fromkeys([*DETECTORS, *table["detector"]]))
    return table.sort_values("detector", key=lambda names: names.map(known.index), kind="stable")


read_detector_table = table_reader("holds no heads by detector", COLUMNS)
