"""Corrections for testing many things at once."""

import numpy as np
from scipy.stats import false_discovery_control


def holm(p: np.ndarray) -> np.ndarray:
    """P-values corrected so that with probability 0.95 none of those below 0.05 is wrong.

    p: [test]; NaN is no test, and stays NaN. Holm 1979, A simple sequentially rejective multiple test procedure; it
    holds however the tests depend on one another.
    """
    p = np.asarray(p, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    corrected = np.full(p.shape, np.nan)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return corrected


def false_discovery_rates(p: np.ndarray) -> np.ndarray:
    """P-values corrected so that of those below 0.05 at most 5 % are wrong on average.

    p: [test]; NaN is no test, and stays NaN. Benjamini and Hochberg 1995 show it for independent tests, and
    Benjamini and Yekutieli 2001 under positive regression dependence, which is assumed of drops from one baseline over
    the same questions.
    """
    p = np.asarray(p, dtype=float)
    tested = ~np.isnan(p)
    corrected = np.full(p.shape, np.nan)
    if tested.any():
        corrected[tested] = false_discovery_control(p[tested])
    return corrected
