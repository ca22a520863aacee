"""Values of heads by layer and type: the figure of every analysis of a user's own."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from headtypes.analyses.own.analysis import labelled, read_values
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import scatter_types
from headtypes.core.style import COLUMN, layer_ticks, save_figure, styled

# Share of a layer's width that its heads take.
_SPREAD = 0.6


@styled
def values_figure(table: pd.DataFrame, partition: Partition) -> Figure:
    layers, heads = partition.shape
    figure = Figure(figsize=(COLUMN, 2.4), layout="constrained")
    axes = figure.add_subplot()
    beside = _SPREAD * ((table["head"] + 0.5) / heads - 0.5)
    scatter_types(axes, table.assign(x=table["layer"] + 1 + beside, y=table["value"]), partition, 14)
    means = table.groupby("layer")["value"].mean()
    axes.hlines(means, means.index + 1 - _SPREAD / 2, means.index + 1 + _SPREAD / 2, color="0.5", lw=0.8, zorder=0)
    axes.set(xlabel="layer", ylabel=labelled(table), xticks=layer_ticks(layers), xlim=(0.5, layers + 0.5))
    figure.legend(loc="outside upper left", ncols=2, handletextpad=0.1, columnspacing=0.8)
    return figure


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    figure = values_figure(read_values(inputs.own), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
