"""The regression of costs on sets of heads: planted effects and pairs are found, and noise is not."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_ind
from sklearn.linear_model import Ridge

from headtypes.analyses.effects.draws import draw_sets
from headtypes.analyses.effects.regression import explained, fit, head_effects, held_out, pair_effects, with_pairs
from headtypes.core.statistics import ALPHA, holm

SHARE = 0.2


def effects_of(removed, costs):
    """Predictions held out, and effects of heads."""
    found = held_out(removed, costs)
    return found, head_effects(removed, costs, found, SHARE)


def planted(rng, draws, heads, questions, noise=0.5):
    """Sets, effects of which a third are not zero, and costs that are their sums, with noise of draws and of scores."""
    removed = rng.random((draws, heads)) < SHARE
    effect = np.where(np.arange(heads) % 3 == 0, rng.normal(0, 3, heads), 0)
    noise_of_draws = noise * rng.normal(size=(draws, 1))
    return removed, effect, (removed @ effect)[:, None] + noise_of_draws + noise * rng.normal(size=(draws, questions))


def test_planted_effects_are_recovered_and_sets_are_predicted():
    removed, effect, costs = planted(np.random.default_rng(1), 300, 30, 20)
    found, effects = effects_of(removed, costs)
    ((r2, low, high),) = explained(costs, found.predicted, seed=1)
    assert r2 > 0.98
    assert low < r2 < high <= 1
    np.testing.assert_allclose(effects.effect, effect, atol=0.4)
    np.testing.assert_allclose(fit(removed, costs).coef_.mean(0), effect, atol=0.4)
    assert (effects.corrected_p < ALPHA).tolist() == (np.abs(effect) > 0.4).tolist()
    assert effects.draws.tolist() == removed.sum(0).tolist()


def test_predictions_and_r2_are_those_of_a_loop_over_folds():
    removed, _, costs = planted(np.random.default_rng(2), 45, 8, 6, noise=3)
    found, _ = effects_of(removed, costs)
    expected = np.empty_like(costs)
    for fold in range(10):
        mine = np.arange(45) % 10 == fold
        penalty = fit(removed[~mine], costs[~mine]).alpha
        for question in range(6):
            regression = Ridge(penalty).fit(removed[~mine], costs[~mine, question])
            expected[mine, question] = regression.predict(removed[mine])
    np.testing.assert_allclose(found.predicted, expected)
    ((r2, *_),) = explained(costs, found.predicted, seed=3)
    measured, predicted = costs.mean(1), expected.mean(1)
    spread = ((measured - measured.mean()) ** 2).sum()
    assert r2 == pytest.approx(1 - ((measured - predicted) ** 2).sum() / spread)
    # Nothing of a draw decides what is predicted of it.
    costs[7] += 1000
    np.testing.assert_allclose(held_out(removed, costs).predicted[7], found.predicted[7])


def test_effects_are_those_of_the_definition_draw_by_draw_and_question_by_question():
    removed, _, costs = planted(np.random.default_rng(3), 40, 5, 7, noise=2)
    found, effects = effects_of(removed, costs)
    for head in range(5):
        single = np.empty_like(costs)
        for draw, question in np.ndindex(costs.shape):
            weight = found.weights[found.fold[draw], question, head]
            # The costs predicted with the head and without it, each corrected where it was seen.
            without = found.predicted[draw, question] - weight * removed[draw, head]
            rest = costs[draw, question] - found.predicted[draw, question]
            gone, kept = removed[draw, head] / SHARE, (1 - removed[draw, head]) / (1 - SHARE)
            single[draw, question] = without + weight + gone * rest - (without + kept * rest)
        assert effects.effect[head] == pytest.approx(single.mean())
        draws, questions = single.shape
        over_draws = single.mean(1).var(ddof=1) / draws
        over_questions = single.mean(0).var(ddof=1) / questions
        inner = single - single.mean(1, keepdims=True) - single.mean(0) + single.mean()
        both = (inner**2).sum() / (draws * questions * (draws - 1) * (questions - 1))
        variance = max(over_draws + over_questions - both, over_draws, over_questions)
        degrees = (over_draws + over_questions) ** 2 / (
            over_draws**2 / (removed[:, head].sum() / 2) + over_questions**2 / (questions - 1)
        )
        error = np.sqrt(variance)
        assert effects.high[head] - effects.effect[head] == pytest.approx(error * student.ppf(0.975, degrees))
        assert effects.effect[head] - effects.low[head] == pytest.approx(error * student.ppf(0.975, degrees))
        assert effects.p[head] == pytest.approx(2 * student.sf(abs(single.mean()) / error, degrees))
    assert effects.corrected_p.tolist() == holm(effects.p).tolist()


def test_of_noise_alone_nothing_is_predicted_and_hardly_a_head_is_told_from_zero():
    rng, told, single, r2 = np.random.default_rng(4), 0, [], []
    for _ in range(25):
        removed = rng.random((50, 12)) < SHARE
        # Skewed noise of draws, as costs have that break a model.
        costs = rng.exponential(size=(50, 1)) + rng.normal(size=(50, 10))
        found, effects = effects_of(removed, costs)
        told += (effects.corrected_p < ALPHA).any()
        single.append(effects.p < ALPHA)
        ((value, *_),) = explained(costs, found.predicted, seed=1)
        r2.append(value)
    assert told <= 0.05 * 25
    assert np.mean(single) <= 0.06
    assert np.mean(r2) < 0


def test_a_head_without_effect_is_not_told_from_zero_among_heads_that_break_the_model_together():
    rng, told = np.random.default_rng(5), 0
    for _ in range(20):
        removed = rng.random((60, 12)) < SHARE
        costs = 20.0 * (removed[:, :4].sum(1, keepdims=True) > 1) + rng.normal(size=(60, 10))
        _, effects = effects_of(removed, costs)
        told += (effects.corrected_p[4:] < ALPHA).any()
    assert told <= 1


def test_the_interval_reaches_farther_where_questions_disagree():
    rng = np.random.default_rng(6)
    removed, _, costs = planted(rng, 200, 6, 12, noise=0.2)
    _, agreed = effects_of(removed, costs)
    _, effects = effects_of(removed, costs + removed[:, [1]] * rng.normal(0, 6, 12))
    width, before = effects.high - effects.low, agreed.high - agreed.low
    assert width[1] > 5 * before[1]
    # That of a mean of twelve questions.
    assert width[1] == pytest.approx(2 * 2.2 * 6 / np.sqrt(12), rel=0.5)


def test_planted_pairs_are_found_and_add_to_what_is_predicted():
    rng = np.random.default_rng(7)
    removed, _, costs = planted(rng, 450, 8, 10)
    costs = costs + 6.0 * (removed[:, [2]] & removed[:, [5]])
    found, _ = effects_of(removed, costs)
    pairs, effects = pair_effects(removed, costs, found, SHARE)
    assert len(pairs) == 28
    told = pairs[effects.corrected_p < ALPHA].tolist()
    assert told == [[2, 5]]
    index = pairs.tolist().index([2, 5])
    assert effects.low[index] < 6 < effects.high[index]
    assert effects.draws[index] == (removed[:, 2] & removed[:, 5]).sum()
    _, (added, low, _) = explained(
        costs, found.predicted, held_out(with_pairs(removed, pairs), costs).predicted, seed=1
    )
    assert added > 0
    assert low > 0


def test_without_interactions_pairs_add_nothing_and_rare_ones_are_left_out():
    rng = np.random.default_rng(8)
    removed, _, costs = planted(rng, 120, 8, 10, noise=2)
    found, _ = effects_of(removed, costs)
    pairs, effects = pair_effects(removed, costs, found, SHARE)
    assert not (effects.corrected_p < ALPHA).any()
    both = removed.T.astype(int) @ removed
    assert {tuple(pair) for pair in pairs} == {
        pair for pair in np.ndindex(8, 8) if pair[0] < pair[1] and both[pair] >= 8
    }
    _, (added, *_) = explained(costs, found.predicted, held_out(with_pairs(removed, pairs), costs).predicted, seed=1)
    assert added < 0.02
    few, none = pair_effects(removed[:20], costs[:20], held_out(removed[:20], costs[:20]), SHARE)
    assert len(few) == len(none.effect) == 0


def test_a_head_that_no_draw_or_every_draw_leaves_out_and_costs_without_spread():
    removed = draw_sets(40, 4, SHARE, seed=1)
    removed[:, 0] = False
    costs = np.random.default_rng(9).normal(size=(40, 5))
    _, effects = effects_of(removed, costs)
    assert np.isnan([effects.low[0], effects.high[0], effects.p[0], effects.corrected_p[0]]).all()
    assert np.isfinite(effects.p[1:]).all()
    found, effects = effects_of(removed, np.zeros((40, 5)))
    assert (effects.effect == 0).all()
    assert (effects.corrected_p[1:] == 1).all()
    assert np.isnan(explained(np.zeros((40, 5)), found.predicted, seed=1)).all()


def test_an_effect_is_that_of_two_means_where_nothing_else_is_left_out():
    rng = np.random.default_rng(10)
    removed = rng.random((200, 1)) < SHARE
    costs = 2.0 * removed + rng.normal(size=(200, 1)) + 0.01 * rng.normal(size=(200, 9))
    _, effects = effects_of(removed, costs)
    gone, kept = costs.mean(1)[removed[:, 0]], costs.mean(1)[~removed[:, 0]]
    low, high = ttest_ind(gone, kept, equal_var=False).confidence_interval()
    assert effects.effect[0] == pytest.approx(gone.mean() - kept.mean(), abs=0.05)
    assert effects.high[0] - effects.low[0] == pytest.approx(high - low, rel=0.15)


def test_sets_are_drawn_at_the_share_and_more_do_not_change_the_first():
    removed = draw_sets(2000, 20, SHARE, seed=3)
    np.testing.assert_allclose(removed.mean(0), SHARE, atol=0.04)
    assert np.abs(np.corrcoef(removed.T) - np.eye(20)).max() < 0.1
    assert (draw_sets(30, 20, SHARE, seed=3) == removed[:30]).all()
    assert (draw_sets(30, 20, SHARE, seed=4) != removed[:30]).any()
