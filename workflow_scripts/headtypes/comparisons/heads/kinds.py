"""Kinds of heads over models: heads that do the same, wherever they stand; and in how many models each kind occurs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from headtypes.comparisons.heads.profiles import Profiles
from headtypes.comparisons.heads.settings import MOST_HEADS
from headtypes.core.statistics import ALPHA, holm

DRAWS = 10_000
# Of the table of kinds.
COLUMNS = ("kind", "looks", "heads", "models", "families", "random", "random_low", "random_high", "p", "p_holm")
# How far apart the heads of a kind are on average at most. Two heads of which nothing but the distance feature is known
# then share 95 % of their attention, by Bhattacharyya's coefficient.
_ALIKE = 0.3
# A kind has this many heads at least, and as many as half of the models.
_FEWEST = 4
# Columns that tell a kind from other heads, in its description.
_NAMED = 2


def find_kinds(profiles: Profiles) -> np.ndarray:
    """The kind of each head: heads that do much the same, of whatever model and layer; [head].

    Two heads are as far apart as they are in what tells them most: their attention, or any one of the shares that stand
    alone. In attention they are as far apart as the square roots of its shares (for shares of one whole, √2 times
    Hellinger's distance), and in one of p and one of q by |arcsin √p - arcsin √q|, which is nearly the same of p and
    1 - p. They are grouped by average linkage, as far as groups are at most `_ALIKE` apart; a group of too few heads
    is none. Of more than `MOST_HEADS`, whose distances would fill the memory, none is looked for.
    returns from 1, the kinds that are in most models first; 0 for heads of no kind.
    """
    numbers = np.zeros(len(profiles.heads), dtype=int)
    if too_many := said_of(len(numbers)):
        print(too_many)
    if len(numbers) < _FEWEST or too_many:
        return numbers
    found = fcluster(linkage(_apart(profiles), "average"), _ALIKE, "distance")
    of_kind = profiles.heads["model"].groupby(found).agg(["nunique", "size"])
    of_kind = of_kind[of_kind["size"] >= max(_FEWEST, profiles.heads["model"].nunique() // 2)]
    order = of_kind.sort_values(["nunique", "size"], ascending=False, kind="stable").index
    for number, kind in enumerate(order, start=1):
        numbers[found == kind] = number
    return numbers


def said_of(heads: int) -> str:
    """That so many heads are too many to group, in a sentence; empty where they are not."""
    if heads <= MOST_HEADS:
        return ""
    return f"{heads:,} heads are more than the {MOST_HEADS:,} whose kinds are looked for; select fewer models."


def _apart(profiles: Profiles) -> np.ndarray:
    """How far apart every two heads are, as SciPy condenses distances."""
    attention, alone = np.split(_roots(profiles), [len(profiles.columns) - profiles.alone], axis=1)
    apart = pdist(attention)
    # A sum over so many shares would add up their noise, and a mean would hide the one that a head is known by.
    return np.maximum(apart, pdist(np.arcsin(np.minimum(alone, 1)), "chebyshev"), out=apart)


def _roots(profiles: Profiles) -> np.ndarray:
    # Sums that are rounded may be a last bit below zero.
    return np.sqrt(np.maximum(profiles.shares, 0))


def kinds_table(profiles: Profiles, kinds: np.ndarray, families: Mapping[str, str], seed: int) -> pd.DataFrame:
    """In how many models each kind occurs, beside as many heads that are drawn from all models.

    kinds: as `find_kinds` gives them; families: of the models; seed: of the draws.
    returns kind, looks: the shares by which it differs most from all heads; heads, models, families: how many;
      random, random_low, random_high: in how many models as many heads of all models' are that are drawn at random, on
      average and in 95 % of the draws; p: two-sided, that so many would be; p_holm: corrected for the number of kinds.
    """
    rng, rows = np.random.default_rng(seed), []
    sizes = profiles.heads["model"].value_counts(sort=False).to_numpy()
    roots = _roots(profiles)
    for kind in range(1, kinds.max(initial=0) + 1):
        own = kinds == kind
        models = profiles.heads["model"][own].unique()
        random = (rng.multivariate_hypergeometric(sizes, own.sum(), size=DRAWS) > 0).sum(1)
        tails = [1 + (random >= len(models)).sum(), 1 + (random <= len(models)).sum()]
        low, high = np.quantile(random, [ALPHA / 2, 1 - ALPHA / 2])
        shares, excess = profiles.shares[own].mean(0), roots[own].mean(0) - roots.mean(0)
        above = [column for column in np.argsort(-excess, kind="stable")[:_NAMED] if excess[column] > 0]
        rows.append(
            {
                "kind": kind,
                "looks": ", ".join(f"{100 * shares[column]:.0f} % {profiles.columns[column]}" for column in above),
                "heads": int(own.sum()),
                "models": len(models),
                "families": len({families[model] for model in models}),
                "random": random.mean(),
                "random_low": low,
                "random_high": high,
                "p": min(1.0, 2 * min(tails) / (1 + DRAWS)),
            }
        )
    table = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    return table.assign(p_holm=holm(table["p"].to_numpy(dtype=float)))
