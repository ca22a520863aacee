"""Costs of heads, from sets of which it is known what they lose."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.company.costs import costly_heads, fit_sets, head_costs, largest_pair, set_means
from headtypes.analyses.company.results import Company
from headtypes.analyses.company.sets import draw_sets
from headtypes.core.errors import InputError

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
    return largest_pair(away, lost, fit_sets(away, lost), seed=0)


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
        assert isinstance(table, pd.DataFrame)
