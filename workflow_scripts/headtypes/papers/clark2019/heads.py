"""What this paper's claims about texts ask of a model's heads and layers.

The numbers are no weighted sums of others, so they are measured, with their intervals, where quantities are collected.
"""

from typing import ClassVar, Literal

import numpy as np

from headtypes.papers.clark2019.statistics import WORDS, Statistics
from headtypes.papers.quantities import Measure, NoVerdictError, Quantities, Quantity, Ranked, Side, Third

# A third of the layers, or one of them; quantities have these names.
Where = Third | Literal["first_layer", "last_layer"]


class Heads(Quantities):
    """Quantities of a model on a text, with `published.Clark2019` as what is published.

    Every method raises `NoVerdictError` where what it needs is not known, or was not measured for some reason.
    """

    about: ClassVar[str] = "text"
    unit: ClassVar[str] = "n_segments"
    absent: ClassVar[str] = "the model reads no text"

    def count(self, statistic: str, above: float) -> Quantity:
        """The number of heads that have a statistic above a limit; the paper's own as printed."""

        def measure(statistics: Statistics) -> np.ndarray:
            if not statistics.heads:
                return self._printed(statistic, above)
            return (statistics.of_heads(statistic) > above).sum(axis=(-2, -1))

        words = f"heads with {WORDS[statistic]} above {above:g}"
        return self.quantity(f"heads.{statistic}.above_{above:g}", words, measure)

    def percent(self, statistic: str, side: Side, limit: float) -> Quantity:
        """Percent of all heads that have a statistic above or below a limit."""

        def measure(statistics: Statistics) -> np.ndarray:
            values = statistics.of_heads(statistic)
            return 100 * (values > limit if side == "above" else values < limit).mean(axis=(-2, -1))

        words = f"percent of the heads with {WORDS[statistic]} {side} {limit:g}"
        return self.quantity(f"share.{statistic}.{side}_{limit:g}", words, measure)

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

        return self._layers(statistic, where, f".less_{other}", f" less {WORDS[other]}", measure)

    def mean_less_other_layers(self, statistic: str, where: Literal["first_layer", "last_layer"]) -> Quantity:
        """The mean in one layer, less the largest of another layer."""

        def differences(statistics: Statistics) -> np.ndarray:
            value, by_layer = _mean(statistics, statistic, where), statistics.of_layers(statistic)
            if by_layer.shape[-1] < 2:
                raise NoVerdictError("the model has one layer")
            others = by_layer[..., 1:] if where == "first_layer" else by_layer[..., :-1]
            return value[..., None] - others

        return self._layers(
            statistic, where, ".less_largest_other", " less the largest of another layer", Ranked(differences, -1)
        )

    def _layers(self, statistic: str, where: Where, name: str, less: str, measure: Measure) -> Quantity:
        place = f"the {where.replace('_', ' ')}" if where.endswith("_layer") else f"the {where} third of layers"
        words = f"mean {WORDS[statistic]} in {place}"
        if statistic == "offset_heads":
            words = f"{WORDS[statistic]}, by layer, in {place}"
        return self.quantity(f"layers.{statistic}.{where}{name}", words + less, measure)

    def _printed(self, statistic: str, above: float) -> np.ndarray:
        for value in self.published.surface:
            if (value.statistic, value.above) == (statistic, above) and value.heads is not None:
                return np.array(value.heads)
        raise NoVerdictError("the paper gives no such number")


def _mean(statistics: Statistics, name: str, where: Where) -> np.ndarray:
    """[...] the mean of a statistic over some layers."""
    if where.endswith("_layer"):
        return statistics.of_layers(name)[..., 0 if where == "first_layer" else -1]
    return statistics.of_third(name, where)
