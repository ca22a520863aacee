"""Which kinds of heads are in which models, as a figure."""

from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headtypes.comparisons.heads.kinds import said_of
from headtypes.core.statistics import ALPHA
from headtypes.core.style import ATTENTION_COLOURS, PAGE, SMALL, styled

# Inches: a cell, a further line of a kind's name, the names at the left, what stands at the right, the models' names.
_ROW, _LINE, _COLUMN, _LEFT, _RIGHT, _ABOVE = 0.17, 0.07, 0.22, 3.3, 0.5, 1.2
# Letters of a line of a name.
_LETTERS = 58
# Kinds that fit on a page; the table has all.
MOST = 40


@styled
def kinds_figure(heads: pd.DataFrame, kinds: pd.DataFrame) -> Figure:
    """Draw a row for each kind and a column for each model, with the number of the model's heads that are of it.

    heads: model and kind of each head, the models in their order; kinds: as `kinds.kinds_table` returns it. At the
        right stands in how many models a kind occurs; a star marks where these are more or fewer than as many random
        heads would be in, corrected for the number of kinds.
    """
    models, shown = heads["model"].unique(), kinds[:MOST]
    counts = pd.crosstab(heads["kind"], heads["model"]).reindex(index=shown["kind"], columns=models, fill_value=0)
    width = min(PAGE, _LEFT + _RIGHT + _COLUMN * len(models))
    names = [fill(looks, _LETTERS) for looks in shown["looks"]]
    height = _ROW + _LINE * max((name.count("\n") for name in names), default=0)
    figure = Figure(figsize=(width, _ABOVE + height * max(1, len(shown))), layout="constrained")
    axes = figure.subplots()
    if shown.empty:
        axes.text(0.5, 0.5, said_of(len(heads)) or "No kind of heads stands out.", ha="center", va="center")
        axes.set_axis_off()
        return figure
    values = counts.to_numpy()
    axes.imshow(np.sqrt(values), cmap=ATTENTION_COLOURS, vmin=0, vmax=1.6 * np.sqrt(values.max()), aspect="auto")
    for row, column in np.argwhere(values):
        axes.text(column, row, str(values[row, column]), ha="center", va="center", fontsize=SMALL - 1)
    axes.set_yticks(range(len(shown)), names)
    axes.set_xticks(range(len(models)), models, rotation=90)
    axes.xaxis.tick_top()
    right = axes.secondary_yaxis("right")
    marked = [f"{it.models}{' *' if it.p_holm < ALPHA else ''}" for it in shown.itertuples()]
    right.set_yticks(range(len(shown)), marked)
    right.set_ylabel("models in which it occurs")
    return figure
