"""The picture of docs/understand/results.md, from the tables behind that page; `make docs` draws it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import PAGE, legend_key, save_figure, styled

RESULTS = Path(__file__).parent
RUNS = {"squad-500": "MiniLM, SQuAD", "mpnet-squad": "MPNet, SQuAD"}


def plot_costs(axes: Axes, heads: pd.DataFrame) -> None:
    """Each head's cost by its attention to the same word; the two costliest and the two with most of it are named."""
    for of_type, style in type_styles(TYPES).items():
        some = heads[heads["type"] == of_type]
        axes.plot(some["same_other"], some["cost"], style.marker, color=style.colour, markersize=4, alpha=0.8)
    named = pd.concat([heads.nlargest(2, column) for column in ("cost", "same_other")]).drop_duplicates("name")
    for head in named.itertuples():
        axes.annotate(head.name, (head.same_other, head.cost), (0, 6), textcoords="offset points", ha="center")
    axes.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    axes.set_xlabel("% of a word's attention to the same word in the other text")


@styled
def picture() -> Figure:
    """What each head costs in random company, by what it gives to the same word, in each model."""
    figure = Figure(figsize=(PAGE, 2.4), layout="constrained")
    table = pd.read_csv(RESULTS / "company/heads.csv")
    for axes, (run, title) in zip(figure.subplots(1, len(RUNS), sharex=True, sharey=True), RUNS.items(), strict=True):
        plot_costs(axes, table[table["run"] == run])
        axes.set_title(title)
    figure.axes[0].set_ylabel("cost (nats)")
    keys = [
        legend_key(color=style.colour, marker=style.marker, linestyle="", label=of_type)
        for of_type, style in type_styles(TYPES).items()
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=len(keys))
    return figure


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        save_figure(picture(), Path(folder) / "results.svg", RESULTS.parent / "images/results.png", {})
