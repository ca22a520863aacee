"""Accuracies at dependency relations and coreference, and what this paper's claims ask of them.

Accuracies are in percent, of heads that were chosen on other sentences or documents than those they are scored on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from headtypes.analyses.relations.pairs import ALL, TOTALS
from headtypes.papers.quantities import Finding, NoVerdictError, Quantities, Quantity, Ranked, Side, join

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
# Our names of relations where they are not the paper's: annotation and relation.
_OURS = {**{total: ("universal", total) for total in TOTALS}, "poss": ("stanford", "poss*")}
# Words that are no nouns: readings, and the groups of `relations.accuracy` that they are.
NON_NOUNS = {"pronouns among non-nouns": "no_noun", "pronouns among nouns": "no_noun_or_pronoun"}
# Among which words a head's guess is taken, in words.
READINGS = {
    "words": "among all other words",
    "words_before": "among the words before",
    "mentions": "among the head words of candidates",
}


@dataclass(frozen=True)
class Scores:
    """Accuracies in percent by name: [...] resamples, or one value.

    `relation.{relation}.{statistic}` with the paper's names of relations, `antecedents.{system}.{mentions}`, of the
    best head `antecedents.best_head.{candidates}.{mentions}`, and `probe.{system}`; and attention to [SEP] in the best
    heads, in percent: `non_nouns.{relation}.{group}`, of groups of words of `relations.accuracy`.

    missing: why accuracies whose names begin with a word are not known, by that word; used: names that were asked for.
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
                "antecedents": f"no mention is of the type {rest[-1] if rest else first}",
            }
            raise NoVerdictError(self.missing.get(start, reasons.get(start, "it was not measured")))
        self.used.add(name)
        return self.by_name[name]


class Trees(Quantities):
    """Quantities of a model on a treebank; methods raise `NoVerdictError` where what they need was not measured."""

    about: ClassVar[str] = "treebank"
    unit: ClassVar[str] = "n_sentences"
    absent: ClassVar[str] = "the model reads no treebank"

    def best_head(self, relation: str, statistic: Statistic) -> Quantity:
        """A statistic of one relation's best head."""
        name = f"relation.{relation}.{statistic}"
        label = f"{STATISTICS[statistic]}, {relation}"
        return self.quantity(f"scored.{relation}.{statistic}", label, lambda scores: scores[name])

    def to_sep(self, relation: str, reading: str) -> Quantity:
        """How much non-nouns look at [SEP] in a relation's best head, in percent."""
        name = f"non_nouns.{relation}.{NON_NOUNS[reading]}"
        label = f"percent of attention to [SEP] from non-nouns in the best head of {relation}, {reading}"
        return self.quantity(f"scored.{name}", label, lambda scores: scores[name])

    def at_least(
        self, number: int, relations: Sequence[str], statistic: Statistic, side: Side, limit: float
    ) -> Finding:
        """That so many of some relations, as far as they are known, have a statistic on one side of a limit.

        Each is judged by itself, corrected for their number. There is no verdict where they are too few, but would be
        enough with those that are not known.
        """

        def measure(scores: Scores) -> np.ndarray:
            names = [f"relation.{name}.{statistic}" for name in relations]
            missing = [name for name in names if name not in scores]
            known = [scores[name] for name in names if name not in missing]
            # Which relations are known is decided on all sentences.
            if len(known) < number or np.ndim(known[0]) == 0:
                count = sum(it > limit if side == "above" else it < limit for it in known)
                if len(known) < number or count < number <= count + len(missing):
                    scores[missing[0]]
            return np.stack(known, axis=-1)

        rank = number if side == "above" else -number
        which = "highest" if side == "above" else "lowest"
        other = "lowest" if side == "above" else "highest"
        label = f"{STATISTICS[statistic]}, the {other} of the {number} {which} of {join(relations)}"
        name = f"relations.{statistic}.{which}_{number}_of_{'_'.join(relations)}"
        found = self.quantity(name, label, Ranked(measure, rank))
        return found.above(limit) if side == "above" else found.below(limit)

    def probe_difference(self, system: str, other: str) -> Quantity:
        """The attachment score of one system less that of another."""
        label = f"attachment score of {SYSTEMS[system]} less that of {SYSTEMS[other]}"
        return self.quantity(
            f"probe.{system}.less_{other}", label, lambda it: it[f"probe.{system}"] - it[f"probe.{other}"]
        )


class Documents(Quantities):
    """Quantities of a model on documents with mentions, as of `Trees`."""

    about: ClassVar[str] = "coreference"
    unit: ClassVar[str] = "n_documents"
    absent: ClassVar[str] = "the model reads no documents with mentions"

    def best_head_beyond(self, system: str, candidates: str) -> Quantity:
        """The accuracy of the best head at the antecedents of all mentions, less that of a system."""
        return self.quantity(
            f"antecedents.best_head.{candidates}.less_{system}",
            lead_label(system, candidates),
            lambda it: it[f"antecedents.best_head.{candidates}.{ALL}"] - it[f"antecedents.{system}.{ALL}"],
        )


def lead_label(system: str, candidates: str) -> str:
    """The accuracy of the best head at antecedents less that of another system, in words."""
    return f"accuracy of the best head {READINGS[candidates]} less that of {SYSTEMS[system]}"


def of_each(scores: Scores, relations: Sequence[str], statistic: Statistic) -> np.ndarray:
    """[..., relation] a statistic of several relations. Raises `NoVerdictError` where one is not known."""
    return np.stack([scores[f"relation.{name}.{statistic}"] for name in relations], axis=-1)


def our_relation(relation: str) -> tuple[str, str]:
    """The annotation and the name in our tables of a relation of the paper's."""
    return _OURS.get(relation, ("stanford", relation))
