"""The sequential permutation test: exact beside an enumeration of all orders, and tried where the truth is known."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from headtypes.analyses.ablation import control_drops
from headtypes.analyses.ablation.control_drops import enough, further_draws, sequential_p
from headtypes.core.statistics import ALPHA


def until_decided(reached: np.ndarray, draws: int) -> np.ndarray:
    """The draws that are made, of all that could be, in rounds as `controls` makes them."""
    made = 0
    while number := further_draws(reached[:made], draws):
        made += number
    return reached[:made]


def drawn(rng: np.random.Generator, reach: np.ndarray, draws: int) -> np.ndarray:
    """Whether each draw reaches the own value, [value, draw], where this share of all sets reaches it."""
    return rng.random((len(reach), draws)) < reach[:, None]


@pytest.mark.parametrize(("alpha", "draws"), [(0.25, 11), (0.25, 13), (0.2, 9), (0.5, 6), (0.05, 6)])
def test_the_p_is_exact_and_holds_whenever_one_stops(alpha, draws, monkeypatch):
    monkeypatch.setattr(control_drops, "ALPHA", alpha)
    # Of a value that is exchangeable with the draws, every number that reach it is as likely, in any order.
    at_the_end, at_any_stop = {}, {}
    for order in product([False, True], repeat=draws):
        probability = Fraction(1, (draws + 1) * comb(draws, sum(order)))
        made = until_decided(np.array(order), draws)
        ps = [Fraction(sequential_p(made[:number], draws)).limit_denominator(1000) for number in range(len(made) + 1)]
        assert ps == sorted(ps, reverse=True), "what is known so far is never taken back"
        for found, p in ((at_the_end, ps[-1]), (at_any_stop, min(ps))):
            found[p] = found.get(p, 0) + probability
    for found in (at_the_end, at_any_stop):
        assert sum(found.values()) == 1
        for p in found:
            assert sum(share for other, share in found.items() if other <= p) == p


def test_draws_end_where_no_p_of_five_percent_can_follow():
    for draws in (19, 20, 80, 199, 200, 999):
        end = enough(draws)
        assert end / (draws + 1) <= ALPHA < (end + 1) / (draws + 1)
        never, always = np.zeros(draws, bool), np.ones(draws, bool)
        assert len(until_decided(never, draws)) == draws
        assert sequential_p(never, draws) == pytest.approx(1 / (draws + 1))
        assert len(until_decided(always, draws)) == end
        assert sequential_p(until_decided(always, draws), draws) == 1
    # So few cannot decide, and all are made.
    assert len(until_decided(np.ones(18, bool), 18)) == 18
    assert sequential_p(np.zeros(18, bool), 18) == pytest.approx(1 / 19)


def test_rounds_make_no_draw_that_one_by_one_would_not():
    rng = np.random.default_rng(0)
    for reach in drawn(rng, rng.random(200), 60):
        one_by_one = next(number for number in range(61) if reach[:number].sum() == enough(60) or number == 60)
        assert len(until_decided(reach, 60)) == one_by_one
        assert sequential_p(reach, 60) == sequential_p(reach[:one_by_one], 60), "later draws do not count"


@pytest.mark.parametrize("draws", [40, 200])
def test_at_most_five_percent_are_told_from_what_they_are_like_whenever_one_stops(draws):
    rng = np.random.default_rng(draws)
    false = made = 0
    for reached in drawn(rng, rng.random(2000), draws):
        decided = until_decided(reached, draws)
        made += len(decided)
        # Whoever looks after each draw, and stops at the best moment.
        false += min(sequential_p(decided[:number], draws) for number in range(len(decided) + 1)) <= ALPHA
    assert false / 2000 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)
    # Besides: most draws are spared where there is nothing to tell.
    assert made / 2000 < 45
