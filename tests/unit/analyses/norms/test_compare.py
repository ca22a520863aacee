"""Weights beside norms: a division that norms alone make, and the costs that go with either."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.distances.columns import Groups
from headtypes.analyses.norms.analysis import per_head, per_set
from headtypes.analyses.norms.compare import compare_divisions, of_others, shares_table
from headtypes.analyses.types.partitions import COLUMNS, Partition
from headtypes.core.table_files import write_csv
from tests.support.planted import typed

LAYERS, HEADS = 4, 6


def partition(types: np.ndarray) -> Partition:
    return Partition(typed(types.reshape(LAYERS, HEADS)).table.reindex(columns=COLUMNS, fill_value=0.0))


def halves() -> tuple[np.ndarray, np.ndarray]:
    """Types by weights and by norms, which have nothing to do with one another."""
    index = np.arange(LAYERS * HEADS)
    return np.where(index % 2, "a", "b").astype(object), np.where(index // 2 % 2, "a", "b").astype(object)


def test_types_that_costs_go_with_predict_them_and_others_do_not():
    weights, norms = halves()
    rng = np.random.default_rng(0)
    effect = 3 * (norms == "a") + rng.normal(0, 0.3, len(norms))
    effects = {"qa": pd.DataFrame({"metric": "f1", "effect": effect})}
    divisions = {"kmeans-k2": {"weights": partition(weights), "norms": partition(norms)}}
    (row,) = compare_divisions(divisions, effects, seed=1).to_dict("records")
    assert row["adjusted_rand"] == pytest.approx(0, abs=0.1)
    assert row["same_cluster"] == 50
    assert len(row["changed"].split()) == LAYERS * HEADS / 2
    assert row["r2_norms"] > 0.9 > 0 > row["r2_weights"]
    assert 0.7 < row["r2_gain_low"] < row["r2_gain"] < row["r2_gain_high"]
    assert row["r2_gain"] == pytest.approx(row["r2_norms"] - row["r2_weights"])


def test_each_head_is_predicted_by_the_others_of_its_type():
    values = np.array([1.0, 2.0, 6.0, 10.0])
    np.testing.assert_allclose(of_others(np.array(["a", "a", "a", "b"]), values), [4, 3.5, 1.5, 3])


def test_divisions_without_effects_are_compared_as_well_and_equal_ones_change_no_head():
    one = partition(halves()[0])
    (row,) = compare_divisions({"kmeans-k2": {"weights": one, "norms": one}}, {}, seed=1).to_dict("records")
    assert (row["adjusted_rand"], row["same_type"], row["changed"]) == (1, 100, "")
    assert np.isnan(row["r2_gain"])


def test_shares_by_both_are_shown_of_heads_and_those_by_norms_of_sets(tmp_path):
    rng = np.random.default_rng(1)
    weights, norms = (Groups(*rng.dirichlet([1, 1, 1], LAYERS * HEADS).T) for _ in range(2))
    write_csv(tmp_path / "norms.csv", shares_table(weights, norms, (LAYERS, HEADS)))
    columns = {column.key: column for column in per_head("text", tmp_path / "norms.csv")}
    np.testing.assert_allclose(columns["norms.text.special"].values, 100 * weights.special, rtol=1e-6)
    np.testing.assert_allclose(columns["norms.text.special_by_norms"].values, 100 * norms.special, rtol=1e-6)
    measures = {(it.quantity, it.statistic): it for it in per_set("text", tmp_path / "norms.csv", {}, seed=0)}
    every = np.ones((1, LAYERS * HEADS), bool)
    assert measures["far_by_norms", "mean"].of(every) == pytest.approx(norms.far.mean(), rel=1e-6)
