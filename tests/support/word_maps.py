"""Attention planted where the hooks are called, and what follows from it for words, computed densely."""

from collections.abc import Sequence

import numpy as np
import torch

from headtypes.attention.hook import Layer
from headtypes.attention.reducers import Reducer
from headtypes.data.kinds.treebank import Sentence
from tests.support.reading import reader_of


def read_planted(reducer: Reducer, maps: Sequence[np.ndarray], causal: bool = False):
    """The result of a reducer that reads these maps, [layer, head, query, key] for each sample, in one batch."""
    lengths = [len(each[0, 0]) for each in maps]
    layers, heads = maps[0].shape[:2]
    longest = max(lengths)
    reader = reader_of([reducer], lengths, layers, heads)
    mask = torch.arange(longest) < torch.tensor(lengths)[:, None, None, None]
    if causal:
        mask = mask & torch.ones(longest, longest, dtype=torch.bool).tril()
    for layer in range(layers):
        # Query = ln P, key = identity and scale 1: the attention is P.
        query = torch.full((len(maps), heads, longest, longest), 1e-30)
        for sample, (of_sample, length) in enumerate(zip(maps, lengths, strict=True)):
            query[sample, :, :length, :length] = torch.from_numpy(of_sample[layer]).clamp(min=1e-30)
        key = torch.eye(longest).expand_as(query)
        reader(layer, Layer(query.log(), key, key, mask.expand(-1, 1, longest, -1), 1.0))
    reader.finish("test")
    return reducer.result()


def tokens_of(subwords: Sequence[int], before: int = 1, behind: int = 1) -> list[int]:
    """The word of each token of a sentence: subwords of each word, and special tokens before and behind."""
    words = [word for word, count in enumerate(subwords) for _ in range(count)]
    return [-1] * before + words + [-1] * behind


def random_maps(tokens: int, rng: np.random.Generator, layers: int = 2, heads: int = 3, causal: bool = False):
    maps = rng.random((layers, heads, tokens, tokens)) ** 4
    if causal:
        maps = np.tril(maps)
    return maps / maps.sum(-1, keepdims=True)


def dense_words(maps: np.ndarray, word_of_token: Sequence[int]) -> np.ndarray:
    """Word-level maps by the definition, [..., index, index] float64: `[CLS]`, the words, `[SEP]`."""
    words = max(word_of_token) + 1
    first = word_of_token.index(0)
    tokens = [[index for index, word in enumerate(word_of_token) if word == each] for each in range(words)]
    indices = [list(range(first)), *tokens, list(range(tokens[-1][-1] + 1, len(word_of_token)))]
    found = np.zeros((*maps.shape[:-2], words + 2, words + 2))
    for v, of_v in enumerate(indices):
        for w, of_w in enumerate(indices):
            for s in of_v:
                for t in of_w:
                    found[..., v, w] += maps[..., s, t] / len(of_v)
    return found


def sentence(words: str, heads: Sequence[int], relations: str) -> Sentence:
    split, none = tuple(words.split()), ("",) * len(heads)
    return Sentence(words, split, tuple(heads), tuple(relations.split()), none, none, none)
