"""The picture of docs/understand/results.md, from the tables behind that page; `make docs` draws it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from matplotlib.figure import Figure

from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import PAGE, legend_key, save_figure, styled
from headtypes.papers.comparison import read_named

RESULTS = Path(__file__).parent
MODELS = {
    "MiniLM": ("squad", "exact_match", "points of exact match"),
    "MPNet": ("mpnet", "exact_match", "points of exact match"),
    "SmolLM2": ("decoder", "loss", "nats a token"),
    "Gemma 3": ("gemma", "loss", "nats a token"),
}


@styled
def picture() -> Figure:
    """What leaving out each type costs in each model, beside random heads of the same layers where they were drawn."""
    figure = Figure(figsize=(PAGE, 1.9), layout="constrained")
    styles = type_styles(TYPES)
    panels = figure.subplots(1, len(MODELS), sharey=True)
    for axes, (name, (folder, score, unit)) in zip(panels, MODELS.items(), strict=True):
        table = read_named(RESULTS / folder / "table2.csv").set_index("condition")
        axes.set_title(name)
        axes.set_xlabel(unit)
        axes.margins(x=0.08)
        axes.use_sticky_edges = False
        axes.axvline(0, color="0.8", linewidth=0.6)
        for place, of_type in enumerate(TYPES):
            row, style = table.loc[f"zero-{of_type}"], styles[of_type]
            drawn = f"control_drop_{score}"
            if drawn in table and pd.notna(row[drawn]):
                low, high = row[f"{drawn}_low"], row[f"{drawn}_high"]
                axes.barh(place, high - low, left=low, height=0.5, color="0.85")
                axes.plot([row[drawn]] * 2, [place - 0.25, place + 0.25], color="0.3", linewidth=1)
            doubtful = of_type in str(row["doubtful"]).split(", ")
            cost = row[f"own_drop_{score}"] if drawn in table else row[f"drop_{score}"]
            axes.plot(cost, place, style.marker, color=style.colour, markerfacecolor="white" if doubtful else None)
        axes.set_yticks(range(len(TYPES)), TYPES)
    axes.invert_yaxis()
    keys = [
        legend_key(color="black", marker="o", linestyle="", label="the type's own heads (hollow: a doubtful name)"),
        legend_key(color="0.85", linewidth=6, label="random heads of the same layers, lowest to highest draw"),
        legend_key(color="0.3", marker="|", linestyle="", markersize=8, label="their mean"),
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=len(keys))
    return figure


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        save_figure(picture(), Path(folder) / "results.svg", RESULTS.parent / "images/results.png", {})
