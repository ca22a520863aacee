"""Weights beside norms: how far the divisions that they make agree."""

import numpy as np
import pytest

from headtypes.analyses.distances.features import Groups
from headtypes.analyses.norms import compare_divisions, per_head, per_set, shares_table
from headtypes.analyses.types.partitions import COLUMNS, Partition
from headtypes.core.table_files import write_csv
from tests.support.planted import typed

LAYERS, HEADS = 4, 6


def partition(types: np.ndarray) -> Partition:
    return Partition(typed(types.reshape(LAYERS, HEADS)).table.reindex(columns=COLUMNS, fill_value=0.0))


def halves() -> tuple[np.ndarray, np.ndarray]:
    index = np.arange(LAYERS * HEADS)
    return np.where(index % 2, "a", "b").astype(object), np.where(index // 2 % 2, "a", "b").astype(object)


def test_divisions_that_have_nothing_to_do_with_one_another_change_half_of_the_heads_and_equal_ones_none():
    weights, norms = map(partition, halves())
    divisions = {"unlike": {"weights": weights, "norms": norms}, "equal": {"weights": norms, "norms": norms}}
    unlike, equal = compare_divisions(divisions).to_dict("records")
    assert unlike["adjusted_rand"] == pytest.approx(0, abs=0.1)
    assert unlike["same_cluster"] == 50
    assert len(unlike["changed"].split()) == LAYERS * HEADS / 2
    assert (equal["adjusted_rand"], equal["same_type"], equal["changed"]) == (1, 100, "")


def test_shares_by_both_are_shown_of_heads_and_those_by_norms_of_sets(tmp_path):
    rng = np.random.default_rng(1)
    weights, norms = (Groups(*rng.dirichlet([1, 1, 1], LAYERS * HEADS).T) for _ in range(2))
    write_csv(tmp_path / "norms.csv", shares_table(weights, norms, (LAYERS, HEADS)))
    columns = {column.key: column for column in per_head("text", tmp_path / "norms.csv")}
    np.testing.assert_allclose(columns["norms.text.special"].values, 100 * weights.special, rtol=1e-6)
    np.testing.assert_allclose(columns["norms.text.special_by_norms"].values, 100 * norms.special, rtol=1e-6)
    measures = {(it.quantity, it.statistic): it for it in per_set("text", tmp_path / "norms.csv", {}, seed=0)}
    every = np.ones((1, LAYERS * HEADS), bool)
    assert measures["far_by_norms", "mean"].values(every) == pytest.approx(norms.far.mean(), rel=1e-6)
