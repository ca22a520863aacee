"""A permutation test whose draws are made one after another, until it is decided (Besag and Clifford 1991).

Where a value is exchangeable with those drawn beside it, each rank among the first draws is equally likely, so that
`enough` of t draws reach the value before any other number of draws does with probability `enough` / t. No test that
holds at any stop can be below p in fewer than 1 / p - 1 draws.
"""

import numpy as np
from jaxtyping import Bool

from headtypes.core.statistics import ALPHA


def enough(draws: int) -> int:
    """So many draws that reach the value end the test: of all `draws`, one more would leave a p above 5 %.

    Fewer than 19 draws cannot give a p of 5 %; all of them are made, as a description.
    """
    # Rounded, since 0.05 is no binary fraction.
    return int(round(ALPHA * (draws + 1), 9)) or draws + 1


def further_draws(reached: Bool[np.ndarray, " draw"], draws: int) -> int:
    """The least number of draws that can decide the test; 0 where it is decided.

    reached: of the draws that were made, in their order, which reach the value.
    draws:   the largest number.
    """
    return max(0, min(enough(draws) - int(reached.sum()), draws - len(reached)))


def sequential_p(reached: Bool[np.ndarray, " draw"], draws: int) -> float:
    """The one-sided p of the draws made, which is valid whenever one stops; all as in `further_draws`.

    While the test is not decided, it is what would be left if every further draw reached the value. Draws after the
    decision do not count.
    """
    made, end = len(reached), enough(draws)
    times = 1 + np.flatnonzero(reached)
    if len(times) >= end:
        return end / int(times[end - 1])
    last = made + end - len(times)
    return end / last if last <= draws else (1 + len(times) + draws - made) / (1 + draws)
