"""The kinds of rules that this paper's claims are made of: each measures a number on statistics of heads and layers.

The numbers are no weighted sums of others, so they are measured, with their intervals, where quantities are collected.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from headtypes.papers.claims import Finding, NoVerdictError, Rule
from headtypes.papers.clark2019.statistics import WORDS, Statistics, shows
from headtypes.papers.clark2019.values import PublishedValues
from headtypes.papers.quantities import Quantities
from headtypes.papers.thirds import Third

Side = Literal["above", "below"]
# The kinds of task that claims are about.
About = Literal["text", "treebank", "coreference"]


class MeasuredRule(Rule):
    """A number that is measured where quantities are collected lies on the claimed side of a limit."""

    about: ClassVar[About]

    @property
    def name(self) -> str:
        """The name under which quantities have the number."""
        raise NotImplementedError

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The number in words, and on which side of which limit it is claimed to be."""
        raise NotImplementedError

    def find(self, quantities: Quantities, published: PublishedValues) -> Finding:
        """The number, as it was measured where quantities were collected."""
        if self.name not in quantities:
            raise NoVerdictError(quantities.missing.get(self.name, "it was not measured"))
        words, side, limit = self.claimed
        return Finding(words, quantities[self.name], side, limit)


class StatisticRule(MeasuredRule):
    """A number measured on statistics of heads and layers."""

    about = "text"

    def measure(self, statistics: Statistics, whole: Statistics, published: PublishedValues) -> np.ndarray:
        """[...] the number. Raises `NoVerdictError` where statistics do not give it.

        statistics: of resamples, or `whole`, of all segments, by which layers and heads are selected.
        """
        raise NotImplementedError


class HeadsRule(StatisticRule):
    """At least so many heads have a statistic above a limit."""

    kind: Literal["heads"]
    statistic: str
    above: float
    at_least: int

    @property
    def name(self) -> str:
        """`heads.{statistic}.above_{limit}`."""
        return f"heads.{self.statistic}.above_{self.above:g}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """At least n heads are more than n - 1."""
        return f"heads with {WORDS[self.statistic]} above {self.above:g}", "above", self.at_least - 1

    def measure(self, statistics: Statistics, whole: Statistics, published: PublishedValues) -> np.ndarray:
        """The number of heads; the paper's own as printed."""
        if not statistics.heads:
            return _printed(self.statistic, self.above, published)
        return (statistics.of_heads(self.statistic) > self.above).sum(axis=(-2, -1))


class ShareRule(StatisticRule):
    """More than a percentage of the heads have a statistic above, or below, a limit."""

    kind: Literal["share"]
    statistic: str
    above: float | None = None
    below: float | None = None
    of_heads_above: float

    @model_validator(mode="after")
    def _check(self):
        if (self.above is None) == (self.below is None):
            raise ValueError("needs one of above and below")
        return self

    @property
    def name(self) -> str:
        """`share.{statistic}.{above or below}_{limit}`."""
        side, limit = self._limit
        return f"share.{self.statistic}.{side}_{limit:g}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The percentage of the heads."""
        side, limit = self._limit
        return f"percent of the heads with {WORDS[self.statistic]} {side} {limit:g}", "above", self.of_heads_above

    def measure(self, statistics: Statistics, whole: Statistics, published: PublishedValues) -> np.ndarray:
        """Percent of all heads."""
        values, (side, limit) = statistics.of_heads(self.statistic), self._limit
        return 100 * (values > limit if side == "above" else values < limit).mean(axis=(-2, -1))

    @property
    def _limit(self) -> tuple[Side, float]:
        return ("below", self.below) if self.above is None else ("above", self.above)


class LayerRule(StatisticRule):
    """The mean of a statistic over some layers is above a limit, or above the same or another statistic elsewhere.

    third or layer: which layers; exactly one of them.
    above: the limit; more_than: another third; more_than_statistic: another statistic in these layers; extreme: no
        other layer has as much. Exactly one of them.
    """

    kind: Literal["layer"]
    statistic: str
    third: Third | None = None
    layer: Literal["first", "last"] | None = None
    above: float | None = None
    more_than: Third | None = None
    more_than_statistic: str | None = None
    extreme: Literal["largest"] | None = None

    @model_validator(mode="after")
    def _check(self):
        for keys in (("third", "layer"), ("above", "more_than", "more_than_statistic", "extreme")):
            if sum(getattr(self, key) is not None for key in keys) != 1:
                raise ValueError(f"needs exactly one of {', '.join(keys)}")
        if (self.layer is None and self.extreme) or (self.third is None and self.more_than):
            raise ValueError("extreme belongs to a layer, more_than to a third")
        return self

    @property
    def name(self) -> str:
        """`layers.{statistic}.{where}`, followed by what is subtracted, such as `.less_last`."""
        start = f"layers.{self.statistic}.{self.third or f'{self.layer}_layer'}"
        if self.above is not None:
            return start
        return f"{start}.less_{self.more_than or self.more_than_statistic or 'largest_other'}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The mean, or the difference of two, which is claimed to be above 0."""
        where = f"the {self.third} third of layers" if self.third else f"the {self.layer} layer"
        words = f"mean {WORDS[self.statistic]} in {where}"
        if self.statistic == "offset_heads":
            words = f"{WORDS[self.statistic]}, by layer, in {where}"
        if self.above is not None:
            return words, "above", self.above
        if self.more_than:
            return f"{words} less that in the {self.more_than} third", "above", 0
        if self.more_than_statistic:
            return f"{words} less {WORDS[self.more_than_statistic]}", "above", 0
        return f"{words} less the largest of another layer", "above", 0

    def measure(self, statistics: Statistics, whole: Statistics, published: PublishedValues) -> np.ndarray:
        """The mean, or the difference."""
        value = self._mean(statistics, self.statistic)
        if self.more_than:
            return value - statistics.of_third(self.statistic, self.more_than)
        if self.more_than_statistic:
            return value - self._mean(statistics, self.more_than_statistic)
        if self.extreme:
            by_layer = statistics.of_layers(self.statistic)
            if by_layer.shape[-1] < 2:
                raise NoVerdictError("the model has one layer")
            others = by_layer[..., 1:] if self.layer == "first" else by_layer[..., :-1]
            return value - others.max(axis=-1)
        return value

    def _mean(self, statistics: Statistics, name: str) -> np.ndarray:
        if self.third:
            return statistics.of_third(name, self.third)
        return statistics.of_layers(name)[..., 0 if self.layer == "first" else -1]


class BehaviourRule(StatisticRule):
    """The mean of a statistic over the heads that show a behaviour is below a limit."""

    kind: Literal["behaviour"]
    statistic: str
    behaviour: str
    below: float

    @property
    def name(self) -> str:
        """`behaviour.{behaviour}.{statistic}`."""
        return f"behaviour.{self.behaviour}.{self.statistic}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The mean."""
        return f"mean {WORDS[self.statistic]} of {self.behaviour} heads", "below", self.below

    def measure(self, statistics: Statistics, whole: Statistics, published: PublishedValues) -> np.ndarray:
        """The mean over the heads that show the behaviour on all segments."""
        behaviour = next(it for it in published.behaviours.rules if it.name == self.behaviour)
        chosen = shows(behaviour, whole)
        if not chosen.any():
            raise NoVerdictError(f"there are no {self.behaviour} heads")
        return statistics.of_heads(self.statistic)[..., chosen].mean(axis=-1)


class RatioRule(StatisticRule):
    """The mean of a statistic divided by another, over layers in which a third one exceeds a limit, is below one."""

    kind: Literal["ratio"]
    statistic: str
    to: str
    where: str
    exceeds: float
    below: float

    @property
    def name(self) -> str:
        """`ratio.{statistic}.to.{other}`."""
        return f"ratio.{self.statistic}.to.{self.to}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The mean ratio."""
        where = f"layers with {WORDS[self.where]} above {self.exceeds:g}"
        return f"{WORDS[self.statistic]} divided by {WORDS[self.to]}, mean over {where}", "below", self.below

    def measure(self, statistics: Statistics, whole: Statistics, published: PublishedValues) -> np.ndarray:
        """The mean ratio over layers that are chosen on all segments."""
        upper, lower = statistics.of_layers(self.statistic), statistics.of_layers(self.to)
        chosen = whole.of_layers(self.where) > self.exceeds
        if not chosen.any():
            raise NoVerdictError(f"in no layer is {WORDS[self.where]} above {self.exceeds:g}")
        return (upper[..., chosen] / lower[..., chosen]).mean(axis=-1)


class DistanceRule(MeasuredRule):
    """The mean divergence of pairs of heads of one layer is smaller than that of pairs of two layers.

    The interval is where the difference would lie by permutations of the layers' labels.
    """

    about: ClassVar[About] = "text"

    kind: Literal["distance"]
    below: float

    @property
    def name(self) -> str:
        """`divergence.within_less_between`."""
        return "divergence.within_less_between"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The difference."""
        return "mean divergence (nats a row) of heads within layers less that between layers", "below", self.below


TextRule = HeadsRule | ShareRule | LayerRule | BehaviourRule | RatioRule | DistanceRule


def _printed(statistic: str, above: float, published: PublishedValues) -> np.ndarray:
    for value in published.surface:
        if (value.statistic, value.above) == (statistic, above) and value.heads is not None:
            return np.array(value.heads)
    raise NoVerdictError("the paper gives no such number")
