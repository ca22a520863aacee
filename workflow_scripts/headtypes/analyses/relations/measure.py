"""Every head's guesses at the syntactic heads of words, read while a model runs (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headtypes.analyses.relations.guesses import ArcGuesses
from headtypes.analyses.words import WordReducer, WordRows, encode_sentences
from headtypes.attention.hook import Batch
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.progress import warn
from headtypes.data.kinds.treebank import Sentence, read_parts
from headtypes.models.records import ModelRecord, read_model_record


class Guesses(WordReducer):
    """A reducer (it reads a model's attention) of every attention head's guesses at each word's syntactic head.

    The result is a list with a tuple of three arrays for each sentence. Words are numbered from 1; -1 is no word.
    [word, layer, head, direction]: the guesses. W[i, j] is the attention of word i to word j. The guess for word i is
        argmax over j != i of W[i, j] (direction 0, dependent_to_head) or of W[j, i] (direction 1, head_to_dependent).
    [word, layer, direction, 2]: the first and the last word that the layer's mask allows as the guess.
    [word, layer, head]: the share of the word's attention to [SEP]; NaN if the model hides [SEP] from the word.
    """

    def start(self, batch: Batch) -> None:
        super().start(batch)
        layers, heads = self.about.layers, self.about.heads
        words = [max(self._word_of_token[index]) + 1 for index in batch.samples]
        self._guess = [torch.full((2, layers, heads, n), -1, device=batch.device) for n in words]
        # The largest weight yet of each column, since rows come in blocks.
        self._best = [torch.full((layers, heads, n), -torch.inf, device=batch.device) for n in words]
        self._seen = [torch.zeros(layers, n, n, dtype=torch.bool, device=batch.device) for n in words]
        self._to_sep = [torch.zeros(layers, heads, n, device=batch.device) for n in words]

    def add_words(self, rows: WordRows) -> None:
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
        by_row, by_column = self._guess[rows.sample][:, rows.layer]
        # On a tie the first word is the guess.
        value, word = weights.max(-1)
        by_row[:, own - 1] = torch.where(value > -torch.inf, word + 1, -1)
        value, row = weights.max(1)
        best = self._best[rows.sample][rows.layer]
        by_column[:] = torch.where(value > best, row + first, by_column)
        best[:] = torch.maximum(value, best)
        self._seen[rows.sample][rows.layer, own - 1] = ~hidden
        to_sep = rows.attention[:, skipped:stop, -1]
        if rows.mask is not None:
            hides_sep = ~rows.mask[skipped:stop, -1]
        else:
            hides_sep = to_sep.new_tensor(self._samples[rows.sample].index[-1] <= n, dtype=torch.bool)
        self._to_sep[rows.sample][rows.layer, :, own - 1] = to_sep.masked_fill(hides_sep, torch.nan)

    def of_batch(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        for guess, seen, to_sep in zip(self._guess, self._seen, self._to_sep, strict=True):
            visible = torch.stack([_ends(seen), _ends(seen.transpose(1, 2))], 2).transpose(0, 1)
            guess, to_sep = guess.permute(3, 1, 2, 0), to_sep.permute(2, 0, 1)
            yield tuple(
                values.to(kind).cpu().numpy()
                for values, kind in ((guess, torch.int16), (visible, torch.int16), (to_sep, torch.float16))
            )


def _ends(seen: Bool[Tensor, "layer word other"]) -> Int[Tensor, "layer word 2"]:
    # The first and the last word, from 1, that is seen; -1 for none.
    first, last = seen.int().argmax(-1) + 1, seen.shape[-1] - seen.flip(-1).int().argmax(-1)
    return torch.stack([first, last], -1).where(seen.any(-1, keepdim=True), -1)


def extract_arcs(parts: Mapping[str, Sequence[Sentence]], record: ModelRecord, **settings) -> dict[str, ArcGuesses]:
    """Return {"file" or "test", as in `parts`: every head's guesses at the syntactic heads of the part's words}.

    settings: keyword arguments of `ModelOnTask`. Sentences that are too long for the model, or with a word without a
        token, are left out. Raises `InputError` if no sentence of a part can be read.
    """
    run = ModelOnTask(record, **settings)
    guesses = {}
    for name, sentences in parts.items():
        encoded = encode_sentences([sentence.words for sentence in sentences], run.tokenizer, run.longest, run.what)
        (by_sentence,) = run.read(encoded.encoded, Guesses(encoded.word_of_token))
        length = np.array([len(guess) for guess, *_ in by_sentence], dtype=np.int32)
        arrays = map(np.concatenate, zip(*by_sentence, strict=True))
        guesses[name] = ArcGuesses(encoded.kept, length, *arrays, encoded.left_out)
    return guesses


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    arcs = extract_arcs(read_parts(inputs.rows, inputs.test), read_model_record(inputs.model), **spec)
    warn(provenance, [f"{part}: {said}" for part, guesses in arcs.items() for said in guesses.warnings])
    write_arrays(outputs.arcs, arcs, provenance)
