"""Distance features (Guan et al. 2020, section 3): their columns and resolution, and their file."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int, Shaped

from headtypes.attention.reducers import Of
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import SampleIds, opened_arrays, read_arrays
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
    """Return distance features with fewer distance bins: [..., column], the bins, self, cls, sep, comma, period.

    features: shares of attention with 64 bins. distance_bins: number of bins, a divisor of 64.
    first: the part of each share that goes to the first token, if the first token is to count as `[CLS]`.
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
    """The attention of n heads, or of n centroids, summed into three shares, [n] each.

    special: to `[CLS]`, `[SEP]`, comma and period. near: to other tokens less than one distance bin (sample length /
    number of bins) away, such as the token itself. far: to all others. Compare shares only for equal numbers of bins.
    """

    near: np.ndarray
    special: np.ndarray
    far: np.ndarray


def attention_groups(features: np.ndarray) -> Groups:
    """Return each head's shares of attention to special, near and far tokens, from [head, column] distance features.

    special: `[CLS]`, `[SEP]`, comma, period. near: other tokens at distance 0 or in the nearest bin. far: all others.
    """
    features = features.astype(float)
    bins = features.shape[-1] - len(SELF_AND_SPECIAL)
    return Groups(
        near=features[:, 0] + features[:, bins],
        special=features[:, bins + 1 :].sum(axis=1),
        far=features[:, 1:bins].sum(axis=1),
    )


def lacks_cls(kinds: Sequence[np.ndarray]) -> bool:
    """Return whether no sample has a `[CLS]`, so that the first token can count as one.

    kinds: for each sample [token] 1 for `[CLS]`, 2 for `[SEP]`, 3 for a comma, 4 for a period, 0 for other tokens.
    """
    cls = 1 + SPECIAL_KINDS.index("cls")
    return not any((of_sample == cls).any() for of_sample in kinds)


# The column, one-hot, that counts each query's attention to the first token.
def first_columns(kinds: Sequence[np.ndarray]) -> Float32[np.ndarray, f"sample query {COLUMNS}"]:
    one_hot = np.zeros((len(kinds), max(map(len, kinds)), COLUMNS), np.float32)
    for of_sample, rows in zip(kinds, one_hot, strict=True):
        query, length = np.arange(len(of_sample)), len(of_sample)
        column = np.where(query > 0, query * FINE_BINS // length, FINE_BINS)
        rows[query, FINE_BINS + of_sample[0] if of_sample[0] > 0 else column] = 1
    return one_hot


def split(read: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (features, first), both [..., 69]; `first`: the part of each feature that goes to the first token.

    read: a result of `DistanceFeatures`: [..., 138], or [..., 69] if the parts were not read; `first` is then None.
    """
    return read[..., :COLUMNS], read[..., COLUMNS:] if read.shape[-1] > COLUMNS else None


# The data sets of shares, and of their parts that go to the first token, named as in `Features`. Only the first is in
# every file.
SHARES = {"weights": ("distance", "first"), "norms": ("norms", "norms_first")}


@dataclass(frozen=True)
class Features:
    """The distance features of every head on every sample, [sample, layer, head, column].

    distance: share of attention in 64 distance bins, self, `[CLS]`, `[SEP]`, comma and period; a row sums to one,
        together with the share that goes to no token.
    first: the part of each share that goes to the first token, if no sample has a `[CLS]`; else None.
    norms, norms_first: as `distance` and `first`, of norms instead of weights (`attention.norms`); None if not read.
    """

    distance: Float32[np.ndarray, f"sample layer head {COLUMNS}"]
    length: Int[np.ndarray, " sample"]
    truncated: Bool[np.ndarray, " sample"]
    sample_ids: SampleIds
    first: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None
    norms: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None
    norms_first: Float32[np.ndarray, f"sample layer head {COLUMNS}"] | None = None


def read_features(path: StrPath) -> Features:
    return read_arrays(path, Features)


def has_first_token(path: StrPath) -> bool:
    """Return whether a file of features has the attention to the first token: it does if no sample has a `[CLS]`."""
    with opened_arrays(path, Features) as file:
        return "first" in file


def read_lengths(path: StrPath) -> np.ndarray:
    with opened_arrays(path, Features) as file:
        return file["length"][:]


def read_distance(path: StrPath, distance_bins: int, first_token: bool = True, of: Of = "weights") -> np.ndarray:
    """Return the distance features of every sample in a file: [sample, head, column] float32, heads layer by layer.

    distance_bins: number of bins, a divisor of 64; self, cls, sep, comma and period follow the bins as columns.
    of: whether features of weights or of norms are read; raises `InputError` if the file holds no norms.
    first_token: whether the first token counts as `[CLS]`, if the file holds the attention to the first token.
    """
    with opened_arrays(path, Features) as file:
        distance, first = (file.get(name) for name in SHARES[of])
        if distance is None:
            raise InputError(f"{path} holds no norms; extract the features again with clustering.of: [weights, norms].")
        first = first if first_token else None
        read = np.empty((*distance.shape[:-1], distance_bins + COLUMNS - FINE_BINS), np.float32)
        for block in distance.iter_chunks():
            read[block[0]] = head_features(distance[block], distance_bins, None if first is None else first[block])
        return read.reshape(len(read), -1, read.shape[-1])


def read_head_features(
    path: StrPath, distance_bins: int, first_token: bool = True, of: Of = "weights"
) -> tuple[np.ndarray, tuple[int, int]]:
    """Return (features, shape): distance features of heads, means over the samples of a file, and (layers, heads).

    features: [head, column], layer by layer; columns: bins, self, cls, sep, comma, period. distance_bins: number of
    bins. first_token: whether the first token counts as `[CLS]` if no sample has one. of: features of weights or norms.
    """
    with opened_arrays(path, Features) as file:
        shape = file["distance"].shape[1:3]
    return read_distance(path, distance_bins, first_token, of).mean(0, dtype=np.float64), shape
