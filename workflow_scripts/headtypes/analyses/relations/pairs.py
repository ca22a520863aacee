"""Which guesses count for which relation (Clark et al. 2019, section 4.2): the rows of the table of relations.

A guess at the head of a word is counted as heads are: 1 is the first word of the sentence, 0 the root, which is never
guessed, and -1 stands for no guess.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headtypes.analyses.relations.stanford import derived
from headtypes.core.errors import InputError
from headtypes.data.kinds.treebank import Sentence

# Totals, since the paper does not say which of them its first row is.
ALL, WITHOUT_PUNCTUATION, WITHOUT_ROOT = "all", "without punctuation", "without punctuation and root"
TOTALS = (ALL, WITHOUT_PUNCTUATION, WITHOUT_ROOT)
# Where the rows come from: the labels of the treebank, and relations derived for the comparison with the paper.
ANNOTATIONS = ("universal", "stanford")


@dataclass(frozen=True)
class Pairs:
    """The words that belong to one row of the table, with the heads that are right.

    words: int64 [pair] whose guess counts: indices among the words of all sentences, from 0.
    heads: int64 [pair] the right guess, counted within the sentence from 1; 0 for the root.
    """

    words: np.ndarray
    heads: np.ndarray

    def accuracy(self, guesses: np.ndarray) -> np.ndarray:
        """The share of pairs whose guess is right, in percent: for `offsets`; that of heads is computed in `accuracy`.

        guesses: int [word, ...] of all words of all sentences.
        returns  float64 [...]; NaN if there is no pair.
        """
        if not len(self.words):
            return np.full(guesses.shape[1:], np.nan)
        return 100 * self.right(guesses).mean(axis=0, dtype=np.float64)

    def right(self, guesses: np.ndarray) -> np.ndarray:
        """Whether each guess is right: bool [pair, ...]; guesses: as in `accuracy`."""
        return guesses[self.words] == self.heads.reshape(-1, *[1] * (guesses.ndim - 1))

    def within(self, chosen: np.ndarray) -> "Pairs":
        """The pairs of some words; chosen: bool [word] of all words of all sentences."""
        kept = chosen[self.words]
        return Pairs(self.words[kept], self.heads[kept])


def universal_pairs(sentences: Sequence[Sentence]) -> dict[str, Pairs]:
    """The rows of the treebank's own labels, by name, the totals first.

    Each label as it stands (`nsubj`, `nsubj:pass`), each universal relation that has subtypes (`nsubj:*`, with `nsubj`
    among them), and `TOTALS`. Raises `InputError` where a label has the name of another row.
    """
    labels = sorted({label for sentence in sentences for label in sentence.relations})
    for label in labels:
        if label in TOTALS or label.endswith(":*"):
            raise InputError(
                f"The treebank has the relation {label!r}, by which the table names several relations together; rename "
                "it."
            )
    divided = {_universal(label) for label in labels if ":" in label}
    rows = _collected(sentences, lambda sentence: _universal_rows(sentence, divided))
    names = [*TOTALS, *sorted([*labels, *(f"{name}:*" for name in divided)])]
    return {name: rows[name] for name in names if name in rows}


def stanford_pairs(sentences: Sequence[Sentence]) -> dict[str, Pairs]:
    """The rows derived from the tree for the comparison with the paper, by Stanford's names (`stanford.derived`)."""
    tagged = any(tag for sentence in sentences for tag in sentence.xpos)
    return _collected(sentences, lambda sentence: derived(sentence, tagged))


def all_pairs(sentences: Sequence[Sentence]) -> dict[str, dict[str, Pairs]]:
    """All rows, by annotation (`ANNOTATIONS`) and name."""
    return dict(zip(ANNOTATIONS, (universal_pairs(sentences), stanford_pairs(sentences)), strict=True))


def sentence_of_word(sentences: Sequence[Sentence]) -> np.ndarray:
    """The sentence of each word: int64 [word], from 0."""
    return np.repeat(np.arange(len(sentences)), [len(sentence.words) for sentence in sentences])


def _universal(label: str) -> str:
    return label.partition(":")[0]


def _universal_rows(sentence: Sentence, divided: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    for word, head, label in sentence.arcs():
        universal = _universal(label)
        yield ALL, word, head
        if universal != "punct":
            yield WITHOUT_PUNCTUATION, word, head
            if head:
                yield WITHOUT_ROOT, word, head
        yield label, word, head
        if universal in divided:
            yield f"{universal}:*", word, head


def _collected(
    sentences: Sequence[Sentence], rows_of: Callable[[Sentence], Iterable[tuple[str, int, int]]]
) -> dict[str, Pairs]:
    words, heads, before = defaultdict(list), defaultdict(list), 0
    for sentence in sentences:
        for name, word, head in rows_of(sentence):
            words[name].append(before + word - 1)
            heads[name].append(head)
        before += len(sentence.words)
    return {name: Pairs(np.array(words[name]), np.array(heads[name])) for name in words}
