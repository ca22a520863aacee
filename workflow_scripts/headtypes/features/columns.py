"""The columns of the distance feature (Guan et al. 2020, section 3), and their resolution."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Shaped

from headtypes.tasks.tokens import SPECIAL_KINDS

# The stored bins can be summed into any number of bins that divides this one, since, for example,
# floor(floor(64 d / L) / 4) == floor(16 d / L).
FINE_BINS = 64
SELF_AND_SPECIAL = ("self", "cls", "sep", "comma", "period")
COLUMNS = FINE_BINS + len(SELF_AND_SPECIAL)


def head_features(
    features: Shaped[np.ndarray, "*any 69"], distance_bins: int
) -> Shaped[np.ndarray, "*any {distance_bins}+5"]:
    """Bring stored features to a number of distance bins.

    features: shares, as extraction stores them.
    distance_bins: N, a divisor of 64.
    returns   in the dtype given: bins, self, cls, sep, comma, period.
    """
    if FINE_BINS % distance_bins:
        raise ValueError(f"{distance_bins} distance bins do not divide the {FINE_BINS} that are stored")
    fine = features[..., :FINE_BINS]
    coarse = fine.reshape(*fine.shape[:-1], distance_bins, FINE_BINS // distance_bins).sum(-1)
    return np.concatenate([coarse, features[..., FINE_BINS:]], axis=-1)


@dataclass(frozen=True)
class Groups:
    """Attention of n heads, or centroids of heads, in three groups that sum to one.

    near, special, far: [n] shares: to the token itself and bin 0; to `[CLS]`, `[SEP]`, comma and period;
        to the rest.
    """

    near: np.ndarray
    special: np.ndarray
    far: np.ndarray


def attention_groups(features: np.ndarray) -> Groups:
    """Sum head features into near, special and far.

    features: [n, N + 5] distance features: bins 0..N-1, self, cls, sep, comma, period. The
        width of bin 0, and so what near covers, depends on N: compare groups only for equal N.
    """
    features = features.astype(float)
    bins = features.shape[-1] - len(SPECIAL_KINDS) - 1
    return Groups(
        near=features[:, 0] + features[:, bins],
        special=features[:, bins + 1 :].sum(axis=1),
        far=features[:, 1:bins].sum(axis=1),
    )
