"""What the page of kinds of heads shows: a row for each model, a column for each kind, in each cell the heads."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from headtypes.comparisons.heads.kinds import said_of
from headtypes.core.tables import probability


class Cell(NamedTuple):
    """Heads of a model that are of a kind, as the atlas names them; shade: how many they are, from 0 to 1."""

    heads: list[str]
    shade: float


def page_of(task: str, heads: pd.DataFrame, kinds: pd.DataFrame, families: Mapping[str, str]) -> dict[str, Any]:
    """The values of the template.

    heads: model, layer, head (both from 0) and kind of each head, the models in their order; kinds: as
        `comparisons.heads.kinds.kinds_table` makes it; families: of the models.
    """
    columns = [*kinds["kind"], 0] if len(kinds) else []
    names = (heads["layer"] + 1).astype(str) + "-" + (heads["head"] + 1).astype(str)
    of_cell = names.groupby([heads["model"], heads["kind"]], sort=False).agg(list)
    most = of_cell[of_cell.index.get_level_values("kind") > 0].str.len().max()

    def cell(model: str, kind: int) -> Cell | None:
        found = of_cell.get((model, kind))
        return found and Cell(found, np.sqrt(len(found) / most) if kind else 0)

    return {
        "title": f"Kinds of heads: {task}",
        "task": task,
        "heads": len(heads),
        "kinds": len(kinds),
        "nothing": said_of(len(heads)) or "No kind of heads stands out.",
        "columns": [*kinds["looks"], "of no kind"],
        "rows": [
            (model, family if (family := families[model]) != model else "", [cell(model, kind) for kind in columns])
            for model in heads["model"].unique()
        ],
        "numbers": {
            "heads": kinds["heads"].tolist(),
            "models": kinds["models"].tolist(),
            "families": kinds["families"].tolist(),
            "models by chance": [
                f"{low:.0f} to {high:.0f}" for low, high in kinds[["random_low", "random_high"]].itertuples(index=False)
            ],
            "p": [probability(value) for value in kinds["p_holm"]],
        },
    }
