"""The kinds of rules about dependency relations, coreference and probes: each measures a number on accuracies.

Accuracies are in percent, of heads that were chosen on other sentences or documents than those they are scored on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from headtypes.papers.claims import NoVerdictError, join
from headtypes.papers.clark2019.rules import About, MeasuredRule, Side
from headtypes.papers.clark2019.values import PublishedValues

Statistic = Literal["accuracy", "lead", "direction"]
# Of the best head of a relation.
STATISTICS: dict[Statistic, str] = {
    "accuracy": "accuracy of the best head",
    "lead": "accuracy of the best head less that of the best offset",
    "direction": "accuracy of the best head from dependent to head less that of the best from head to dependent",
}
# Systems, as tables and reasons have them.
SYSTEMS = {
    "best_head": "the best head",
    "nearest": "nearest",
    "head_match": "head match",
    "rules": "rules",
    "right_branching": "right-branching",
    "best_offset": "the best offset",
    "attention": "attention",
    "attention_and_words": "attention and words",
    "distance_and_words": "distance and words",
    "random_network": "random network",
}
MENTIONS = ("pronoun", "proper", "nominal")
_ALL = "all"


@dataclass(frozen=True)
class Scores:
    """Accuracies in percent by name: [...] resamples, or one value.

    `relation.{relation}.{statistic}` with the paper's names of relations, `antecedents.{system}.{mentions}` and
    `probe.{system}`.

    missing: why accuracies whose names begin with a word are not known, by that word.
    used: names that were asked for.
    """

    by_name: Mapping[str, np.ndarray]
    missing: Mapping[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        """Whether the accuracy of this name is known."""
        return name in self.by_name

    def __getitem__(self, name: str) -> np.ndarray:
        """The accuracy of this name. Raises `NoVerdictError` where it is not known."""
        if name not in self.by_name:
            start, first, *rest = name.split(".")
            reasons = {
                "relation": f"the table has no row of {first}: its words are too few, or have no XPOS tags",
                "antecedents": f"no mention is of the type {'.'.join(rest)}",
            }
            raise NoVerdictError(self.missing.get(start, reasons.get(start, "it was not measured")))
        self.used.add(name)
        return self.by_name[name]


class ScoreRule(MeasuredRule):
    """A number measured on accuracies."""

    def measure(self, scores: Scores, published: PublishedValues) -> np.ndarray:
        """[...] the number. Raises `NoVerdictError` where the accuracies do not give it."""
        raise NotImplementedError


class _OneSided(ScoreRule):
    above: float | None = None
    below: float | None = None

    @model_validator(mode="after")
    def _has_one_side(self):
        if (self.above is None) == (self.below is None):
            raise ValueError("needs one of above and below")
        return self

    @property
    def _limit(self) -> tuple[Side, float]:
        return ("below", self.below) if self.above is None else ("above", self.above)


class RelationRule(_OneSided):
    """A statistic of one relation, or of each of several, lies on one side of a limit.

    relation, every_row_of, every_row_but: which; exactly one. every_row_but: all of the paper's table but these and
        the total, as far as the treebank has them, which has to have more than half of them.
    """

    about: ClassVar[About] = "treebank"

    kind: Literal["relation"]
    statistic: Statistic
    relation: str | None = None
    every_row_of: list[str] | None = None
    every_row_but: list[str] | None = None

    @model_validator(mode="after")
    def _names_relations(self):
        keys = ("relation", "every_row_of", "every_row_but")
        if sum(getattr(self, key) is not None for key in keys) != 1:
            raise ValueError(f"needs exactly one of {', '.join(keys)}")
        return self

    @property
    def name(self) -> str:
        """`{least or most}.{statistic}.{relations}`, or `scored.{relation}.{statistic}`."""
        if self.relation:
            return f"scored.{self.relation}.{self.statistic}"
        rows = f"of_{'_'.join(self.every_row_of)}" if self.every_row_of else f"but_{'_'.join(self.every_row_but)}"
        return f"{self._extreme}.{self.statistic}.{rows}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The statistic; of several relations, the one nearest to the limit."""
        words, (side, limit) = STATISTICS[self.statistic], self._limit
        if self.relation:
            return f"{words}, {self.relation}", side, limit
        rows = join(self.every_row_of) if self.every_row_of else f"all relations but {join(self.every_row_but)}"
        return f"{words}, {self._extreme} of {rows}", side, limit

    def measure(self, scores: Scores, published: PublishedValues) -> np.ndarray:
        """The statistic, or its smallest or largest value."""
        relations = [self.relation] if self.relation else self.every_row_of
        if relations is None:
            rows = [row.relation for row in published.relations.rows if row.relation not in (_ALL, *self.every_row_but)]
            relations = [name for name in rows if f"relation.{name}.{self.statistic}" in scores]
            if 2 * len(relations) <= len(rows):
                lacking = [name for name in rows if name not in relations]
                relations = [*relations, *lacking]
        values = np.stack([scores[f"relation.{name}.{self.statistic}"] for name in relations])
        return values.min(axis=0) if self._extreme == "least" else values.max(axis=0)

    @property
    def _extreme(self) -> str:
        return "least" if self._limit[0] == "above" else "most"


class RelationCountRule(_OneSided):
    """At so many of some relations, a statistic lies on one side of a limit."""

    about: ClassVar[About] = "treebank"

    kind: Literal["relations"]
    statistic: Statistic
    any_of: list[str]
    at_least: int

    @property
    def name(self) -> str:
        """`relations.{statistic}.{above or below}_{limit}`."""
        side, limit = self._limit
        return f"relations.{self.statistic}.{side}_{limit:g}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """At least n relations are more than n - 1."""
        side, limit = self._limit
        words = f"relations, of {join(self.any_of)}, with {STATISTICS[self.statistic]} {side} {limit:g}"
        return words, "above", self.at_least - 1

    def measure(self, scores: Scores, published: PublishedValues) -> np.ndarray:
        """The number of relations, of those that are known.

        Raises `NoVerdictError` where they are too few, but would be enough with those that are not known.
        """
        names = [f"relation.{name}.{self.statistic}" for name in self.any_of]
        missing = [name for name in names if name not in scores]
        side, limit = self._limit
        known = [scores[name] for name in names if name not in missing]
        # Where no drawn sentence has a relation, it is on no side.
        count = np.asarray(sum(values > limit if side == "above" else values < limit for values in known))
        if count.ndim == 0 and count < self.at_least <= count + len(missing):
            scores[missing[0]]
        return count


class BestHeadsRule(MeasuredRule):
    """The relations have at least so many different best heads; which they are is decided once, on all sentences."""

    about: ClassVar[About] = "treebank"

    kind: Literal["best_heads"]
    at_least: int

    @property
    def name(self) -> str:
        """`best_heads`."""
        return "best_heads"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """At least n heads are more than n - 1."""
        return "different best heads of the relations", "above", self.at_least - 1


class AntecedentRule(_OneSided):
    """The accuracy of one system at antecedents, less that of another, lies on one side of a limit."""

    about: ClassVar[About] = "coreference"

    kind: Literal["antecedents"]
    of: str
    minus: str

    @property
    def name(self) -> str:
        """`antecedents.{system}.less_{other}`."""
        return f"antecedents.{self.of}.less_{self.minus}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The difference."""
        return f"accuracy of {SYSTEMS[self.of]} less that of {SYSTEMS[self.minus]}", *self._limit

    def measure(self, scores: Scores, published: PublishedValues) -> np.ndarray:
        """The difference over all mentions."""
        return scores[f"antecedents.{self.of}.{_ALL}"] - scores[f"antecedents.{self.minus}.{_ALL}"]


class MentionRule(ScoreRule):
    """One system's lead over another is largest with one type of mention."""

    about: ClassVar[About] = "coreference"

    kind: Literal["mentions"]
    of: str
    minus: str
    largest: Literal["pronoun", "proper", "nominal"]

    @property
    def name(self) -> str:
        """`antecedents.{system}.less_{other}.{type}`."""
        return f"antecedents.{self.of}.less_{self.minus}.{self.largest}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The lead, less the largest with another type."""
        lead = f"accuracy of {SYSTEMS[self.of]} less that of {SYSTEMS[self.minus]}"
        return f"{lead}, {self.largest} mentions less the most of other types", "above", 0

    def measure(self, scores: Scores, published: PublishedValues) -> np.ndarray:
        """The difference between leads."""
        leads = {
            name: scores[f"antecedents.{self.of}.{name}"] - scores[f"antecedents.{self.minus}.{name}"]
            for name in MENTIONS
        }
        own = leads.pop(self.largest)
        return own - np.max(list(leads.values()), axis=0)


class ProbeRule(_OneSided):
    """The attachment score of one system, less that of another, lies on one side of a limit."""

    about: ClassVar[About] = "treebank"

    kind: Literal["probe"]
    of: str
    minus: str

    @property
    def name(self) -> str:
        """`probe.{system}.less_{other}`."""
        return f"probe.{self.of}.less_{self.minus}"

    @property
    def claimed(self) -> tuple[str, Side, float]:
        """The difference."""
        return f"attachment score of {SYSTEMS[self.of]} less that of {SYSTEMS[self.minus]}", *self._limit

    def measure(self, scores: Scores, published: PublishedValues) -> np.ndarray:
        """The difference."""
        return scores[f"probe.{self.of}"] - scores[f"probe.{self.minus}"]


LanguageRule = RelationRule | RelationCountRule | BestHeadsRule | AntecedentRule | MentionRule | ProbeRule
