"""The tables of effects: what is in them, and which traits of heads costs go with."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.distances.columns import Groups
from headtypes.analyses.effects import analysis
from headtypes.analyses.effects.draws import draw_sets
from headtypes.analyses.effects.measure import measure_effects, trait_effects
from headtypes.core.table_files import write_csv


def groups_of(rng: np.random.Generator, heads: int) -> Groups:
    """Random shares that sum to one."""
    return Groups(*rng.dirichlet([1, 1, 1], heads).T)


def scores_of(rng: np.random.Generator, sets: int, effect: np.ndarray, questions: int = 12, heads: int = 4):
    """Scores of sets of heads that cost the sum of their effects, as `evaluate_subsets` returns them."""
    removed = np.vstack([np.zeros(len(effect), bool), draw_sets(sets, len(effect), 0.2, seed=1)])
    tables = []
    for draw, of_draw in enumerate(removed):
        named = " ".join(f"{1 + head // heads}-{1 + head % heads}" for head in np.flatnonzero(of_draw))
        scores = 80 - of_draw @ effect + rng.normal(size=questions)
        tables.append({"draw": draw, "removed": named, "id": [f"q{index}" for index in range(questions)], "f1": scores})
    return pd.concat(map(pd.DataFrame, tables), ignore_index=True)


def test_the_tables_hold_the_planted_effects(tmp_path):
    rng = np.random.default_rng(2)
    effect = np.concatenate([[6.0, -4.0], np.zeros(10)])
    groups = {"weights": groups_of(rng, 12), "norms": groups_of(rng, 12)}
    tables = measure_effects(scores_of(rng, 120, effect), groups, (3, 4), share=0.2, seed=1)
    assert tables.heads[["layer", "head"]].to_numpy().tolist() == [
        [layer, head] for layer in range(3) for head in range(4)
    ]
    np.testing.assert_allclose(tables.heads["effect"], effect, atol=0.5)
    assert tables.heads["corrected_p"][:2].max() < 0.05
    write_csv(tmp_path / "effects.csv", tables.heads)
    tested = analysis.tested("qa", tmp_path / "effects.csv")
    assert set(tested["quantity"]) == {"effect.qa.f1"}
    # The first costs something, and the second surely nothing: without it, answers are better.
    np.testing.assert_allclose(tested["p"][:2], [tables.heads["p"][0] / 2, 1 - tables.heads["p"][1] / 2])
    assert tested["p"][0] < 0.001 > tested["p_not"][1]
    (row,) = tables.fit.to_dict("records")
    assert (row["draws"], row["questions"], row["pairs"]) == (120, 12, len(tables.pairs))
    assert row["r2"] > 0.95
    # The sum of the weights of a set, and the intercept, are what it is predicted to cost.
    removed = draw_sets(120, 12, 0.2, seed=1)
    predicted = row["intercept"] + removed @ tables.heads["weight"]
    np.testing.assert_allclose(predicted, tables.draws["cost"], atol=1.5)
    np.testing.assert_allclose(tables.draws["predicted"], tables.draws["cost"], atol=1.5)
    assert tables.draws["heads"].tolist() == removed.sum(1).tolist()
    assert tables.traits[["metric", "of", "trait"]].to_numpy().tolist() == [
        ["f1", of, trait] for of in groups for trait in ("near", "special", "depth")
    ]


def test_traits_that_effects_go_with_are_found_and_others_are_not():
    rng = np.random.default_rng(3)
    layer, groups = np.repeat(np.arange(6), 12), groups_of(rng, 72)
    effect = 1 + 5 * groups.near - 2 * layer / 5 + 0.3 * rng.normal(size=72)
    table = trait_effects(effect, groups, layer, seed=1).set_index("trait")
    np.testing.assert_allclose(table["coefficient"], [5, 0, -2], atol=0.5)
    assert ((table["low"] < table["coefficient"]) & (table["coefficient"] < table["high"])).all()
    assert (table["p"] < 0.05).tolist() == [True, False, True]
    # As if each head were predicted by a regression of the others.
    columns = np.column_stack([np.ones(72), groups.near, groups.special, layer / 5])
    rest = []
    for head in range(72):
        others = np.arange(72) != head
        weights, *_ = np.linalg.lstsq(columns[others], effect[others], rcond=None)
        rest.append(effect[head] - columns[head] @ weights)
    expected = 1 - np.sum(np.square(rest)) / ((effect - effect.mean()) ** 2).sum()
    np.testing.assert_allclose(table["r2"], expected)
    # Far instead of near: the shares sum to one, so that nothing else changes.
    turned = trait_effects(effect, Groups(groups.far, groups.special, groups.near), layer, seed=1).set_index("trait")
    assert turned["coefficient"]["near"] == pytest.approx(-table["coefficient"]["near"])
    assert turned["r2"]["near"] == pytest.approx(expected)


def test_a_model_of_one_layer_has_no_depth_and_heads_without_an_effect_do_not_count():
    rng = np.random.default_rng(4)
    groups, layer = groups_of(rng, 20), np.zeros(20)
    effect = groups.near * 3 + 0.1 * rng.normal(size=20)
    table = trait_effects(effect, groups, layer, seed=1).set_index("trait")
    assert table["coefficient"]["near"] == pytest.approx(3, abs=0.5)
    assert table["coefficient"]["depth"] == pytest.approx(0)
    more = Groups(*(np.append(shares, 1 / 3) for shares in (groups.near, groups.special, groups.far)))
    one_more = trait_effects(np.append(effect, np.nan), more, np.zeros(21), seed=1).set_index("trait")
    pd.testing.assert_frame_equal(one_more, table)
