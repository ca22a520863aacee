"""Operations on the attention of heads while a model runs (Guan et al. 2020, section 5)."""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from headtypes.ablation.operations import OPERATIONS, Reading
from headtypes.attention.blocks import Group, Scratch, equal_lengths
from headtypes.attention.hook import Layer
from headtypes.base.errors import InputError

# Blocks of dropped pairs that are kept for the next layer: as a rule all of a batch, and of long samples a few MB.
_BLOCKS_KEPT = 64


class Ablation:
    """Applies one operation to each head after softmax, without renormalising; a handler of `attention.run`.

    operations: [layer, head] text, of `operations.OPERATIONS`.
    sentences:  one array per sample of the batch, the sentence of each real token [token]; -1 for special tokens,
        0 for the first text (the question), from 1 for the sentences of the second (the context).
    reading:    with `uniform_over_padding` the batch must be padded to the full window. Padding is then in no
        sentence, as special tokens are.
    contexts:   [layer, head, channel] mean context of each head (`contexts.measure_head_outputs`); for `mean` alone.

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
        self._scratch = Scratch()
        self._stays = lru_cache(_BLOCKS_KEPT)(_Sentences.stays)

    def __call__(self, number: int, layer: Layer) -> Tensor:
        """The heads' contexts of a layer, ablated: [sample, head, query, channel]."""
        if number == 0:
            padded = layer.query.shape[2] if self._reading.uniform_over_padding else 0
            groups = equal_lengths([max(padded, len(sentence)) for sentence in self._sentences])
            self._groups = [_Sentences(group, self._sentences, self._reading, layer.query.device) for group in groups]
        heads = {name: index.to(layer.query.device) for name, index in self._operations[number].items()}
        if heads.keys() == {"keep"}:
            return layer.context()
        # All heads at once, and the changed ones over them: to pick the kept ones takes memory, and hardly less time.
        context = layer.context() if "keep" in heads else layer.no_context()
        if "zero" in heads:
            context[:, heads["zero"]] = 0
        if "uniform" in heads:
            for group in self._groups:
                some = self._uniform(group.of(layer), heads["uniform"])
                context[group.samples, heads["uniform"], : group.length] = some
        if "mean" in heads:
            means = self._contexts[number].to(context)[heads["mean"]]
            context[:, heads["mean"]] = means[:, None].expand(-1, context.shape[2], -1)
        for name in ("drop_intra", "drop_inter"):
            if name in heads:
                for group in self._groups:
                    self._drop(name, group, group.of(layer).heads(heads[name]), context, heads[name])
        return context

    def _uniform(self, layer: Layer, heads: Tensor) -> Tensor:
        """The contexts of some heads: [sample, head, query or 1, channel]."""
        if layer.mask is None or self._reading.uniform_over_padding:
            return layer.value.index_select(1, heads).mean(2, keepdim=True)
        return layer.heads(heads).uniform().context()

    def _drop(self, operation: str, group: "_Sentences", layer: Layer, context: Tensor, heads: Tensor) -> None:
        """Fill some heads' contexts of a group; `layer` holds these heads and samples alone."""
        for rows in group.blocks():
            stays = self._stays(group, operation, rows.start, rows.stop)
            attention = layer.attention(rows, self._scratch.of(layer, rows)).mul_(stays.to(context.dtype))
            if self._reading.renormalise:
                # A row that lost everything stays zero.
                attention /= attention.sum(-1, keepdim=True).clamp_min(torch.finfo(attention.dtype).tiny)
            context[group.samples, heads, rows] = attention @ layer.value


class _Sentences(Group):
    """Samples of one length, with the pairs of their tokens that are intra- and inter-sentence.

    sentences: one array per sample of the batch; shorter than the group's length where padding counts.
    """

    def __init__(self, group: Group, sentences: list[np.ndarray], reading: Reading, device: torch.device):
        super().__init__(group.samples, group.length)
        padded = [np.pad(each, (0, self.length - len(each)), constant_values=-1) for each in sentences[self.samples]]
        sentence = torch.as_tensor(np.stack(padded).astype(np.int64), device=device)
        self._sentence = sentence.clamp_max(1) if reading.sentences == "segments" else sentence
        self._special_is_inter = reading.special_tokens == "inter"

    def stays(self, operation: str, start: int, stop: int) -> Tensor:
        """Which attention of some queries an operation leaves: [sample, 1, query, key] bool, the same in all layers."""
        query, key = self._sentence[:, None, start:stop, None], self._sentence[:, None, None, :]
        in_sentences = (query >= 0) & (key >= 0)
        intra = (query == key) & in_sentences
        if self._special_is_inter:
            # To itself, every token is within its sentence, so that intra and inter together are all pairs.
            position = torch.arange(self.length, device=self._sentence.device)
            intra |= position[start:stop, None] == position
        if operation == "drop_intra":
            return ~intra
        return intra if self._special_is_inter else intra | ~in_sentences


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
