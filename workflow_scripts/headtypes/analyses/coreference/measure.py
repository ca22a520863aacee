"""Every head's guesses at the antecedents of mentions, read while a model runs (Clark et al. 2019, section 4.3)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from headtypes.analyses.coreference.mentions import CANDIDATES, Anaphor, AntecedentGuesses, anaphors, parts_of, spans_of
from headtypes.analyses.words import WordReducer, WordRows, encode_sentences, encode_words, special_tokens
from headtypes.attention.hook import Batch
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import write_arrays
from headtypes.data.kinds.coreference import AnnotatedDocument
from headtypes.data.tasks import read_records
from headtypes.models.records import ModelRecord, read_model_record


class AntecedentReducer(WordReducer):
    """A reducer whose result is every head's guesses at antecedents: for each part, [mention, layer, head, 3] int16.

    A part is a piece of a document. A guess is the index, in the part, of the word at which the mention's head word
    looks most; -1 if the head word can see none. The three guesses are among all other words, among the words before
    the head word, and among head words of mentions that end before this mention starts.

    word_of_token: for each part the index of each token's word, -1 for special tokens. anaphors_of: for each part the
    mentions whose antecedents are guessed.
    """

    def __init__(self, word_of_token: Sequence[Sequence[int]], anaphors_of: Sequence[Sequence[Anaphor]]):
        super().__init__(word_of_token)
        self._anaphors = anaphors_of

    def start(self, batch: Batch) -> None:
        super().start(batch)
        shape = self.about.layers, self.about.heads, len(CANDIDATES)
        counts = [len(self._anaphors[index]) for index in batch.samples]
        self._guess = [torch.full((count, *shape), -1, device=batch.device) for count in counts]
        self._candidates = [
            [self._candidates_of(anaphor, index) for anaphor in self._anaphors[index]] for index in batch.samples
        ]

    def _candidates_of(self, anaphor: Anaphor, sample: int) -> torch.Tensor:
        index = torch.arange(max(self._word_of_token[sample]) + 1)
        before, mentions = index < anaphor.mention.head, torch.isin(index, torch.tensor(anaphor.candidate_heads))
        return torch.stack([index != anaphor.mention.head, before, mentions]).to(self.batch.device)

    def add_words(self, rows: WordRows) -> None:
        guess = self._guess[rows.sample]
        for number, anaphor in enumerate(self._anaphors[self.batch.samples[rows.sample]]):
            row = anaphor.mention.head + 1 - rows.start
            if not 0 <= row < rows.attention.shape[1]:
                continue
            candidates = self._candidates[rows.sample][number]
            if rows.mask is not None:
                candidates = candidates & rows.mask[row, 1:-1]
            weights = rows.attention[:, row, 1:-1].masked_fill(~candidates[:, None], -torch.inf)
            # The first on a tie.
            value, word = weights.max(-1)
            guess[number, rows.layer] = torch.where(value > -torch.inf, word, -1).T

    def of_batch(self) -> Iterator[np.ndarray]:
        return (guess.to(torch.int16).cpu().numpy() for guess in self._guess)


def extract_antecedents(
    documents: Sequence[AnnotatedDocument], record: ModelRecord, *, extent: str, **settings
) -> AntecedentGuesses:
    """Return every head's guesses at antecedents, for every mention with an antecedent in its part of a document.

    extent: `first` (one part of each document, its beginning, as long as the model's longest input allows) or `chunks`
        (all of the document, in parts of whole sentences). settings: keyword arguments of `ModelOnTask`.
    Raises `InputError` if no part has a mention with an antecedent.
    """
    run = ModelOnTask(record, **settings)
    room = run.longest - sum(map(len, special_tokens(run.tokenizer)))
    parts: list[tuple[int, range, list[Anaphor]]] = []
    unread: list[tuple[int, int]] = []
    for number, document in enumerate(documents):
        words = document.words
        _, word_of = encode_words(run.tokenizer, words)
        counts = np.bincount([word for word in word_of if word >= 0], minlength=len(words))
        without = np.flatnonzero(counts == 0).tolist()
        unread.extend((number, word) for word in without)
        parts += [
            (number, part, coreferent)
            for part in parts_of(document, counts.tolist(), room, extent)
            if (coreferent := anaphors(spans_of(document, part, without)))
        ]
    if not parts:
        raise InputError(f"{run.what}: no part of any document has a mention with an antecedent before it.")
    texts = [documents[number].words[part.start : part.stop] for number, part, _ in parts]
    encoded = encode_sentences(texts, run.tokenizer, run.longest, run.what, whole=False)
    reducer = AntecedentReducer(encoded.word_of_token, [coreferent for *_, coreferent in parts])
    (guesses,) = run.read(encoded.encoded, reducer)
    return AntecedentGuesses(
        *np.array([(number, part.start, part.stop) for number, part, _ in parts], dtype=np.int32).T,
        unread=np.array(unread, dtype=np.int32).reshape(-1, 2),
        part=np.repeat(np.arange(len(parts), dtype=np.int32), [len(coreferent) for *_, coreferent in parts]),
        mention=np.array(
            [(one.mention.start, one.mention.end) for *_, coreferent in parts for one in coreferent], dtype=np.int32
        ),
        guess=np.concatenate(guesses),
    )


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    documents = read_records(inputs.rows, AnnotatedDocument)
    guesses = extract_antecedents(documents, read_model_record(inputs.model), **spec)
    write_arrays(outputs.antecedents, guesses, provenance)
