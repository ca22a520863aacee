"""The tables from which a reader chooses the number of types and the method."""

import math
from dataclasses import dataclass

import pandas as pd

from headtypes.core.files import StrPath
from headtypes.core.table_files import read_csv

STABILITY = tuple(f"{half}_{name}" for half in ("heads", "samples", "pairs") for name in ("all_agree", "pairwise"))
TABLE = ("method", "k", "distance_bins", "smallest", "silhouette", "gap", "gap_error", *STABILITY, "chance")
AGREEMENT = ("method", "distance_bins", "other_method", "other_distance_bins", "k", "adjusted_rand")
_OTHERWISE = "is not a comparison of clusterings"
BEST = ("method", "silhouette_k", "silhouette", "gap_k", "heads_k", "heads_kappa", "samples_k", "samples_kappa")


@dataclass(frozen=True)
class Choice:
    """Criteria for every way of clustering.

    table: one row per way, with the columns `TABLE`: heads in the smallest cluster; mean silhouette; and, for
        one number of distance bins, the gap statistic and its standard error, the values of
        `stability.measure_stability`, and chance, the percent of heads to which two models would give the same
        cluster if each drew clusters at random with the shares of this clustering. For k = 1 there is only the gap.
        NaN if a method fails to divide the heads, halves of them, or the references into k clusters; over halves of
        pairs for all but the `choice.PAIR_COUNTS` of k-means, since fits to so many points take long.
    agreement: columns `AGREEMENT`: adjusted Rand index (Hubert and Arabie 1985) of two ways that differ either
        in the method or in the distance bins; 1 for the same clusters, about 0 for unrelated ones. The last rows are
        of k-means and mixtures with other covariances (`names.MIXTURES`).
    best: columns `BEST`: for each method the k with the largest silhouette, the k that `gap_choice` finds, and
        the ks with the largest kappa over halves of heads and of samples: pairwise agreement corrected
        for chance, 1 for perfect, 0 for random (Cohen 1960), since uncorrected agreement rises as clusters get fewer.
        Among equal values the largest k.
    """

    table: pd.DataFrame
    agreement: pd.DataFrame
    best: pd.DataFrame


def read_choice(ways: StrPath, agreement: StrPath, best: StrPath) -> Choice:
    """Read the three tables of a `Choice`. Raises `InputError` that names a damaged file."""
    return Choice(read_ways(ways), read_agreement(agreement), read_best(best))


def read_ways(path: StrPath) -> pd.DataFrame:
    """Read the first of the three tables alone. Raises `InputError` as `read_choice` does."""
    return read_csv(path, _OTHERWISE, TABLE)


def read_agreement(path: StrPath) -> pd.DataFrame:
    """Read the second of the three tables alone. Raises `InputError` as `read_choice` does."""
    return read_csv(path, _OTHERWISE, AGREEMENT)


def read_best(path: StrPath) -> pd.DataFrame:
    """Read the third of the three tables alone. Raises `InputError` as `read_choice` does."""
    counted = dict.fromkeys([column for column in BEST if column.endswith("_k")], "Int64")
    return read_csv(path, _OTHERWISE, BEST, dtype=counted)


def gap_beyond_one(ways: pd.DataFrame, k: int | None) -> tuple[float, float] | None:
    """The gap statistic of k clusters less that of a single one, and its standard error; None where there is none.

    ways: the rows of `Choice.table` for one method and one number of distance bins.
    """
    by_k = ways.set_index("k")
    if not {1, k} <= set(by_k.index):
        return None
    gap, error = by_k.loc[k, "gap"] - by_k.loc[1, "gap"], math.hypot(*by_k.loc[[1, k], "gap_error"])
    return None if math.isnan(gap) else (gap, error)
