"""Numbers of a set of heads: of a type, or of as many heads drawn at random.

A set of heads is a row of booleans over all heads, layer by layer.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

Sets = Bool[np.ndarray, "set head"]
Interval = Callable[[Bool[np.ndarray, " head"]], tuple[float, float]]


class Measure(NamedTuple):
    """One number about a set of heads.

    statistic: how the heads' values become one. of: the number of each set, NaN where it is not defined.
    interval: low and high end of the number of one set; None where the analysis keeps nothing to draw again.
    about: the type that all others are compared with; None where it is about the set alone.
    """

    analysis: str
    task: str
    quantity: str
    statistic: str
    of: Callable[[Sets], Float[np.ndarray, " set"]]
    interval: Interval | None = None
    about: str | None = None


def summaries(
    analysis: str, task: str, quantity: str, of_head: np.ndarray, interval: Interval | None = None
) -> Iterator[Measure]:
    """Yield mean, smallest and largest value of a set's heads.

    of_head: [layer, head] or [head], NaN where there is none; interval: of the mean, as in `Measure`.
    """
    flat = of_head.ravel()
    known = ~np.isnan(flat)

    def mean(sets: np.ndarray) -> np.ndarray:
        return ratio(sets @ np.where(known, flat, 0), sets @ known.astype(float))

    yield Measure(analysis, task, quantity, "mean", mean, interval)
    yield Measure(analysis, task, quantity, "smallest", lambda sets: -_extreme(sets, -flat))
    yield Measure(analysis, task, quantity, "largest", lambda sets: _extreme(sets, flat))


def best_head(analysis: str, task: str, quantity: str, of_head: np.ndarray) -> Measure:
    """Return the largest value of a set's heads; of_head: [head], NaN where there is none."""
    return Measure(analysis, task, quantity, "best head", lambda sets: _extreme(sets, of_head))


def ratio(total: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return `total / of` of each set; NaN where the denominator is 0."""
    return np.divide(total, of, out=np.full(len(total), np.nan), where=of > 0)


def _extreme(sets: np.ndarray, of_head: np.ndarray) -> np.ndarray:
    # In the order of values, the first head of each set has it.
    order = np.argsort(-of_head)
    ranked = (sets & ~np.isnan(of_head))[:, order]
    largest = of_head[order[ranked.argmax(1)]]
    return np.where(ranked.any(1) & np.isfinite(largest), largest, np.nan)
