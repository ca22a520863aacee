"""How much words look at `[SEP]` in the head that is best at a relation (Clark et al. 2019, section 3.2).

A head is called for by the words that look at the other word of the relation: the dependents, if it is the best from
dependent to head, and else the words that they depend on.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headtypes.analyses.relations.guesses import DIRECTIONS
from headtypes.analyses.relations.pairs import Pairs
from headtypes.core.statistics import ratio_intervals

# Groups of words: those that call for the head, all others; by UPOS those that are no nouns, and no pronouns either.
GROUPS = ("called", "others", "no_noun", "no_noun_or_pronoun")
_NOUNS, _PRONOUN = ("NOUN", "PROPN"), "PRON"


class OfHeads(NamedTuple):
    """How well all heads find a relation, and how much they look at [SEP], beside the best on some sentences.

    best: layer and head of the one that finds it best.
    leads: [layer, head] accuracy less that of the best offset, in points, on the sentences that it was chosen on.
    looks: [layer, head] share of attention that goes to [SEP] there, over all words; NaN where none can see it.
    rises: [layer, head] the same of the words that do not call for the best head less that of those that do, on the
        sentences that it is scored on.
    """

    best: tuple[int, int]
    leads: np.ndarray
    looks: np.ndarray
    rises: np.ndarray


class ToSep(NamedTuple):
    """How much words look at [SEP] in the head that is best at a relation, chosen on other sentences.

    sums, sizes: [sentence, group] the sum of the words' shares of attention, and the number of words, by `GROUPS`.
    is_forward: whether it is the best from dependent to head.
    of_heads: beside all heads; two where heads were chosen on halves of the sentences, and looked at in the other half.
    """

    sums: np.ndarray
    sizes: np.ndarray
    is_forward: bool
    of_heads: tuple[OfHeads, ...]

    @property
    def lead(self) -> float:
        """The least by which the best head beats the best offset where it was chosen."""
        return float(min(each.leads[each.best] for each in self.of_heads))

    @property
    def mean(self) -> float:
        """The least share of attention that it gives [SEP] where it was chosen."""
        return float(np.min([each.looks[each.best] for each in self.of_heads]))


def both(one: ToSep, other: ToSep) -> ToSep:
    """Of heads that were chosen on halves of the sentences, and looked at in the other half."""
    is_forward = one.is_forward and other.is_forward
    return ToSep(one.sums + other.sums, one.sizes + other.sizes, is_forward, one.of_heads + other.of_heads)


def groups_of(pairs: Pairs, direction: str, sentence: np.ndarray, upos: np.ndarray) -> np.ndarray:
    """Which words are in each group: [group, word] bool.

    sentence: [word] of each word its sentence, from 0; upos: [word] its tag, or an empty one. Where no word has a tag,
        the groups by tag are empty.
    """
    looking = pairs.words
    if direction != DIRECTIONS[0]:
        first = np.searchsorted(sentence, sentence[pairs.words])
        looking = (first + pairs.heads - 1)[pairs.heads > 0]
    called = np.isin(np.arange(len(sentence)), looking)
    tagged = bool((upos != "").any())
    no_noun = ~np.isin(upos, _NOUNS) & tagged
    return np.stack([called, ~called, no_noun, no_noun & (upos != _PRONOUN)])


def columns_of(rows: Sequence[ToSep], seed: int) -> dict[str, np.ndarray]:
    """Columns [row] in percent: `to_sep` of the words that call for the head, `to_sep_others` of all other words.

    Each has an interval over sentences, {name}_low and {name}_high; all are NaN where there is no such word.
    """
    columns = {}
    for group, name in enumerate(("to_sep", "to_sep_others")):
        sums, sizes = (
            np.stack([each[:, group] for each in of_rows], 1) for of_rows in tuple(zip(*rows, strict=True))[:2]
        )
        counted = sizes.sum(0)
        mean = np.divide(sums.sum(0), counted, out=np.full(len(rows), np.nan), where=counted > 0)
        ends = ratio_intervals(sums, sizes, seed=seed)
        found = (mean, *(np.where(counted > 0, end, np.nan) for end in ends))
        columns |= {f"{name}{end}": 100 * values for end, values in zip(("", "_low", "_high"), found, strict=True)}
    return columns
