"""Bootstrap intervals by a loop over the same draws."""

import numpy as np
from scipy import stats


def naive_bounds(values, units, level=0.95, seed=3, resamples=400):
    """A loop over resamples of units (lists of questions), the means taken question by question."""
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(units), size=len(units))
        questions = [question for unit in drawn for question in units[unit]]
        means.append(sum(values[question] for question in questions) / len(questions))
    effective = len(values) ** 2 / sum(len(unit) ** 2 for unit in units)
    widened = stats.t(effective - 1).ppf((1 - level) / 2) * np.sqrt(effective / (effective - 1))
    tail = stats.norm.cdf(widened)
    return np.quantile(means, tail), np.quantile(means, 1 - tail)


def units_of(articles):
    return [np.flatnonzero(np.array(articles) == name).tolist() for name in sorted(set(articles))]
