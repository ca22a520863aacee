"""The files of heads in random company: scores without sets of heads, and the cost of each head."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from headtypes.core.files import StrPath, read_json, undamaged
from headtypes.core.hdf5_files import Stored
from headtypes.core.table_files import table_reader

# In models of more layers, a set has heads of some layers, so that costs compare a head with all heads of the model.
DEEP = 12


@dataclass(frozen=True)
class Company:
    """The scores of each unit (a question, pair or document) without each set of heads, and with all heads.

    away: [set, layer, head] bool, the heads that a set leaves out. scores: [set, unit, metric], without these heads.
    whole: [unit, metric], with all heads. metrics: `loss` (cross entropy of the right answer, in nats) and names of
    `METRICS`. sizes: [unit] number of tokens of a document, whose scores are sums over tokens; 1 for other units.
    articles: each unit's article, empty if unknown. made: JSON of code, inputs and settings but the number of sets.
    """

    away: Bool[np.ndarray, "set layer head"]
    scores: Float[np.ndarray, "set unit metric"]
    whole: Float[np.ndarray, "unit metric"]
    sizes: Float[np.ndarray, " unit"]
    metrics: Annotated[list[str], Stored("metric", "metric")]
    units: Annotated[list[str], Stored("unit_id", "unit")]
    articles: Annotated[list[str], Stored("article", "unit")]
    made: str = ""

    def lost(self, metric: str) -> np.ndarray:
        """Return how much worse each unit is in a metric without each set of heads, [set, unit]; positive is worse."""
        index = self.metrics.index(metric)
        lost = self.scores[..., index] - self.whole[:, index]
        return lost if metric == LOSS else -lost


LOSS = "loss"
_COSTS = ("cost", "standard_error", "low", "high", "p", "p_holm")
_read_costs = table_reader(
    "holds no costs of heads", dict.fromkeys(("layer", "head", "away"), int) | dict.fromkeys(_COSTS, float)
)


def read_costs(path: StrPath) -> pd.DataFrame:
    return _read_costs(path).sort_values(["layer", "head"], ignore_index=True)


_LABELS = {"family": str, "label": str, "heads": int, **dict.fromkeys(("statistic", "p", "p_beyond"), float)}
read_labels = table_reader("compares no labels with costs", _LABELS, rows=0)
_FIT = ("sets", "units", "away", "penalty", "whole", "set_cost", "r2", "held_out", "halves", "half", "pair")


def read_fit(path: StrPath) -> dict:
    with undamaged(path, "does not say how costs add up"):
        fit = read_json(path)
        return {name: fit[name] for name in _FIT}
