"""Since which checkpoint of a training each head is of a kind, and how surely."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from scipy.stats import binom

from headtypes.analyses.detectors.results import read_detector_scores, read_detector_table
from headtypes.comparisons.development.trace import Files
from headtypes.core.statistics import ALPHA

_TEST = ["detector", "layer", "head"]
COLUMNS = (*_TEST, "onset", "low", "high", "said")


def read_onsets(steps: Mapping[str, int], tables: Files, scores: Files, *, least: float) -> pd.DataFrame:
    """What `find_onsets` returns, from files; without rows where no detectors were measured at all steps.

    steps: of each checkpoint, by its name; tables, scores: by model and task. Raises `InputError` that names a damaged
    file.
    """
    if not tables:
        return pd.DataFrame(columns=list(COLUMNS))
    read = {steps[model]: read_detector_scores(path) for (model, _), path in scores.items()}
    found = {steps[model]: read_detector_table(path) for (model, _), path in tables.items()}
    return find_onsets(read, found, least=least)


def find_onsets(
    scores: Mapping[int, pd.DataFrame], tables: Mapping[int, pd.DataFrame], *, least: float
) -> pd.DataFrame:
    """The kept step from which on each head is of the kind that each detector looks for.

    scores: by step, as `detectors.measure.measure_detectors` returns them; tables: those of
        `detectors.results.detector_table` of them. least: as there.

    returns one row for each detector, layer and head (from 0), the columns
      onset: the first step from which on the head is detected at every later one; none where it is not at the last.
      low, high: a head is of a kind at a step if it exceeds the null by more than `least` on over half of all
        sequences. The first step from which on it is of the kind at every later one is not before `low`, and not after
        `high`: of all heads and detectors together, with a probability of 95 % at least. A `low` that is the first step
        excludes nothing. There is no `high` where the head may not be of the kind at the last step, and no `low` where
        it is not.
      said: this in words.
    """
    steps = sorted(scores)
    differences = [_differences(scores[step]) for step in steps]
    tests = pd.concat(differences, axis=1, join="inner").index
    above = np.stack([(it.loc[tests] > least).sum(axis=1).to_numpy() for it in differences], axis=1)
    detected = np.stack([tables[step].set_index(_TEST)["detected"].loc[tests].to_numpy() for step in steps], axis=1)
    onset = _from_then_on(detected)
    low, high = interval_ends(above, differences[0].shape[1])
    known = pd.array([*steps, pd.NA], dtype="Int64")
    columns = {"onset": known[onset], "low": known[low], "high": known[high]}
    said = [_said(steps, *ends) for ends in zip(low, high, strict=True)]
    table = pd.DataFrame(columns, tests).assign(said=said).reset_index()
    order = {name: number for number, name in enumerate(dict.fromkeys(tables[steps[0]]["detector"]))}
    table = table.sort_values(_TEST, key=lambda it: it.map(order) if it.name == "detector" else it, ignore_index=True)
    return table[list(COLUMNS)]


def interval_ends(
    above: Int[np.ndarray, "test step"], sequences: int
) -> tuple[Int[np.ndarray, " test"], Int[np.ndarray, " test"]]:
    """The ends `low` and `high` of `find_onsets`, as indices of steps; their number where there is none.

    above: on how many of the sequences each head exceeds the null of a detector by more than the least.

    Both ends are sign tests (as `detectors.results.sign_test`), each at half of the 5 %. `high` claims that the head is
    of the kind at all steps from there on. That is wrong only if the test errs at one certain step, the last at which
    the head is not of the kind; so it is corrected for the number of heads and detectors, and need not be for that of
    steps. `low` claims that the head is not of the kind at some step before, and each of them may err: it is corrected
    for that number too.
    """
    surely, surely_not = binom.sf(above - 1, sequences, 0.5), binom.cdf(above, sequences, 0.5)
    tests, steps = above.shape
    return _from_then_on(surely_not * tests * steps > ALPHA / 2), _from_then_on(surely * tests <= ALPHA / 2)


def _differences(scores: pd.DataFrame) -> pd.DataFrame:
    """By how much each head exceeds the null of each detector: a row for each, a column for each sequence."""
    floats = scores.astype({"score": float, "null": float}).assign(difference=lambda it: it["score"] - it["null"])
    return floats.pivot_table("difference", _TEST, "sequence")


def _from_then_on(holds: Bool[np.ndarray, "test step"]) -> Int[np.ndarray, " test"]:
    """The first step from which on something holds; the number of steps where it does not at the last."""
    later = np.logical_and.accumulate(holds[:, ::-1], axis=1)
    return holds.shape[1] - later.sum(axis=1)


def _said(steps: list[int], low: int, high: int) -> str:
    """The interval of an onset in words; low, high: indices of steps, their number where there is none."""
    if low == len(steps):
        return f"not at step {steps[-1]}"
    if high == len(steps):
        return f"unknown, but not before step {steps[low]}" if low else "unknown"
    if high == 0:
        return f"at step {steps[0]} already"
    if low:
        return f"after step {steps[low - 1]}, by step {steps[high]}"
    return f"by step {steps[high]}, and perhaps before step {steps[0]}"
