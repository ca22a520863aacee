"""A model's gradients by kind of token, and the file that holds them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from headtypes.core.files import StrPath, undamaged
from headtypes.core.table_files import head_table, table_reader

# Kinds of the attended token, as Clark et al. 2019 count them in Figure 3.
ATTENDED = ("sep", "cls", "punctuation", "other", "all")
_read_table = table_reader(
    "holds no gradients by kind of token",
    {"layer": int, "head": int, **dict.fromkeys(ATTENDED, float), "loss": str, "samples": int, "reason": str},
)


@dataclass(frozen=True)
class Gradients:
    """Each head's mean |dLoss / dA| over its attention A to each kind of token (Clark et al. 2019, section 3.2).

    values: [layer, head, kind], with the kinds `[SEP]`, `[CLS]`, comma or period, other tokens, and all tokens.
    """

    # [layer, head, kind] mean of |dLoss / dA|, in the order of `ATTENDED`; NaN where no sample has such a token.
    values: np.ndarray
    loss: str | None
    samples: int
    # Why nothing was measured, in words that follow `the model`.
    reason: str | None = None

    @property
    def warnings(self) -> list[str]:
        return [] if self.reason is None else [f"nothing is measured: the model {self.reason}."]

    def table(self) -> pd.DataFrame:
        layers, heads, _ = self.values.shape
        kinds = dict(zip(ATTENDED, self.values.reshape(layers * heads, -1).T, strict=True))
        columns = {**kinds, "loss": self.loss, "samples": self.samples, "reason": self.reason}
        return head_table((layers, heads), columns)


def read_gradients(path: StrPath) -> Gradients:
    table = _read_table(path).sort_values(["layer", "head"])
    with undamaged(path, "lacks the gradients of some heads"):
        values = table[list(ATTENDED)].to_numpy().reshape(table["layer"].max() + 1, -1, len(ATTENDED))
        first = table.iloc[0]
        return Gradients(values, first["loss"] or None, int(first["samples"]), first["reason"] or None)
