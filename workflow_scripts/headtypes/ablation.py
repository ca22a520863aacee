"""What is done to the attention of a head, and what the model then computes (Guan et al. 2020, section 5)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from headtypes.attention import Layer

_BLOCK_ROWS = 128


@dataclass(frozen=True)
class Reading:
    """How the paper's text is read where it leaves a choice.

    sentences:      "splitter", or "segments": question and context are the two sentences.
    special_tokens: "neither", or "inter": attention to or from `[CLS]` and `[SEP]` is inter-sentence.
    renormalise:    whether rows of attention are divided by their sum after tokens were dropped.
    """

    sentences: str = "splitter"
    special_tokens: str = "neither"
    renormalise: bool = False


def operations_by_head(types: np.ndarray, operations: dict[str, str]) -> np.ndarray:
    """The operation on each head: [layer, head] text, from the heads' types [layer, head] and {type: operation}."""
    return np.vectorize(lambda type_: operations.get(type_, "keep"), otypes=[object])(types)


class Ablation:
    """Applies one operation to each head after softmax, without renormalising; a handler of `attention.run`.

    operations: [layer, head] text: keep, zero, uniform, drop_intra or drop_inter.
    sentences:  one array per sample of the batch, the sentence of each real token [token]; -1 for special tokens,
        0 for the question, from 1 for the context's sentences.

    zero:       the context of the head is zero; the bias of the output projection stays.
    uniform:    the context of every query is the mean of the values of the real tokens: A[s, t] = 1 / L.
    drop_intra: attention within a sentence, a token's attention to itself included, becomes zero.
    drop_inter: attention between sentences becomes zero.
    """

    def __init__(self, operations: np.ndarray, sentences: list[np.ndarray], reading: Reading = Reading()):
        self._operations = [_heads_by_operation(layer) for layer in operations]
        self._samples = [_Sentences(sentence, reading) for sentence in sentences]
        self._renormalise = reading.renormalise

    def __call__(self, number: int, layer: Layer) -> Tensor:
        heads = {name: index.to(layer.query.device) for name, index in self._operations[number].items()}
        if heads.keys() == {"keep"}:
            return layer.context()
        context = torch.zeros_like(layer.query)
        if "keep" in heads:
            context[:, heads["keep"]] = layer.heads(heads["keep"]).context()
        if "uniform" in heads:
            for index, sample in enumerate(self._samples):
                values = layer.value[index, heads["uniform"], : sample.length]
                context[index, heads["uniform"]] = values.mean(1, keepdim=True)
        for name in ("drop_intra", "drop_inter"):
            if name in heads:
                context[:, heads[name]] = self._dropped(layer.heads(heads[name]), name)
        return context

    def _dropped(self, layer: Layer, operation: str) -> Tensor:
        context = torch.zeros_like(layer.query)
        for index, sample in enumerate(self._samples):
            one, length = layer.sample(index, sample.length), sample.length
            stays = sample.stays(operation, layer.query)
            for start in range(0, length, _BLOCK_ROWS):
                rows = slice(start, min(start + _BLOCK_ROWS, length))
                attention = one.attention(rows) * stays[rows]
                if self._renormalise:
                    # A row that lost everything stays zero.
                    attention = attention / attention.sum(-1, keepdim=True).clamp_min(torch.finfo(attention.dtype).tiny)
                context[index : index + 1, :, rows] = attention @ one.value
        return context


class _Sentences:
    """Which pairs of one sample's tokens are intra- and which inter-sentence."""

    def __init__(self, sentence: np.ndarray, reading: Reading):
        self.length = len(sentence)
        self._sentence = np.minimum(sentence, 1) if reading.sentences == "segments" else sentence
        self._special_is_inter = reading.special_tokens == "inter"
        self._cache: dict[str, Tensor] = {}

    def stays(self, operation: str, like: Tensor) -> Tensor:
        """[query, key], 1 where attention stays and 0 where the operation drops it; the same for all layers."""
        if operation not in self._cache:
            dropped = self._intra if operation == "drop_intra" else self._inter
            self._cache[operation] = torch.as_tensor(~dropped).to(like.device, like.dtype)
        return self._cache[operation]

    @cached_property
    def _intra(self) -> np.ndarray:
        same = (self._sentence[:, None] == self._sentence[None, :]) & self._in_sentences
        if self._special_is_inter:
            # To itself, every token is within its sentence, so that intra and inter together are all pairs.
            same |= np.eye(self.length, dtype=bool)
        return same

    @cached_property
    def _inter(self) -> np.ndarray:
        return ~self._intra if self._special_is_inter else self._in_sentences & ~self._intra

    @cached_property
    def _in_sentences(self) -> np.ndarray:
        ordinary = self._sentence >= 0
        return ordinary[:, None] & ordinary[None, :]


def _heads_by_operation(operations: np.ndarray) -> dict[str, Tensor]:
    """The heads [head] of one layer, by what is done to them."""
    return {name: torch.as_tensor(np.flatnonzero(operations == name)) for name in dict.fromkeys(operations)}
