"""Made-up results about treebanks and coreference that are as Clark et al. 2019 say, for tests to change."""

from dataclasses import dataclass, field

import numpy as np

from headtypes.analyses.relations.accuracy import GROUPS, QUANTITIES, Choice, OfHeads, ToSep
from headtypes.analyses.relations.pairs import ALL, TOTALS
from headtypes.papers.clark2019.language.quantities import coreference_quantities, treebank_quantities
from headtypes.papers.clark2019.language.scores import MENTIONS, our_relation
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.published import read_published
from headtypes.papers.quantities import Quantities
from tests.support.clark_results import CLARK

PUBLISHED = read_published(CLARK, Clark2019)
SENTENCES, DOCUMENTS = 60, 30
ROWS = {row.relation: row for row in PUBLISHED.relations.rows}
TO_SEP = {"called": 20.0, "others": 70.0, "no_noun": 60.0, "no_noun_or_pronoun": 65.0}


def leads() -> dict[str, float]:
    """By how much the best head of each relation beats the best offset, as printed."""
    return {name: row.accuracy - row.baseline for name, row in ROWS.items()}


def directions() -> dict[str, float]:
    """By how much the best head from dependent to head beats the best of the other direction."""
    return {name: -5.0 if row.direction == "head_to_dependent" else 5.0 for name, row in ROWS.items()}


@dataclass
class Treebank:
    """Results of a made-up model on a treebank, in percent, in the shapes in which tests change them most easily.

    noise: of the sentences around the mean; probes: attachment scores, or None.
    to_sep: attention to [SEP] of each group of words in the heads of some relations, others have `TO_SEP`; looks: that
        of all words on the sentences that heads were chosen on; tagged: whether words have UPOS tags.
    """

    accuracies: dict[str, float] = field(default_factory=lambda: {name: row.accuracy for name, row in ROWS.items()})
    leads: dict[str, float] = field(default_factory=leads)
    directions: dict[str, float] = field(default_factory=directions)
    heads: dict[str, str] = field(default_factory=lambda: {name: row.head for name, row in ROWS.items()})
    probes: dict[str, float] | None = field(
        default_factory=lambda: (
            {row.probe: row.uas for row in PUBLISHED.probes.rows if row.comparable}
            | {"best_head": 34.5, "best_offset": 26.3}
        )
    )
    to_sep: dict[str, dict[str, float]] = field(default_factory=dict)
    looks: float = 60.0
    tagged: bool = True
    noise: float = 1.0

    def choices(self) -> list[Choice]:
        """As `relations.accuracy.best_heads` returns them; scored where they were chosen, heads are 3 points better."""
        return [self._choice("file", 3.0), self._choice("test", 0.0)]

    def quantities(self) -> Quantities:
        """What is known of the model on the treebank."""
        probes = None
        if self.probes is not None:
            words = np.full(SENTENCES, 10)
            right = {name: self._around(uas / 10)[None].repeat(3, axis=0) for name, uas in self.probes.items()}
            probes = right, words
        return treebank_quantities(self.choices(), probes, PUBLISHED, seed=1)

    def _choice(self, scored: str, more: float) -> Choice:
        rows, scores, to_sep = [], [], []
        # Whichever words are counted, their total is the same.
        for listed in [*self.accuracies, *TOTALS[1:]]:
            name = ALL if listed in TOTALS else listed
            annotation, relation = our_relation(listed)
            layer, head = (int(part) - 1 for part in self.heads[name].split("-"))
            row = {"annotation": annotation, "relation": relation, "chosen": "file", "scored": scored}
            rows.append(row | {"layer": layer, "head": head})
            accuracy, lead = self.accuracies[name] + more, self.leads[name] + more
            of_name = {
                "accuracy": accuracy,
                "other_accuracy": accuracy - abs(self.directions[name]),
                "offset_accuracy": accuracy - lead,
                "above_offset": lead,
                "forward_above_backward": self.directions[name],
            }
            scores.append(np.stack([*(self._around(of_name[it]) / 100 for it in QUANTITIES), np.ones(SENTENCES)]))
            shares = TO_SEP | self.to_sep.get(name, {})
            sums = np.stack([self._around(shares[group]) / 100 for group in GROUPS], axis=1)
            is_forward = self.directions[name] > 0
            sizes = np.ones_like(sums) * [True, True, self.tagged, self.tagged]
            leads, looks = np.zeros((12, 12)), np.full((12, 12), self.looks / 100)
            rises = np.random.default_rng([layer, head]).normal(0.1, 0.02, (12, 12))
            leads[layer, head], rises[layer, head] = lead, (shares["others"] - shares["called"]) / 100
            to_sep.append(ToSep(sums, sizes, is_forward, (OfHeads((layer, head), leads, looks, rises),)))
        return Choice(rows, scores, [np.arange(SENTENCES)] * len(rows), SENTENCES, to_sep)

    def _around(self, mean: float) -> np.ndarray:
        """[sentence] values around a mean, which they have."""
        drawn = np.random.default_rng(0).normal(0, self.noise, SENTENCES)
        return mean + drawn - drawn.mean()


@dataclass
class Documents:
    """Results of a made-up model on documents, in percent by type of mention; all types are equally frequent."""

    best_head: dict[str, float] = field(default_factory=lambda: _of("best_head"))
    head_match: dict[str, float] = field(default_factory=lambda: _of("head_match"))
    rules: dict[str, float] = field(default_factory=lambda: _of("rules"))
    nearest: dict[str, float] = field(default_factory=lambda: _of("nearest"))
    types: tuple[str, ...] = MENTIONS
    noise: float = 1.0
    # By how much the best head is better among the words before, and once more among the head words of mentions.
    by_candidates: float = 0.01

    def quantities(self) -> Quantities:
        """What is known of the model on the documents."""
        scores, document = self.scores()
        return coreference_quantities(scores, document, PUBLISHED, seed=1)

    def scores(self) -> tuple[dict, np.ndarray]:
        """As `accuracy.score_mentions` returns them: one mention of each type in each document."""
        type_ = np.array(list(self.types) * DOCUMENTS)
        document = np.repeat(np.arange(DOCUMENTS), len(self.types))
        noise = np.random.default_rng(0).normal(0, self.noise, DOCUMENTS)
        noise = (noise - noise.mean())[document]
        scores = {}
        for system in ("best_head", "nearest", "head_match", "rules"):
            values = (np.array([getattr(self, system)[name] for name in type_]) + noise) / 100
            for name in ("all", *self.types):
                of_type = np.where((type_ == name) | (name == "all"), values, np.nan)
                if system != "best_head":
                    scores[system, "mentions", name, ""] = of_type
                    continue
                for number, candidates in enumerate(("words", "words_before", "mentions")):
                    scores[system, candidates, name, "documents"] = of_type + self.by_candidates * number
                    scores[system, candidates, name, "halves"] = of_type + self.by_candidates * number
        return scores, document


def _of(system: str) -> dict[str, float]:
    row = next(row for row in PUBLISHED.coreference.rows if row.system == system)
    return {name: getattr(row, name) for name in MENTIONS}
