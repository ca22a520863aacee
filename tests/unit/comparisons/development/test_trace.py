"""One table of what was measured at all checkpoints, and its figure."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.detectors.results import detector_table
from headtypes.analyses.types.partitions import write_partition
from headtypes.comparisons.development.figure import development_figure
from headtypes.comparisons.development.onsets import read_onsets
from headtypes.comparisons.development.trace import COLUMNS, trace
from headtypes.core.errors import InputError
from headtypes.core.statistics import mean_intervals
from headtypes.core.table_files import write_csv, write_parquet
from tests.support.planted import typed

STEPS = {"m-0": 0, "m-10": 10, "m-200": 200}
TASK = "random tokens"


@pytest.fixture
def measured(tmp_path):
    """Detectors of two heads, of which the second is of the kind from step 10 on; scores: [step, sequence, head]."""
    rng = np.random.default_rng(1)
    values = np.array([[0.1, 0.1], [0.1, 0.6], [0.1, 0.9]])[:, None] + 0.01 * rng.random((3, 20, 2))
    tables, scores = {}, {}
    for (model, step), of_step in zip(STEPS.items(), values, strict=True):
        index = pd.MultiIndex.from_product(
            [["first"], range(20), [0], range(2)], names=["detector", "sequence", "layer", "head"]
        )
        table = pd.DataFrame({"score": of_step.ravel(), "null": 0.1}, index).reset_index()
        scores[model, TASK], tables[model, TASK] = tmp_path / f"{step}.parquet", tmp_path / f"{step}.csv"
        write_parquet(scores[model, TASK], table)
        write_csv(tables[model, TASK], detector_table(table, least=0.1, seed=1))
    return tables, scores, values


def traced(tables, scores, partitions=(), shape=(1, 2)) -> pd.DataFrame:
    # The spec of a job has its keys in the order of the alphabet.
    steps = dict(sorted(STEPS.items(), reverse=True))
    return trace(steps, shape, {"detectors": tables}, scores, dict(partitions), 3)


def test_scores_have_their_intervals_and_say_which_heads_are_detected(measured):
    tables, scores, values = measured
    table = traced(tables, scores)
    assert list(table.columns) == list(COLUMNS)
    assert set(table["analysis"]) == {"detectors"}
    assert set(table["quantity"]) == {"detector.first"}
    assert table["step"].tolist() == [0, 0, 10, 10, 200, 200]
    assert table["detected"].tolist() == [False, False, False, True, False, True]
    np.testing.assert_allclose(table["value"], 100 * values.mean(1).ravel())
    for step, rows in enumerate(values):
        low, high = mean_intervals(100 * rows.T, seed=3)
        np.testing.assert_allclose(table["low"][2 * step : 2 * step + 2], low)
        np.testing.assert_allclose(table["high"][2 * step : 2 * step + 2], high)


def test_what_one_checkpoint_lacks_is_left_out(measured):
    tables, scores, _ = measured
    for model in ("m-0", "m-10"):
        table = pd.read_csv(tables[model, TASK])
        write_csv(tables[model, TASK], pd.concat([table, table.assign(detector="mine")]))
    assert set(traced(tables, scores)["quantity"]) == {"detector.first"}


def test_checkpoints_with_other_heads_are_refused(measured):
    with pytest.raises(InputError, match="At step 0 there are other heads than 2 layers of 2"):
        traced(*measured[:2], shape=(2, 2))


def test_types_are_those_of_the_last_step_whatever_they_are_called_before(tmp_path):
    """At the first step two clusters have exchanged their names, and one head is elsewhere."""
    letters = {"m-0": "bbbaaa", "m-10": "aababb", "m-200": "aaabbb"}
    partitions = {}
    for model, types in letters.items():
        columns = {"cluster": 0, "silhouette": 0.0, "near": 0.1, "special": 0.1, "far": 0.1}
        partitions[model, "text-kmeans-k2"] = tmp_path / f"{model}.csv"
        write_partition(partitions[model, "text-kmeans-k2"], typed([list(types)], **columns))
    table = traced({}, {}, partitions, shape=(1, 6))
    assert set(table["of"]) == {"text-kmeans-k2"}
    assert table["layer"].isna().all()
    found = table.pivot_table("value", "quantity", "step")
    final = "already of the last type"
    np.testing.assert_allclose(found.loc[final], [100, 100 * 4 / 6, 100])
    np.testing.assert_allclose(found.loc[f"{final}: a"], [100, 200 / 3, 100])
    assert found.loc["heads: a"].tolist() == [3, 3, 3]


def test_the_figure_has_a_line_for_each_kind_and_each_partition(measured, tmp_path):
    tables, scores, _ = measured
    partitions = {}
    for model, types in zip(STEPS, ("ab", "ba", "ab"), strict=True):
        columns = {"cluster": 0, "silhouette": 0.0, "near": 0.1, "special": 0.1, "far": 0.1}
        partitions[model, "text-kmeans-k2"] = tmp_path / f"{model}.csv"
        write_partition(partitions[model, "text-kmeans-k2"], typed([list(types)], **columns))
    onsets = read_onsets(STEPS, {"detectors": tables}, partitions, 1)
    # As if the second head found something from step 10 on, and the first one something that nobody knows since when.
    found = pd.DataFrame(
        {"quantity": "accuracy.det", "layer": 0, "head": [0, 1], "high": pd.array([pd.NA, 10], "Int64")}
    )
    onsets = pd.concat([onsets, found.assign(analysis="relations", of="bank")])
    figure = development_figure(traced(tables, scores, partitions), onsets)
    kinds, beyond, types = figure.axes
    assert [line.get_ydata().tolist() for line in beyond.lines] == [[0, 1, 1]]
    assert [line.get_ydata().tolist() for line in kinds.lines] == [[0, 1, 1]]
    assert [line.get_ydata().tolist() for line in types.lines] == [[100, 100, 100]]
    assert [text.get_text() for text in kinds.get_xticklabels()] == ["0", "10", "200"]
    assert [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()] == [
        "first",
        "relations of bank",
        "text-kmeans-k2",
    ]


def test_a_figure_of_neither_says_so():
    figure = development_figure(traced({}, {}), read_onsets(STEPS, {}, {}, 1))
    assert "Neither detectors nor types" in figure.axes[0].texts[0].get_text()
