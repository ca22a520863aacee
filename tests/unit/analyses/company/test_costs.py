"""Costs of heads, from sets of which it is known what they lose; and labels beside them, whose truth is known."""

from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.company import costs as module
from headtypes.analyses.company.costs import compare_labels, costly_heads, fit_sets, head_costs, set_means
from headtypes.analyses.company.results import Company, read_costs, read_labels
from headtypes.analyses.company.sets import draw_sets
from headtypes.analyses.declaration import Column
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.table_files import write_csv
from tests.support.planted import typed

# Head 3-10 of one type, and 2-2 of another, as a person counts.
HEAVY = {(2, 9): 0.9, (1, 1): 0.6}


def company_of(costs: np.ndarray, sets: int = 150, units: int = 60, *, both: float = 0.0, seed: int = 0) -> Company:
    """Units that lose what their heads cost, and noise; and more where both heavy heads are away."""
    rng = np.random.default_rng(seed)
    away = draw_sets(*costs.shape, sets=sets, per_layer=None, seed=seed)
    lost = (away * costs).sum((1, 2)) + both * (away[:, 2, 9] & away[:, 1, 1])
    of_units = rng.gamma(2, 0.5, units)
    scores = lost[:, None] * of_units + rng.normal(0, 0.4, (sets, units))
    whole = rng.random(units)
    scores = np.stack([whole + scores, 100 - 20 * scores], -1)
    return Company(
        away=away,
        scores=scores,
        whole=np.stack([whole, np.full(units, 100.0)], -1),
        sizes=np.ones(units),
        metrics=["loss", "f1"],
        units=[f"q{number}" for number in range(units)],
        articles=[f"a{number % 20}" for number in range(units)],
    )


def planted() -> np.ndarray:
    costs = np.random.default_rng(1).normal(0, 0.02, (6, 12))
    for head, cost in HEAVY.items():
        costs[head] = cost
    return costs


def test_two_heads_that_carry_the_answer_are_found_among_72():
    table, fit = head_costs(company_of(planted()), seed=0)
    costly = costly_heads(table)
    assert [(row.layer, row.head) for row in costly.itertuples()] == list(HEAVY)
    assert fit["half"] == 1
    assert fit["r2"]["loss"] > 0.9
    assert fit["halves"]["loss"] > 0.8
    assert len(fit["pair"]["heads"]) == 2
    assert (table["low"] < table["cost"]).all()
    assert (table["cost"] < table["high"]).all()
    # Points of F1 are twenty times the loss here.
    np.testing.assert_allclose(table["cost_f1"], 20 * table["cost"], atol=1e-9)


def test_costs_equal_least_squares_with_one_effect_for_each_head_that_sum_to_zero_in_a_layer():
    company = company_of(planted(), 240)
    table, fit = head_costs(company, seed=0)
    assert fit["penalty"] == 0
    away = company.away.reshape(len(company.away), -1).astype(float)
    lost = (company.scores[..., 0] - company.whole[:, 0]).mean(1)
    # The last head of each layer has what the others lack to zero.
    free = np.concatenate([np.delete(np.arange(72), np.arange(11, 72, 12))])
    last = away[:, 11::12].repeat(11, axis=1)
    design = np.column_stack([np.ones(len(away)), away[:, free] - last])
    solution, (squares,), rank, _ = np.linalg.lstsq(design, lost, rcond=None)
    effects = np.zeros((6, 12))
    effects[:, :11] = solution[1:].reshape(6, 11)
    effects[:, 11] = -effects[:, :11].sum(1)
    np.testing.assert_allclose(table["cost"], effects.ravel(), atol=1e-9)
    freedom = len(away) - rank
    covariance = squares / freedom * np.linalg.inv(design.T @ design)[1:, 1:]
    np.testing.assert_allclose(table["standard_error"][free], np.sqrt(np.diag(covariance)), rtol=1e-9)
    total = ((lost - lost.mean()) ** 2).sum()
    assert fit["r2"]["loss"] == pytest.approx(1 - squares / freedom / (total / (len(away) - 1)))


def test_a_cost_is_the_mean_of_what_each_unit_alone_would_give():
    company = company_of(planted(), 240, units=7)
    table, _ = head_costs(company, seed=0)
    away = company.away.reshape(len(company.away), -1).astype(float)
    of_units = [fit_sets(away, company.lost("loss")[:, unit]).effects for unit in range(7)]
    np.testing.assert_allclose(np.mean(of_units, axis=0), table["cost"], atol=1e-9)


def pair_of(company: Company) -> dict:
    away, lost = company.away.reshape(len(company.away), -1).astype(float), set_means(company, "loss")
    return module.largest_pair(away, lost, fit_sets(away, lost), seed=0)


def test_an_interaction_of_two_heads_is_reported_and_none_where_costs_add_up():
    met = 0
    for seed in range(4):
        company = company_of(planted(), 300, both=3.0, seed=seed)
        sets = (company.away[:, 2, 9] & company.away[:, 1, 1]).sum()
        if sets > 2:
            met += 1
            pair = pair_of(company)
            # 2-2 and 3-10.
            assert (pair["heads"], pair["sets"]) == ([13, 33], sets)
            assert pair["effect"] == pytest.approx(3, abs=0.5)
            assert pair["p"] <= 0.01
    assert met > 1
    alone = [pair_of(company_of(planted(), 240, seed=seed))["p"] for seed in range(30)]
    assert np.mean(np.array(alone) <= 0.05) <= 0.15


def test_with_few_sets_of_a_deep_model_costs_are_shrunk_and_those_of_layers_differ():
    rng = np.random.default_rng(3)
    costs = rng.normal(0, 0.02, (24, 9))
    costs[:2] += 0.2
    company = company_of_deep(costs)
    table, fit = head_costs(company, seed=0)
    assert fit["penalty"] > 0
    assert fit["held_out"]["loss"] > 0.3
    assert set(table.sort_values("cost").tail(6)["layer"]) <= {0, 1}


def company_of_deep(costs: np.ndarray) -> Company:
    away = draw_sets(*costs.shape, sets=300, per_layer=None, seed=0)
    lost = (away * costs).sum((1, 2))[:, None] + np.random.default_rng(0).normal(0, 0.1, (300, 20))
    units, whole = [str(number) for number in range(20)], np.zeros((20, 1))
    return Company(away, lost[..., None], whole, np.full(20, 2.0), ["loss"], units, [""] * 20)


def test_costs_of_22_layers_compare_heads_with_the_mean_head_of_the_model():
    """The layers are no multiple of three, so that sets differ in size; every head costs 0.2, and one more."""
    costs = np.full((22, 4), 0.2)
    costs[7, 1] = 0.9
    company = company_of_deep(costs)
    away = company.away.reshape(300, 88).astype(float)
    assert len(set(away.sum(1))) > 1
    table, fit = head_costs(company, seed=0)
    assert fit["penalty"] == 0
    lost = set_means(company, "loss")
    design = np.column_stack([np.ones(300), away])
    solution, (squares,), rank, _ = np.linalg.lstsq(design, lost, rcond=None)
    contrast = np.eye(88) - 1 / 88
    np.testing.assert_allclose(table["cost"], contrast @ solution[1:], atol=1e-9)
    covariance = contrast @ np.linalg.inv(design.T @ design)[1:, 1:] @ contrast
    np.testing.assert_allclose(table["standard_error"], np.sqrt(squares / (300 - rank) * np.diag(covariance)))
    # The mean of the intervals' ends is that of the costs of units, which are centred too.
    assert (table["low"] + table["high"]).mean() == pytest.approx(0, abs=1e-3)
    assert [(row.layer, row.head) for row in costly_heads(table).itertuples()] == [(7, 1)]


def test_of_units_of_several_tokens_a_cost_is_that_of_a_token():
    company = company_of_deep(np.random.default_rng(3).normal(0, 0.2, (24, 9)))
    table, _ = head_costs(company, seed=0)
    single, _ = head_costs(Company(**{**vars(company), "sizes": np.ones(20)}), seed=0)
    np.testing.assert_allclose(2 * table["cost"], single["cost"], atol=1e-9)


def test_heads_that_cost_the_same_are_told_in_one_of_twenty_experiments_at_most():
    found = [
        len(costly_heads(head_costs(company_of(np.full((4, 12), 0.2), 60, seed=seed), seed=0)[0])) for seed in range(30)
    ]
    assert np.mean(np.array(found) > 0) <= 0.14


def test_scores_that_are_all_equal_are_said_in_a_sentence():
    company = company_of(planted())
    same = np.broadcast_to(company.whole, company.scores.shape)
    with pytest.raises(InputError, match="All sets of heads lose the same, so that no head costs more than another"):
        head_costs(Company(**{**vars(company), "scores": same}), seed=0)
    # Another score may not differ, or in a single set, and has no costs then.
    flat = company.scores.copy()
    flat[..., 1] = 100.0
    for lost in (0.0, 50.0):
        flat[0, 0, 1] -= lost
        table, _ = head_costs(Company(**{**vars(company), "scores": flat}), seed=0)
        assert not table.filter(like="f1").size


TYPES = ["dense", "diagonal", "dense_vertical", "vertical"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(module, "PERMUTATIONS", 499)


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
    left = module.costs_without(costs, heavy)
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
    places = [*permutations(range(3), 2)]
    every = [[(centred[0, a] + centred[1, c]) / 2, (centred[0, b] + centred[1, d]) / 2] for (a, b), (c, d) in
             product(places, places)]  # fmt: skip
    sizes = np.abs(every) / np.std(every, axis=0)
    for index, name in enumerate(("label", "other")):
        value = centred[label if name == "label" else other].mean()
        assert table.loc[name, "statistic"] == pytest.approx(value)
        expected = np.mean(sizes.max(1) >= abs(value) / np.std(every, axis=0)[index] - 1e-9)
        assert table.loc[name, "p"] == pytest.approx(expected, abs=0.07)


def test_families_are_the_types_of_each_partition_and_all_numbers():
    types = typed(np.array([["dense", "vertical"], ["vertical", "dense"]]), near=0.2, special=0.3, far=0.5)
    families = module.families_of({"a": types, "b": types}, {"x": np.arange(4.0)}, (2, 2))
    assert list(families) == ["types of a", "types of b", "numbers of heads"]
    assert families["types of a"]["dense"].tolist() == [[True, False], [False, True]]
    assert list(families["numbers of heads"]) == ["near", "special", "far", "x"]
    assert module.families_of({}, {}, (2, 2)) == {"numbers of heads": {}}
    assert compare_labels(np.eye(2), {"numbers of heads": {}}, seed=0).empty


ACCURACY = np.arange(72.0)
RELATION = [None, *[0] * 70, 1]


def analysis(name: str, *columns: Column, files: int = 1) -> SimpleNamespace:
    """An analysis of that many files, of which each path is handed over."""

    def per_head(task, *paths):
        assert paths == tuple(f"{name}{number} of {task}" for number in range(files))
        return columns

    named = [SimpleNamespace(name=f"{name}{number}") for number in range(files)]
    return SimpleNamespace(name=name, files=named, per_head=per_head)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Run the job beside these analyses, each on the task `ewt`, and return what costs and labels are."""
    write_arrays(tmp_path / "sets", company_of(planted()), {})
    types = np.where(np.arange(72).reshape(6, 12) % 2, "dense", "vertical")
    partition = typed(types, cluster=0, silhouette=0.5, near=0.2, special=0.3, far=0.5)
    write_csv(tmp_path / "partition", partition.table)

    def run(*analyses) -> tuple[pd.DataFrame, pd.DataFrame]:
        monkeypatch.setattr(module, "ANALYSES", analyses)
        monkeypatch.setattr(module, "analysis_named", {of.name: of for of in analyses}.__getitem__)
        names = [file.name for of in analyses for file in of.files]
        files = {name: {"ewt": f"{name} of ewt"} for name in names}
        inputs = SimpleNamespace(sets=tmp_path / "sets", partitions={"mine": tmp_path / "partition"}, own={}, **files)
        inputs.get = vars(inputs).get
        outputs = SimpleNamespace(**{name: tmp_path / name for name in ("costs", "fit", "labels")})
        module.run(inputs, {"seed": 0}, outputs, {})
        return read_costs(outputs.costs), read_labels(outputs.labels)

    return run


def test_what_else_is_known_of_a_head_stands_beside_its_cost_and_numbers_are_held_against_costs(job):
    named = [{"name": "nsubj"}, {"name": "dobj"}]
    relation = Column("relation", "best relation", "g", RELATION, categories=named)
    costs, labels = job(
        analysis("relations", relation, Column("above", "above", "g", ACCURACY), files=2),
        analysis("surface", Column("sep", "to [SEP]", "g", -ACCURACY)),
        analysis("none", files=0),
    )
    assert costs["best relation (ewt)"].fillna("").tolist() == ["", *["nsubj"] * 70, "dobj"]
    assert costs["to [SEP] (ewt)"].tolist() == (-ACCURACY).tolist()
    assert costs["type (mine)"].tolist() == ["vertical", "dense"] * 36
    of_numbers = labels[labels["family"] == "numbers of heads"].set_index("label")["statistic"]
    assert {"above (ewt)", "to [SEP] (ewt)"} <= set(of_numbers.index)
    assert "best relation (ewt)" not in of_numbers
    assert of_numbers["above (ewt)"] == pytest.approx(-of_numbers["to [SEP] (ewt)"])


def test_two_columns_of_one_name_are_said_in_a_sentence(job):
    columns = [analysis(name, Column(name, "to [SEP]", "g", ACCURACY)) for name in ("surface", "mine")]
    with pytest.raises(InputError, match=r"Two columns of heads are called to \[SEP\] \(ewt\); rename that of mine\."):
        job(*columns)
