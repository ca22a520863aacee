"""Attention to the same word: what a word gives to the same word in the other text, and elsewhere in its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from jaxtyping import Bool, Float32

from headtypes.attention.reducers import Block, Measurement, PerSample
from headtypes.core.hdf5_files import SampleIds, Stored
from headtypes.core.statistics import mean_of_known
from headtypes.data.encoding import BETWEEN

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding
    from torch import Tensor

    from headtypes.attention.hook import Batch
    from headtypes.data.tasks import Sample

PLACES = ("other", "own")
_WORD = re.compile(r"\w+")
# The most frequent words say little of what a text is about: so many that they make up this share of all words.
_FREQUENT = 0.5
_NONE = -1


@dataclass(frozen=True)
class SameWord:
    """The attention of words to equal words, on every sample.

    shares: [sample, layer, head, place] attention of a word to the same word at the place, as a mean over words that
        have the same word there; NaN if none has. Place 0 is the other text, 1 is elsewhere in the word's own text.
    chance: [sample, place] the same mean for even attention to visible tokens. frequent: words that are not counted.
    """

    shares: Float32[np.ndarray, "sample layer head 2"]
    chance: Float32[np.ndarray, "sample 2"]
    sample_ids: SampleIds
    frequent: Annotated[list[str], Stored("frequent", "word")]

    def mean(self, place: str) -> np.ndarray:
        """Return the mean share of words' attention to the same word, over samples that have one: [layer, head].

        place: where the same word is, "other" for the other text of a pair, "own" for elsewhere in a word's own text.
        """
        return mean_of_known(self.shares[..., PLACES.index(place)])

    def mean_chance(self, place: str) -> float:
        return float(mean_of_known(self.chance[:, PLACES.index(place)]))


class SameWords(PerSample):
    """A reducer (it reads a model's attention) that measures how much attention words give to the same word elsewhere.

    words: for each sample, [token, 3] numbers of its words; frequent: words that are not counted; both from `words_of`.
    Result: three fields of `SameWord`, {"shares": [sample, layer, head, place] attention, "chance": [sample, place] the
    same for even attention, "frequent"}. place: 0 for the other text of a pair, 1 for elsewhere in the word's own text.
    """

    by_head = True

    def __init__(self, words: Sequence[np.ndarray], frequent: list[str]):
        super().__init__(len(PLACES))
        self._words, self._frequent = words, frequent
        self._chance = np.full((len(words), len(PLACES)), np.nan, np.float32)

    def start(self, batch: Batch) -> None:
        import torch

        super().start(batch)
        self._pairs: dict[int, tuple[Tensor, Tensor]] = {}
        # [sample, 2]: weights of the rows that have the same word where they may look, and what chance gives them.
        self._rows, self._even = torch.zeros(2, len(batch.samples), len(PLACES), device=batch.device).unbind()

    def add(self, block: Block) -> None:
        import torch

        group, rows = block.group, block.rows
        if group.samples.start not in self._pairs:
            of_group = [self._words[sample] for sample in self.batch.samples[group.samples]]
            self._pairs[group.samples.start] = _pairs(of_group, block.attention.device)
        same, weight = self._pairs[group.samples.start]
        seen = same[:, :, rows]
        if block.mask is not None:
            seen = seen & block.mask
        # [sample, place, row]
        has = seen.any(-1) * weight[:, None, rows]
        for place in range(len(PLACES)):
            given = torch.einsum("shrk,srk->shr", block.attention, seen[:, place].to(block.attention.dtype))
            self.values[group.samples, block.layer, block.heads, place] += (given * weight[:, None, rows]).sum(-1)
        if block.layer == 0 and block.heads.start in (0, None):
            visible = block.attention.shape[-1] if block.mask is None else block.mask.sum(-1)
            self._rows[group.samples] += has.sum(-1)
            self._even[group.samples] += (seen.sum(-1) / visible * weight[:, None, rows]).sum(-1)

    def finish(self) -> None:
        none = self._rows.where(self._rows > 0, float("nan"))
        self.values /= none[:, None, None]
        self._chance[self.batch.samples] = (self._even / none).cpu().numpy()
        super().finish()

    def result(self) -> dict[str, np.ndarray | list[str]]:
        return {"shares": super().result(), "chance": self._chance, "frequent": self._frequent}


def words_of(samples: Sequence[Sample], encodings: Sequence[Encoding]) -> tuple[list[np.ndarray], list[str]]:
    """Return (words, frequent): the word of each token, and the most frequent words, which are not counted.

    words: for each sample [token, 3] int64: number of the token's word (equal words have equal numbers); position of
        the word among the sample's words, from 0; and text (0 or 1). All three are -1 for a frequent word or no word.
    frequent: words, most frequent first, until they make up half of all occurrences; never a word that occurs once.
    """
    found = [_words_of_tokens(*each) for each in zip(samples, encodings, strict=True)]
    counts = Counter(word for of_tokens in found for word, _ in dict.fromkeys(filter(None, of_tokens)))
    frequent, seen = {}, 0
    for word, count in counts.most_common():
        if count == 1 or seen >= _FREQUENT * counts.total():
            break
        frequent[word] = seen = seen + count
    numbers = {word: number for number, word in enumerate(counts)}
    tables = []
    for of_tokens in found:
        places = {occurrence: place for place, occurrence in enumerate(dict.fromkeys(filter(None, of_tokens)))}
        rows = [
            (numbers[occurrence[0]], places[occurrence], occurrence[1][0])
            if occurrence and occurrence[0] not in frequent
            else (_NONE,) * 3
            for occurrence in of_tokens
        ]
        tables.append(np.array(rows, np.int64))
    return tables, list(frequent)


# For each token (word in lower case, (text 0 or 1, character where it begins)), None if in no word.
def _words_of_tokens(sample: Sample, encoding: Encoding) -> list[tuple[str, tuple[int, int]] | None]:
    texts = [text for text in (sample.first, sample.second) if text is not None]
    if len(texts) == 2 and 1 not in encoding.sequence_ids:
        # Read as one: the second text begins behind the first.
        texts = [BETWEEN.join(texts)]
    starts = [{place: match for match in _WORD.finditer(text) for place in range(*match.span())} for text in texts]
    of_tokens: list[tuple[str, tuple[int, int]] | None] = []
    for text, (start, end) in zip(encoding.sequence_ids, encoding.offsets, strict=True):
        places = () if text is None else range(start, end)
        match = next((starts[text][place] for place in places if place in starts[text]), None)
        in_second = match is not None and len(texts) < 2 and sample.second is not None
        in_second = in_second and match.start() > len(sample.first)
        of_tokens.append(match and (match[0].lower(), (int(in_second or text), match.start())))
    return of_tokens


# Which keys are the same word as a query, in the other text and elsewhere in its own; and each query's weight in a mean
# over occurrences, the weights of whose tokens sum to one.
def _pairs(words: Sequence[np.ndarray], device: torch.device) -> tuple[Bool[Tensor, "sample 2 query key"], Tensor]:
    import torch

    table = torch.as_tensor(np.stack(words), device=device)
    word, occurrence, text = table.unbind(-1)
    counts = word >= 0
    same = (word[:, :, None] == word[:, None]) & counts[:, :, None] & counts[:, None]
    of_text = text[:, :, None] == text[:, None]
    itself = occurrence[:, :, None] == occurrence[:, None]
    weight = counts / (itself & counts[:, None]).sum(-1).clamp_min(1)
    return torch.stack([same & ~of_text, same & of_text & ~itself], 1), weight


measure_same_word = Measurement(
    lambda run, encoded, norms: [SameWords(*words_of(encoded.samples, encoded.encodings))],
    lambda run, samples, encoded, read: SameWord(**read[0], sample_ids=[sample.id for sample in samples]),
)
