"""The columns of the distance feature (Guan et al. 2020, section 3), and their resolution."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Shaped

from headtypes.data.encoding import SPECIAL_KINDS

# The stored bins can be summed into any number of bins that divides this one, since, for example,
# floor(floor(64 d / L) / 4) == floor(16 d / L).
FINE_BINS = 64
SELF_AND_SPECIAL = ("self", *SPECIAL_KINDS)
COLUMNS = FINE_BINS + len(SELF_AND_SPECIAL)
_CLS = FINE_BINS + SELF_AND_SPECIAL.index("cls")


def head_features(
    features: Shaped[np.ndarray, f"*any {COLUMNS}"],
    distance_bins: int,
    first: Shaped[np.ndarray, f"*any {COLUMNS}"] | None = None,
) -> Shaped[np.ndarray, "*any column"]:
    """Bring stored features to a number of distance bins.

    features: shares, as extraction stores them.
    distance_bins: N, a divisor of 64.
    first:    the part of each share that goes to the first token, where that is to count as `[CLS]`.
    returns   in the dtype given: the bins, and `SELF_AND_SPECIAL`.
    """
    if FINE_BINS % distance_bins:
        raise ValueError(f"{distance_bins} distance bins do not divide the {FINE_BINS} that are stored")
    if first is not None:
        # Both are rounded sums, so that what remains may be a last bit below zero.
        features = np.maximum(features - first, 0)
        features[..., _CLS] += first.sum(-1)
    fine = features[..., :FINE_BINS]
    coarse = fine.reshape(*fine.shape[:-1], distance_bins, FINE_BINS // distance_bins).sum(-1)
    return np.concatenate([coarse, features[..., FINE_BINS:]], axis=-1)


@dataclass(frozen=True)
class Groups:
    """Attention of n heads, or centroids of heads, in three groups that sum to one, or less if some goes to no token.

    near, special, far: [n] shares: to the token itself and bin 0; to `[CLS]`, `[SEP]`, comma and period; to others.
    """

    near: np.ndarray
    special: np.ndarray
    far: np.ndarray


def attention_groups(features: np.ndarray) -> Groups:
    """Sum head features [n, column], bins 0..N-1 and `SELF_AND_SPECIAL`, into near, special and far.

    The width of bin 0, and so what near covers, depends on N: compare groups only for equal N.
    """
    features = features.astype(float)
    bins = features.shape[-1] - len(SELF_AND_SPECIAL)
    return Groups(
        near=features[:, 0] + features[:, bins],
        special=features[:, bins + 1 :].sum(axis=1),
        far=features[:, 1:bins].sum(axis=1),
    )


def lacks_cls(kinds: Sequence[np.ndarray]) -> bool:
    """Tell whether encoded samples, with these kinds of tokens, have no `[CLS]`, whose place the first can take.

    Decoders attend to the first token of a text, whatever it is, as BERT does to `[SEP]` (Xiao et al. 2024, "attention
    sinks"). By the definition of Guan et al. (2020), this token counts as any other.
    """
    cls = 1 + SPECIAL_KINDS.index("cls")
    return not any((of_sample == cls).any() for of_sample in kinds)


def first_columns(kinds: Sequence[np.ndarray]) -> Float32[np.ndarray, f"sample query {COLUMNS}"]:
    """Return the column in which the attention of each query to the first token is stored, one-hot.

    kinds: of the tokens of each sample, [token]; rows of queries beyond a sample's length are zero.
    """
    one_hot = np.zeros((len(kinds), max(map(len, kinds)), COLUMNS), np.float32)
    for of_sample, rows in zip(kinds, one_hot, strict=True):
        query, length = np.arange(len(of_sample)), len(of_sample)
        column = np.where(query > 0, query * FINE_BINS // length, FINE_BINS)
        rows[query, FINE_BINS + of_sample[0] if of_sample[0] > 0 else column] = 1
    return one_hot


def split(read: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Divide features [..., column] from their parts that go to the first token, if these were read: [..., 2 x
    column].
    """
    return read[..., :COLUMNS], read[..., COLUMNS:] if read.shape[-1] > COLUMNS else None
