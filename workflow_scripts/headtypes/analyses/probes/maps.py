"""The maps that probes read: those of one sentence after the other, in the treebank's order."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from tqdm import tqdm
from transformers import PreTrainedModel

from headtypes.analyses.words.encoding import EncodedWords, encode_sentences, part_of
from headtypes.analyses.words.words import WordMaps
from headtypes.attention.one_pass import read_attention
from headtypes.attention.run import ModelOnTask
from headtypes.data.kinds.treebank import Sentence
from headtypes.models.model_config import layers_and_heads

# Bytes of maps that are held at once.
_HELD = 2**25


class ReadSentences(NamedTuple):
    """The sentences that a model can read, encoded, and the number of those that are too long for it."""

    sentences: list[Sentence]
    encoded: EncodedWords
    left_out: int

    @property
    def numbers(self) -> dict[str, int]:
        """How many sentences are read, and how many left out, for JSON."""
        return {"read": len(self.sentences), "left_out": self.left_out}

    @property
    def has_special_tokens(self) -> bool:
        """Whether some token is of no word."""
        return -1 in self.encoded.word_of_token[0]


def read_sentences(sentences: Sequence[Sentence], run: ModelOnTask) -> ReadSentences:
    """Encode the sentences that the model can read; errors as in `encoding.encode_sentences`."""
    encoded = encode_sentences([sentence.words for sentence in sentences], run.tokenizer, run.longest, run.what)
    return ReadSentences([sentences[index] for index in encoded.kept], encoded, len(sentences) - len(encoded.kept))


def maps_in_both_directions(
    model: PreTrainedModel, encoded: EncodedWords, *, batch_tokens: int, what: str, bar: tqdm
) -> Iterator[torch.Tensor]:
    """W and its transpose for each head and sentence, [2 * layer * head, index, index] float32.

    Those of a few sentences are held at a time.
    """
    heads = math.prod(layers_and_heads(model))
    sizes = np.array([4 * heads * (max(words) + 3) ** 2 for words in encoded.word_of_token])
    starts = np.flatnonzero(np.diff(np.cumsum(sizes) // _HELD, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(sizes)], strict=True):
        part = part_of(encoded, start, stop)
        readers = [WordMaps(part.word_of_token)]
        (of_part,) = read_attention(model, part.encoded, readers, batch_tokens=batch_tokens, what=what, bar=bar)
        for maps in of_part:
            flat = torch.from_numpy(maps).flatten(0, 1)
            yield torch.cat([flat, flat.transpose(1, 2)])
