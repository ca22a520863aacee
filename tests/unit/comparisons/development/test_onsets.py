"""Since when heads are of a kind: planted heads, and the rates of error that are promised."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.detectors.results import detector_table
from headtypes.comparisons.development.onsets import COLUMNS, find_onsets, interval_ends, read_onsets

LEAST, SEQUENCES = 0.1, 32
STEPS = (0, 10, 20, 30, 40)


def scores_of(above: np.ndarray, detectors: tuple[str, ...] = ("induction",)) -> pd.DataFrame:
    """Scores at one step: [head, sequence] whether each exceeds the null by more than the least; one layer."""
    heads, sequences = above.shape
    per = heads // len(detectors)
    index = pd.MultiIndex.from_product(
        [detectors, range(sequences), [0], range(per)], names=["detector", "sequence", "layer", "head"]
    )
    score = above.reshape(len(detectors), per, sequences).transpose(0, 2, 1).ravel()
    return pd.DataFrame({"score": 0.1 + 0.8 * score, "null": 0.1}, index).reset_index()


def onsets(above: np.ndarray, steps=STEPS, **names) -> pd.DataFrame:
    """above: [step, head, sequence] bool."""
    scores = {step: scores_of(of_step, **names) for step, of_step in zip(steps, above, strict=True)}
    tables = {step: detector_table(table, least=LEAST, seed=1) for step, table in scores.items()}
    return find_onsets(scores, tables, least=LEAST)


def planted(*heads: str) -> np.ndarray:
    """[step, head, sequence]: at each step whether a head exceeds on all sequences (x), on half (-), or on none (.)."""
    shares = {"x": SEQUENCES, "-": SEQUENCES // 2, ".": 0}
    return np.array(
        [[[number < shares[head[step]] for number in range(SEQUENCES)] for head in heads] for step in range(len(STEPS))]
    )


def test_planted_heads_have_their_onsets_and_intervals():
    table = onsets(planted("..xxx", ".x.xx", ".....", "xxxxx", ".--xx", "x....", "....-", "-----", "--xxx"))
    assert list(table.columns) == list(COLUMNS)
    assert table["head"].tolist() == list(range(9))
    none = pd.NA
    expected = [
        (20, 20, 20, "after step 10, by step 20"),
        # One that flickers is there from the last time on that it comes.
        (30, 30, 30, "after step 20, by step 30"),
        (none, none, none, "not at step 40"),
        (0, 0, 0, "at step 0 already"),
        (30, 10, 30, "after step 0, by step 30"),
        (none, none, none, "not at step 40"),
        (none, 40, none, "unknown, but not before step 40"),
        (none, 0, none, "unknown"),
        (20, 0, 20, "by step 20, and perhaps before step 0"),
    ]
    for row, wanted in zip(table.itertuples(), expected, strict=True):
        for found, value in zip((row.onset, row.low, row.high), wanted[:3], strict=True):
            assert (found is none) if value is none else found == value
        assert row.said == wanted[3]


def test_steps_may_come_in_any_order_and_detectors_keep_theirs():
    above = planted("..xxx", ".....", "xxxxx", ".....")
    table = onsets(above[::-1], STEPS[::-1], detectors=("previous", "induction"))
    assert table["detector"].tolist() == ["previous"] * 2 + ["induction"] * 2
    assert table["onset"].dropna().tolist() == [20, 0]


def test_without_detectors_there_is_an_empty_table():
    table = read_onsets({"a": 1, "b": 2}, {}, {}, least=LEAST)
    assert list(table.columns) == list(COLUMNS)
    assert table.empty


@pytest.mark.parametrize("share", [0.5, 0.501])
def test_by_chance_alone_few_trainings_have_a_head_with_a_wrong_end(share):
    """At the border of both hypotheses, where errors are likeliest: of all heads at all steps."""
    generator = np.random.default_rng(1)
    trainings, steps, heads = 2000, 8, 12
    wrong = 0
    for _ in range(trainings):
        low, high = interval_ends(generator.binomial(SEQUENCES, share, (heads, steps)), SEQUENCES)
        # Not of the kind at any step, or at every step.
        wrong += (high < steps).any() if share <= 0.5 else (low > 0).any()
    assert wrong / trainings <= 0.05


def test_intervals_hold_the_true_onsets_of_all_heads_at_once():
    """Heads that appear one after the other, from far below half of the sequences to far above it, and slowly."""
    generator = np.random.default_rng(2)
    trainings, steps, heads = 2000, 8, 12
    true = np.arange(heads) % (steps - 2) + 1
    share = np.clip(0.5 + 0.12 * (np.arange(steps) - true[:, None] + 0.5), 0, 1)
    held, known = 0, []
    for _ in range(trainings):
        low, high = interval_ends(generator.binomial(SEQUENCES, share, (heads, steps)), SEQUENCES)
        held += ((low <= true) & (true <= high)).all()
        known.append(((low > 0) & (high < steps)).mean())
    assert held / trainings >= 0.95
    # It is not by saying nothing.
    assert np.mean(known) > 0.3
