"""Every head's guesses at the syntactic head of every word (Clark et al. 2019, section 4.2), read while a model runs."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headtypes.attention.batches import Batch
from headtypes.attention.one_pass import Pass
from headtypes.language.words import Pieces, WordReducer, WordRows, check_finite

DIRECTIONS = ("dependent_to_head", "head_to_dependent")


class Guesses(WordReducer):
    """A reducer whose result is, for each sample, what every head guesses to be the syntactic head of each word.

    Two guesses at the head of word i, in the order of `DIRECTIONS`:

    dependent_to_head: argmax over j != i of W[i, j], the word that i looks at most.
    head_to_dependent: argmax over j != i of W[j, i], the word that looks most at i. It compares weights of different
        rows as they are.

    The first word on a tie. A guess is counted as the treebank counts heads: 1 is the first word, 0 (the root) is never
    guessed, and -1 stands for no guess: in a sentence of one word, and where the model lets no other word be seen.

    Beside the guesses stands which gold heads a guess could find in each layer: causal and local attention hide some.
    """

    def __init__(self, word_of_token: Sequence[Sequence[int]], heads: Sequence[Sequence[int]], pieces: Pieces):
        """heads: [sample][word] the gold head of each word, 0 for the root."""
        super().__init__(word_of_token, pieces)
        self._heads = heads

    def begin(self, about: Pass) -> None:
        """Make room for the result."""
        super().begin(about)
        self._results: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def start(self, batch: Batch) -> None:
        """Begin without guesses."""
        super().start(batch)
        layers, heads = self.about.layers, self.about.heads
        words = [len(self._heads[index]) for index in batch.samples]
        self._guess = [torch.full((2, layers, heads, n), -1, device=batch.device) for n in words]
        # The largest weight yet of the running maximum over rows.
        self._best = [torch.full((heads, n), -torch.inf, device=batch.device) for n in words]
        self._layer = [0] * len(words)
        self._possible = [torch.zeros((2, layers, n), dtype=torch.bool, device=batch.device) for n in words]

    def add_words(self, rows: WordRows) -> None:
        """Find the largest weight of each row, and the largest yet of each column."""
        check_finite(rows, self.about.what)
        if self._layer[rows.sample] != rows.layer:
            self._layer[rows.sample] = rows.layer
            self._best[rows.sample].fill_(-torch.inf)
        # Rows of words, without the special tokens' rows and columns.
        skipped, n = max(0, 1 - rows.start), rows.words
        first = rows.start + skipped  # the word of the first row, from 1
        stop = min(rows.attention.shape[1], n + 1 - rows.start)
        if stop <= skipped:
            return
        weights = rows.attention[:, skipped:stop, 1 : n + 1]
        own = torch.arange(first, first + weights.shape[1], device=weights.device)
        hidden = own[:, None] == torch.arange(1, n + 1, device=weights.device)
        if rows.mask is not None:
            hidden = hidden | ~rows.mask[skipped:stop, 1 : n + 1]
        weights = weights.masked_fill(hidden, -torch.inf)
        self._guess_by_row(rows, weights, own)
        self._guess_by_column(rows, weights, first)
        self._note_possible(rows, hidden, own)

    def finish(self) -> None:
        """Keep the guesses of the batch."""
        for index, guess, possible in zip(self.batch.samples, self._guess, self._possible, strict=True):
            self._results[int(index)] = (
                guess.permute(3, 1, 2, 0).to(torch.int16).cpu().numpy(),
                possible.permute(2, 1, 0).cpu().numpy(),
            )

    def result(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each sample, in order: guesses [word, layer, head, direction] int16; possible [word, layer, direction]."""
        return [self._results[index] for index in map(int, self.about.samples)]

    def _guess_by_row(self, rows: WordRows, weights: Tensor, own: Tensor) -> None:
        value, word = weights.max(-1)
        guess = self._guess[rows.sample][0, rows.layer]
        guess[:, own - 1] = torch.where(value > -torch.inf, word + 1, -1)

    def _guess_by_column(self, rows: WordRows, weights: Tensor, first: int) -> None:
        value, row = weights.max(1)
        best, guess = self._best[rows.sample], self._guess[rows.sample][1, rows.layer]
        larger = value > best
        best[:] = torch.where(larger, value, best)
        guess[:] = torch.where(larger, row + first, guess)

    def _note_possible(self, rows: WordRows, hidden: Tensor, own: Tensor) -> None:
        gold = torch.tensor(self._heads[self.batch.samples[rows.sample]], device=own.device)
        to_head, to_dependent = self._possible[rows.sample][:, rows.layer]
        of_rows = gold[own - 1]
        to_head[own - 1] = (of_rows > 0) & ~hidden[own - own[0], (of_rows - 1).clamp(min=0)]
        # Words whose gold head is among these rows.
        here = (gold >= own[0]) & (gold <= own[-1])
        words = torch.arange(len(gold), device=own.device)[here]
        to_dependent[words] = ~hidden[gold[here] - own[0], words]
