"""As many heads as a type has in each layer, drawn at random, and where a value of the type lies among theirs."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from headtypes.core.statistics import EQUAL


class Place(NamedTuple):
    """Where a value lies among those of random heads.

    mean, low, high: mean of the random values, and their 2.5 and 97.5 % quantiles; NaN where there are none.
    rank:  place of the value among the random ones and itself, from the largest; an equal one goes before it.
    p:     two-sided p of the permutation test, twice the smaller of the shares of values, the own among them, that are
        at least as large and at least as small; at most 1. NaN where there are none.
    draws: number of random values, not counting those that are not defined.
    """

    mean: float
    low: float
    high: float
    rank: int | None
    p: float
    draws: int


def draw_heads(own: Bool[np.ndarray, "layer head"], draws: int, seed: int) -> Bool[np.ndarray, "draw layer head"]:
    """Draw sets of heads that have as many heads in each layer as a type has there.

    own: whether each head is of the type. Where a type fills a layer, so does every draw.
    """
    keys = np.random.default_rng(seed).random((draws, *own.shape))
    ranks = keys.argsort(axis=-1).argsort(axis=-1)
    return ranks < own.sum(axis=-1)[:, None]


def overlap(own: Bool[np.ndarray, "layer head"], drawn: Bool[np.ndarray, "draw layer head"]) -> float:
    """Mean share of the drawn heads that are of the type, 0 to 1."""
    return float((drawn & own).sum() / max(drawn.sum(), 1))


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
