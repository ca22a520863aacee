"""As many heads as a type has in each group of heads, drawn at random, and where its value lies among theirs."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from headtypes.core.statistics import EQUAL

# Heads that are drawn at once: 8 MB of random numbers.
_BLOCK = 2**20


class Place(NamedTuple):
    """Where a value lies among those of random heads.

    random, random_low, random_high: mean of the random values, and their 2.5 and 97.5 % quantiles; NaN where there
        are none.
    rank:  place of the value among the random ones and itself, from the largest; an equal one goes before it.
    p:     two-sided p of the permutation test, twice the smaller of the shares of values, the own among them, that are
        at least as large and at least as small; at most 1. NaN where there are none.
    draws: number of random values, not counting those that are not defined.
    """

    random: float
    random_low: float
    random_high: float
    rank: int | None
    p: float
    draws: int


def draw_heads(
    own: Bool[np.ndarray, "layer head"], groups: Int[np.ndarray, "layer head"], draws: int, seed: int
) -> Iterator[Bool[np.ndarray, "draw layer*head"]]:
    """Draw sets of heads that have as many heads in each group as a type has there, in blocks.

    own: whether each head is of the type. Where a type fills a group, so does every draw.
    groups: the group of each head, its layer or its profile; as many of them as layers, and as large.
    """
    order = groups.argsort(axis=None, kind="stable")
    counts = own.flat[order].reshape(own.shape).sum(axis=-1)
    rng, rows = np.random.default_rng(seed), max(1, _BLOCK // own.size)
    for start in range(0, draws, rows):
        keys = rng.random((min(rows, draws - start), *own.shape))
        drawn = np.empty((len(keys), own.size), bool)
        drawn[:, order] = (keys.argsort(axis=-1).argsort(axis=-1) < counts[:, None]).reshape(len(keys), -1)
        yield drawn


def place_among(value: float, drawn: Float[np.ndarray, " draw"]) -> Place:
    """Where a value lies among those of random heads (Phipson and Smyth 2010: a p of a permutation is never zero)."""
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not len(drawn):
        return Place(np.nan, np.nan, np.nan, None, np.nan, len(drawn))
    as_large = 1 + int((drawn >= value - EQUAL).sum())
    as_small = 1 + int((drawn <= value + EQUAL).sum())
    low, high = np.quantile(drawn, [0.025, 0.975])
    p = min(1.0, 2 * min(as_large, as_small) / (1 + len(drawn)))
    return Place(float(drawn.mean()), float(low), float(high), as_large, p, len(drawn))
