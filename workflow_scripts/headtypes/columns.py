"""The columns of the distance feature (Guan et al. 2020, section 3), and their resolution."""

from dataclasses import dataclass

import numpy as np

# Every window count that divides this one follows from the stored columns, since
# floor(floor(64 d / L) / 4) == floor(16 d / L).
FINE_WINDOWS = 64
SELF_AND_SPECIAL = ("self", "cls", "sep", "comma", "period")
COLUMNS = FINE_WINDOWS + len(SELF_AND_SPECIAL)

# Kinds of tokens: 0 for an ordinary one, else the position in `SPECIAL_KINDS`, counted from 1.
SPECIAL_KINDS = ("cls", "sep", "comma", "period")


def head_features(features: np.ndarray, windows: int) -> np.ndarray:
    """Bring stored features to a number of windows.

    features: [..., 69] shares, as extraction stores them.
    windows:  a divisor of 64.
    returns   [..., windows + 5] in the dtype given: windows, self, cls, sep, comma, period.
    """
    if FINE_WINDOWS % windows:
        raise ValueError(f"{windows} windows do not divide the {FINE_WINDOWS} that are stored")
    fine = features[..., :FINE_WINDOWS]
    coarse = fine.reshape(*fine.shape[:-1], windows, FINE_WINDOWS // windows).sum(-1)
    return np.concatenate([coarse, features[..., FINE_WINDOWS:]], axis=-1)


@dataclass(frozen=True)
class Groups:
    """Attention of n heads, or centroids of heads, in three groups that sum to one.

    near, special, far: [n] shares: to the token itself and window 0; to `[CLS]`, `[SEP]`, comma and period;
        to the rest.
    """

    near: np.ndarray
    special: np.ndarray
    far: np.ndarray


def attention_groups(features: np.ndarray) -> Groups:
    """Sum head features into near, special and far.

    features: [n, N + 5] distance features: windows 0..N-1, self, cls, sep, comma, period. Window 0 is that of
        the resolution given, so near means the same only among features of equal N.
    """
    features = features.astype(float)
    windows = features.shape[-1] - len(SPECIAL_KINDS) - 1
    return Groups(
        near=features[:, 0] + features[:, windows],
        special=features[:, windows + 1 :].sum(axis=1),
        far=features[:, 1:windows].sum(axis=1),
    )
