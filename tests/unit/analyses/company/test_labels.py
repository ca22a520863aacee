"""Labels and numbers of heads beside costs: tests whose truth is known."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.company import labels
from headtypes.analyses.company.labels import compare_labels
from tests.support.planted import typed

TYPES = ["dense", "diagonal", "dense_vertical", "vertical"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(labels, "PERMUTATIONS", 499)


def labelled(seed: int) -> dict[str, np.ndarray]:
    types = np.random.default_rng(seed).choice(TYPES, (6, 12), p=[0.4, 0.15, 0.25, 0.2])
    return {name: types == name for name in TYPES}


def test_types_of_equal_costs_are_told_in_one_of_twenty_experiments_at_most():
    """Layers differ in their costs and in their types; two heads cost much."""
    told = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        costs = rng.normal(0, 0.02, (6, 12)) + np.arange(6)[:, None] * 0.1
        costs.flat[rng.choice(72, 2, replace=False)] += [0.5, 0.8]
        types = labelled(seed + 1000)
        types["dense"][0] = True
        told += compare_labels(costs, {"types": types}, seed=seed)["p"].min() <= 0.05
    # Two standard errors.
    assert told / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def test_a_type_all_of_whose_heads_cost_a_little_more_is_found_in_most():
    found = []
    for seed in range(40):
        types = labelled(seed)
        costs = np.random.default_rng(seed).normal(0, 0.08, (6, 12)) + 0.1 * types["vertical"]
        table = compare_labels(costs, {"types": types}, seed=seed).set_index("label")
        found.append(table.loc["vertical", "p"] <= 0.05)
    assert np.mean(found) > 0.75


def test_two_heads_of_one_type_make_no_type_beyond_them():
    """Both are dense, where a third of the heads are: the type is told, and not beyond these heads."""
    types, rng = np.full((6, 12), "vertical", object), np.random.default_rng(0)
    types[:, :4] = "dense"
    costs = rng.normal(0, 0.02, (6, 12))
    costs[2, 1], costs[1, 3], costs[4, 0] = 0.9, 0.6, 0.5
    families = {"types": {name: types == name for name in ("dense", "vertical")}}
    heavy = pd.DataFrame({"layer": [2, 1, 4], "head": [1, 3, 0]})
    left = labels.without(costs, heavy)
    assert left[2, 1] == pytest.approx(np.delete(costs[2], 1).mean())
    assert (left == costs).sum() == 69
    assert compare_labels(costs, families, seed=0)["p"].max() <= 0.05
    assert compare_labels(left, families, seed=0)["p"].min() > 0.05


def test_a_number_is_held_against_costs_within_layers():
    rng = np.random.default_rng(0)
    costs = rng.normal(0, 1, (6, 12))
    columns = {"same order": costs**3, "depth alone": np.repeat(np.arange(6.0), 12).reshape(6, 12)}
    columns |= {
        "none": rng.normal(0, 1, (6, 12)),
        "layers": rng.normal(0, 0.01, (6, 12)) + costs.mean(1, keepdims=True),
    }
    columns["some missing"] = np.where(np.arange(12) < 10, -costs, np.nan)
    table = compare_labels(costs, {"numbers": columns}, seed=0).set_index("label")
    assert table.loc["same order", "statistic"] == pytest.approx(1)
    assert table.loc["same order", "p"] == 1 / 500
    # What differs between layers alone says nothing of heads.
    assert "depth alone" not in table.index
    assert table.loc["none", "p"] > 0.05
    assert (table.loc["some missing", ["heads", "p"]] == [60, 1 / 500]).all()
    assert table.loc["some missing", "statistic"] < -0.8


def test_p_is_that_of_all_permutations_within_layers():
    """The exact test of two layers of three heads, by counting."""
    costs = np.array([[0.0, 1, 3], [2, 0, 7]])
    label = np.array([[False, False, True], [False, True, False]])
    other = np.array([[True, False, False], [True, False, False]])
    table = compare_labels(costs, {"family": {"label": label, "other": other}}, seed=0).set_index("label")
    centred = costs - costs.mean(1, keepdims=True)
    every = [
        [np.mean([centred[0, one], centred[1, two]]) for one, two in ((a, d), (b, c))]
        for a in range(3)
        for b in range(3)
        if a != b
        for c in range(3)
        for d in range(3)
        if c != d
    ]
    sizes = np.abs(every) / np.std(every, axis=0)
    for index, name in enumerate(("label", "other")):
        value = centred[label if name == "label" else other].mean()
        assert table.loc[name, "statistic"] == pytest.approx(value)
        expected = np.mean(sizes.max(1) >= abs(value) / np.std(every, axis=0)[index] - 1e-9)
        assert table.loc[name, "p"] == pytest.approx(expected, abs=0.07)


def test_families_are_the_types_of_each_partition_and_all_numbers():
    types = typed(np.array([["dense", "vertical"], ["vertical", "dense"]]), near=0.2, special=0.3, far=0.5)
    families = labels.families_of({"a": types, "b": types}, {"x": np.arange(4.0)}, (2, 2))
    assert list(families) == ["types of a", "types of b", "numbers of heads"]
    assert families["types of a"]["dense"].tolist() == [[True, False], [False, True]]
    assert list(families["numbers of heads"]) == ["near", "special", "far", "x"]
    assert labels.families_of({}, {}, (2, 2)) == {"numbers of heads": {}}
    assert compare_labels(np.eye(2), {"numbers of heads": {}}, seed=0).empty
