"""A claim across models: in how many of them it holds, with an interval over families of models."""

import math
from collections import defaultdict
from collections.abc import Iterable

import pandas as pd
from scipy.special import betaincinv

from headtypes.core.statistics import ALPHA
from headtypes.papers.ledger.table import CLAIM
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, OPEN, VERDICTS

# Were a claim to hold in all of fewer families, its interval would still reach below one half.
FEWEST_FAMILIES = 6
# The family of networks of random weights, which are no models of anything: what holds in them was not learnt.
UNTRAINED = "untrained"
_SAID = [*CLAIM, "basis", "place", "claim"]
COLUMNS = [
    *(*_SAID, "cells", *(f"cells_{verdict.replace(' ', '_')}" for verdict in VERDICTS)),
    *("models", "models_hold", "models_fail", "models_open", "families", "low", "high"),
    *("untrained", "untrained_hold"),
]


def over_models(ledger: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts on each claim over all cells, and over models.

    Returns the columns `COLUMNS`, a row for each claim in the ledger's order. cells: their number, and by verdict.
    models: those with a verdict in some cell. A claim holds in a model (models_hold) if it does in each of these cells,
    fails if it does in each, and is open otherwise; and where it holds in most untrained networks, that it holds says
    nothing of training, and is open too. families: of these models; low, high: the interval of the share of models in
    which it holds (`share_interval`), in percent; NaN without such models. untrained, untrained_hold: of networks of
    the
    family `UNTRAINED`, which count nowhere else but in the cells.
    """
    rows = []
    for _, cells in ledger.groupby(CLAIM, sort=False):
        counts = cells["verdict"].value_counts().reindex(VERDICTS, fill_value=0)
        of_models = verdicts_of_models(cells)
        is_untrained = of_models["family"] == UNTRAINED
        untrained = [int(is_untrained.sum()), int((of_models["verdict"][is_untrained] == HOLDS).sum())]
        of_models = of_models[~is_untrained]
        if 2 * untrained[1] > untrained[0]:
            of_models = of_models.replace({"verdict": {HOLDS: OPEN}})
        number = [int((of_models["verdict"] == verdict).sum()) for verdict in (HOLDS, FAILS, OPEN)]
        low, high = share_interval(of_models["verdict"], of_models["family"])
        said = cells.iloc[0][_SAID].tolist()
        families = of_models["family"].nunique()
        rows.append([*said, len(cells), *counts, len(of_models), *number, families, 100 * low, 100 * high, *untrained])
    return pd.DataFrame(rows, columns=COLUMNS)


def verdicts_of_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return verdict and family of each model with a verdict on one claim; open where its cells disagree."""
    grouped = cells[cells["verdict"] != NO_VERDICT].groupby("model", sort=False)
    of_models = grouped[["verdict", "family"]].first()
    return of_models.assign(verdict=of_models["verdict"].mask(grouped["verdict"].nunique().gt(1), OPEN))


def share_interval(verdicts: Iterable[str], families: Iterable[str]) -> tuple[float, float]:
    """Return a 95 % interval of the share of models in which a claim is true, from some of their families.

    Families are what is drawn: each gives the share of its models in which the claim holds, and the mean of these
    shares has the exact interval of a proportion of so many draws (Clopper and Pearson 1934). No shares between 0 and 1
    scatter more than draws that are either, so that nothing need be known of how alike the models of a family are. An
    open verdict may be true or not: the lower end takes it for false, the upper end for true. NaN, NaN without models.
    """
    of_families: dict[str, list[str]] = defaultdict(list)
    for verdict, family in zip(verdicts, families, strict=True):
        of_families[family].append(verdict)
    if not of_families:
        return math.nan, math.nan
    drawn = len(of_families)
    least = sum(own.count(HOLDS) / len(own) for own in of_families.values())
    most = drawn - sum(own.count(FAILS) / len(own) for own in of_families.values())
    low = betaincinv(least, drawn - least + 1, ALPHA / 2) if least > 0 else 0.0
    high = betaincinv(most + 1, drawn - most, 1 - ALPHA / 2) if most < drawn else 1.0
    return float(low), float(high)
