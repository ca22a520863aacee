"""Operations on the attention of heads while a model runs (Guan et al. 2020, section 5)."""

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from headtypes.attention import Layer
from headtypes.errors import InputError
from headtypes.operations import OPERATIONS, Reading

_BLOCK_ROWS = 128


class Ablation:
    """Applies one operation to each head after softmax, without renormalising; a handler of `attention.run`.

    operations: [layer, head] text, of `operations.OPERATIONS`.
    sentences:  one array per sample of the batch, the sentence of each real token [token]; -1 for special tokens,
        0 for the first text (the question), from 1 for the sentences of the second (the context).
    reading:    with `uniform_over_padding` the batch must be padded to the full window. Padding is then in no
        sentence, as special tokens are.
    contexts:   [layer, head, channel] mean context of each head (`contexts.measure_contexts`); for `mean` alone.

    zero:       the context of the head is zero; the bias of the output projection stays.
    uniform:    the context of every query is the mean of the values of the real tokens: A[s, t] = 1 / L. In causal and
        local layers, which the paper does not have, the mean is over the tokens that the query may look at, unless the
        reading is `uniform_over_padding`, which fills the whole matrix there too.
    mean:       the context of every query is the head's mean context.
    drop_intra: attention within a sentence, a token's attention to itself included, becomes zero.
    drop_inter: attention between sentences becomes zero.
    """

    def __init__(
        self,
        operations: np.ndarray,
        sentences: list[np.ndarray],
        reading: Reading,
        contexts: np.ndarray | None = None,
    ):
        _check(operations, contexts)
        self._operations = [_heads_by_operation(layer) for layer in operations]
        self._sentences, self._reading = sentences, reading
        self._contexts = None if contexts is None else torch.as_tensor(contexts)

    def __call__(self, number: int, layer: Layer) -> Tensor:
        if number == 0:
            length = layer.query.shape[2] if self._reading.uniform_over_padding else 0
            self._samples = [_Sentences(sentence, self._reading, length) for sentence in self._sentences]
        heads = {name: index.to(layer.query.device) for name, index in self._operations[number].items()}
        if heads.keys() == {"keep"}:
            return layer.context()
        context = layer.no_context()
        if "keep" in heads:
            context[:, heads["keep"]] = layer.heads(heads["keep"]).context()
        if "uniform" in heads:
            for index, sample in enumerate(self._samples):
                one = layer.sample(index, sample.length)
                context[index, heads["uniform"], : sample.length] = self._uniform(one, heads["uniform"])
        if "mean" in heads:
            means = self._contexts[number].to(context)[heads["mean"]]
            context[:, heads["mean"]] = means[:, None].expand(-1, context.shape[2], -1)
        for name in ("drop_intra", "drop_inter"):
            if name in heads:
                context[:, heads[name]] = self._dropped(layer.heads(heads[name]), name)
        return context

    def _uniform(self, layer: Layer, heads: Tensor) -> Tensor:
        """The contexts of some heads on one sample: [head, query or 1, channel]."""
        if layer.mask is None or self._reading.uniform_over_padding:
            return layer.value[0, heads].mean(1, keepdim=True)
        return layer.heads(heads).uniform().context()[0]

    def _dropped(self, layer: Layer, operation: str) -> Tensor:
        context = layer.no_context()
        for index, sample in enumerate(self._samples):
            one, length = layer.sample(index, sample.length), sample.length
            stays = sample.stays(operation, layer.query)
            for start in range(0, length, _BLOCK_ROWS):
                rows = slice(start, min(start + _BLOCK_ROWS, length))
                attention = one.attention(rows) * stays[rows]
                if self._reading.renormalise:
                    # A row that lost everything stays zero.
                    attention = attention / attention.sum(-1, keepdim=True).clamp_min(torch.finfo(attention.dtype).tiny)
                context[index : index + 1, :, rows] = attention @ one.value
        return context


class _Sentences:
    """Which pairs of one sample's tokens are intra- and which inter-sentence.

    length: tokens with the padding that counts, where it is more than there are.
    """

    def __init__(self, sentence: np.ndarray, reading: Reading, length: int):
        self.length = max(length, len(sentence))
        sentence = np.pad(sentence, (0, self.length - len(sentence)), constant_values=-1)
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


def _check(operations: np.ndarray, contexts: np.ndarray | None) -> None:
    unknown = sorted(set(operations.flat) - set(OPERATIONS))
    if unknown:
        raise InputError(f"There is no operation {unknown[0]!r}; operations are {', '.join(OPERATIONS)}.")
    if contexts is None and (operations == "mean").any():
        raise InputError("The operation mean needs the heads' mean contexts; measure them on the task's samples first.")
    if contexts is not None and contexts.shape[:2] != operations.shape:
        raise InputError(
            "The mean contexts are of {} layers of {} heads and the model has {} of {}; ".format(
                *contexts.shape[:2], *operations.shape
            )
            + "measure them on this model."
        )


def _heads_by_operation(operations: np.ndarray) -> dict[str, Tensor]:
    """The heads [head] of one layer, by what is done to them."""
    return {name: torch.as_tensor(np.flatnonzero(operations == name)) for name in dict.fromkeys(operations)}
