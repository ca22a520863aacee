"""Which properties of models go with a claim: does it hold more often in large, deep or causal models?"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from headtypes.core.statistics import holm
from headtypes.papers.ledger.models import FEWEST_FAMILIES, UNTRAINED, verdicts_of_models
from headtypes.papers.ledger.table import CLAIM
from headtypes.papers.quantities import FAILS, HOLDS, OPEN

DRAWS = 10_000
# A claim that is open may hold or not.
_HELD = {HOLDS: 1.0, OPEN: 0.5, FAILS: 0.0}
COLUMNS = [*CLAIM, "claim", "property", "families", "correlation", "p", "p_holm"]


def properties_of(records: Mapping[str, Mapping]) -> pd.DataFrame:
    """Numbers of each model, a row each: its parameters, layers, heads in all, and whether it is causal (0 or 1).

    records: what `models.records` writes of each model.
    """
    rows = {
        name: {
            "parameters": record["parameters"],
            "layers": record["layers"],
            "heads": record["layers"] * record["heads"],
            "causal": int(record["causal"]),
        }
        for name, record in records.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def properties_table(ledger: pd.DataFrame, properties: pd.DataFrame, seed: int) -> pd.DataFrame:
    """How each property goes with each claim, beside what chance gives.

    ledger: as `table.ledger_table` makes it; properties: a number in each column for each model; seed: of the draws.
    returns the columns `COLUMNS`, a row for each claim and property that differ between at least `FEWEST_FAMILIES`
      families with a verdict. correlation: of the share of a family's models in which the claim holds with the mean of
      the property over them, by ranks (Spearman), from -1 to 1; p: two-sided, by permutations of the families, so that
      models of one family count as one; p_holm: corrected for the number of rows. Networks of the family `UNTRAINED`
      do not count.
    """
    rng, rows = np.random.default_rng(seed), []
    for (paper, id_), cells in ledger[ledger["family"] != UNTRAINED].groupby(CLAIM, sort=False):
        models = verdicts_of_models(cells)
        held = models["verdict"].map(_HELD).astype(float).groupby(models["family"]).mean()
        if len(held) < FEWEST_FAMILIES or held.nunique() < 2:
            continue
        of_families = properties.reindex(models.index).groupby(models["family"]).mean()
        ranks = _ranks(held.to_numpy())
        drawn = ranks[rng.permuted(np.tile(np.arange(len(ranks)), (DRAWS, 1)), axis=1)]
        for name, values in of_families.items():
            if values.nunique() < 2:
                continue
            of_property = _ranks(values.to_numpy())
            found = ranks @ of_property
            # Sums that are equal but for rounding are equal.
            as_far = (np.abs(drawn @ of_property) >= abs(found) - 1e-9).sum()
            said = [paper, id_, cells["claim"].iloc[0], name, len(held)]
            rows.append([*said, found, (1 + as_far) / (1 + DRAWS)])
    table = pd.DataFrame(rows, columns=COLUMNS[:-1])
    return table.assign(p_holm=holm(table["p"].to_numpy(dtype=float)))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks about their mean, with length 1, so that the product of two of them is their correlation."""
    ranks = rankdata(values)
    centred = ranks - ranks.mean()
    return centred / np.linalg.norm(centred)
