"""A value with a standard error of 1."""

from scipy.stats import norm

from headtypes.core.statistics import Measured


def with_error(value: float) -> Measured:
    half = norm.isf(0.025)
    return Measured(value, value - half, value + half, lambda limit: 2 * float(norm.sf(abs(value - limit))))
