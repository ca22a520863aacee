"""Guesses of attention heads at syntactic heads."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float16, Int16, Int32

# From the word that looks, to the word that is looked at.
DIRECTIONS = ("dependent_to_head", "head_to_dependent")


@dataclass(frozen=True)
class ArcGuesses:
    """The two guesses of every attention head at each word's syntactic head, in the sentences that a model can read.

    guess: [word, layer, head, 2] the number, from 1 in the sentence, of the word at which this word looks most, and of
    the word that looks most at this word; -1 for none. to_sep: share of the word's attention that `[SEP]` gets.
    """

    sentence: Int32[np.ndarray, " sentence"]
    length: Int32[np.ndarray, " sentence"]
    guess: Int16[np.ndarray, "word layer head 2"]
    visible: Int16[np.ndarray, "word layer 2 2"]
    to_sep: Float16[np.ndarray, "word layer head"]
    # {reason: number of sentences that were not read}
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.left_out:
            return ()
        reasons = " and ".join(f"{count:,} with {what}" for what, count in self.left_out.items())
        return (f"Of {len(self.sentence) + sum(self.left_out.values()):,} sentences, {reasons} are left out.",)

    def can_be(self, words: np.ndarray, heads: np.ndarray) -> Bool[np.ndarray, "pair layer 2"]:
        """Return whether each layer lets a word and its syntactic head see each other: [pair, layer, 2].

        On the last axis, 0 is whether the word sees its head, and 1 is whether the head sees the word.
        words: [pair] index of the word among all words, from 0.
        heads: [pair] number of the head in its sentence, from 1; 0 for the root, for which the result is false.
        """
        first, last = np.moveaxis(self.visible[words], -1, 0)
        head = heads[:, None, None]
        return (first > 0) & (first <= head) & (head <= last)
