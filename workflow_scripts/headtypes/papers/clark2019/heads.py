"""What this paper's claims about texts ask of a model's heads and layers.

The numbers are no weighted sums of others, so they are measured, with their intervals, where quantities are collected.
"""

import math
from typing import ClassVar, Literal

import numpy as np

from headtypes.papers.clark2019.statistics import LABELS, Statistics
from headtypes.papers.quantities import THIRDS, Measure, NoVerdictError, Quantities, Quantity, Ranked, Side, Third

# A third of the layers, some at the same depth as the paper's, or one of them; quantities have these names.
Where = Third | Literal["layers_6_to_10", "last_layer"]
_LABELS_OF: dict[str, str] = {
    **{third: f"the {third} third of layers" for third in THIRDS},
    "layers_6_to_10": "the layers at the depth of 6 to 10 of 12",
    "last_layer": "the last layer",
}
# Heads of the model that the paper counts them in.
_BERT_BASE = 144
_ENDS: dict[Side, str] = {"above": "least", "below": "most"}


class Heads(Quantities):
    """Quantities of a model on a text; every method raises `NoVerdictError` where what it needs is not known."""

    about: ClassVar[str] = "text"
    unit: ClassVar[str] = "n_segments"
    absent: ClassVar[str] = "the model reads no text"

    def largest(self, statistic: str, number: int) -> Quantity:
        """What as large a share of the heads as so many of BERT-base's 144 have of a statistic, at least."""

        def measure(statistics: Statistics) -> np.ndarray:
            if not statistics.heads:
                return self._shown(statistic, number)
            return _of_all_heads(statistics, statistic)

        label = f"{LABELS[statistic]} in as many heads as {number} of {_BERT_BASE}, at least"
        ranked = Ranked(measure, lambda heads: math.ceil(heads * number / _BERT_BASE))
        return self.quantity(f"heads.{statistic}.largest_{number}", label, ranked)

    def in_more_than(self, percent: float, statistic: str, side: Side) -> Quantity:
        """What more than so many percent of the heads have of a statistic at least ("above"), or at most ("below")."""
        sign = 1 if side == "above" else -1
        label = f"{LABELS[statistic]} in more than {percent:g} percent of the heads, at {_ENDS[side]}"
        ranked = Ranked(
            lambda it: _of_all_heads(it, statistic), lambda heads: sign * (math.floor(heads * percent / 100) + 1)
        )
        return self.quantity(f"heads.{statistic}.{side}.{percent:g}_percent", label, ranked)

    def mean(self, statistic: str, where: Where) -> Quantity:
        """The mean of a statistic over some layers."""
        return self._layers(statistic, where, "", "", lambda it: _mean(it, statistic, where))

    def mean_less_third(self, statistic: str, third: Third, other: Third) -> Quantity:
        """The mean over a third of the layers, less that over another."""

        def measure(statistics: Statistics) -> np.ndarray:
            return statistics.of_third(statistic, third) - statistics.of_third(statistic, other)

        return self._layers(statistic, third, f".less_{other}", f" less that in the {other} third", measure)

    def mean_less_statistic(self, statistic: str, where: Where, other: str) -> Quantity:
        """The mean of a statistic over some layers, less that of another."""

        def measure(statistics: Statistics) -> np.ndarray:
            return _mean(statistics, statistic, where) - _mean(statistics, other, where)

        return self._layers(statistic, where, f".less_{other}", f" less {LABELS[other]}", measure)

    def last_layer_less_others(self, statistic: str) -> Quantity:
        """The mean in the last layer, less the largest of another layer."""

        def differences(statistics: Statistics) -> np.ndarray:
            by_layer = statistics.of_layers(statistic)
            if by_layer.shape[-1] < 2:
                raise NoVerdictError("the model has one layer")
            return by_layer[..., -1:] - by_layer[..., :-1]

        less = " less the largest of another layer"
        return self._layers(statistic, "last_layer", ".less_largest_other", less, Ranked(differences, -1))

    def _layers(self, statistic: str, where: Where, name: str, less: str, measure: Measure) -> Quantity:
        label = f"mean {LABELS[statistic]} in {_LABELS_OF[where]}"
        if statistic == "offset_heads":
            label = f"{LABELS[statistic]}, by layer, in {_LABELS_OF[where]}"
        return self.quantity(f"layers.{statistic}.{where}{name}", label + less, measure)

    def _shown(self, statistic: str, number: int) -> np.ndarray:
        """[head] what the heads have that the released figures show above a half; 0 for the others."""
        shown = getattr(self.published.digitised.heads_over_half, statistic, None) or {}
        if len(shown) < number:
            raise NoVerdictError("the released figures show fewer heads above a half")
        return np.array([*shown.values(), *[0.0] * (_BERT_BASE - len(shown))])


def _of_all_heads(statistics: Statistics, name: str) -> np.ndarray:
    """[..., number] a statistic of all heads."""
    values = statistics.of_heads(name)
    return values.reshape(*values.shape[:-2], -1)


def _mean(statistics: Statistics, name: str, where: Where) -> np.ndarray:
    """[...] the mean of a statistic over some layers."""
    if where == "layers_6_to_10":
        return statistics.of_depth(name, 5 / 12, 10 / 12)
    if where == "last_layer":
        return statistics.of_layers(name)[..., -1]
    return statistics.of_third(name, where)
