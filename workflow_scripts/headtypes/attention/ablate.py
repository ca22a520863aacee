"""Operations on the attention of heads while a model runs (Guan et al. 2020, section 5)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headtypes.attention.hook import LONG, Group, Layer, Scratch, equal_lengths
from headtypes.attention.operations import Reading, operation_of
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed

# Masks of dropped pairs that are kept for the next layer: usually all those of a batch; for long samples, a few MB.
_BLOCKS_KEPT = 64
# Takes attention [sample, head, row, key] and the slice of its query rows, and returns other attention.
Change = Callable[[Tensor, slice], Tensor]


class Ablation:
    """A hook (called with each layer, `hook.run`) that applies one operation to each head while a batch is run.

    operations: [layer, head] texts such as `zero` or `temperature 2`; `keep` leaves a head as it is.
    sentences: for each sample [token], the number of each token's sentence, without padding. -1 is a special token, 0
        the first text (the question); sentences of the second text (the context) count from 1.
    reading: one way to read the paper; with `uniform_over_padding` the batch must be padded to `max_seq_length`.
    head_outputs: [layer, head, channel] each head's mean output over tokens; None if no operation is `mean`.
    """

    def __init__(
        self,
        operations: np.ndarray,
        sentences: list[np.ndarray],
        reading: Reading,
        head_outputs: np.ndarray | None = None,
    ):
        needing = np.vectorize(lambda operation: operation_of(operation).needs_head_outputs, otypes=[bool])(operations)
        if head_outputs is None and needing.any():
            raise InputError(
                f"The operation {operations[needing][0]} needs the mean head outputs; measure them on the "
                "task's samples first."
            )
        if head_outputs is not None and head_outputs.shape[:2] != operations.shape:
            raise InputError(
                "The mean head outputs are those of {} layers of {} heads, but the model has {} layers of {}; ".format(
                    *head_outputs.shape[:2], *operations.shape
                )
                + "measure them on this model."
            )
        if head_outputs is not None and not np.isfinite(head_outputs[needing]).all():
            raise InputError("The mean head outputs are not finite; measure them again, in float32.")
        self.reading = reading
        self._operations = [
            [(operation_of(text), torch.as_tensor(np.flatnonzero(layer == text))) for text in dict.fromkeys(layer)]
            for layer in operations
        ]
        self._sentences = sentences
        self._groups: list[SentencePairs] | None = None
        self.head_outputs = None if head_outputs is None else torch.as_tensor(head_outputs)
        self.scratch = Scratch()
        self.pairs_left = lru_cache(_BLOCKS_KEPT)(SentencePairs.left)

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "sample head query channel"]:
        groups = self.groups_of(number, layer)
        operations = self._operations[number]
        kept = [heads for operation, heads in operations if operation.change is None]
        if kept and layer.key.shape[2] < LONG:
            # The changed ones are overwritten: computing the kept ones alone would hardly take less time.
            outputs = layer.head_outputs()
        else:
            outputs = layer.zero_outputs()
            for heads in _consecutive(kept):
                outputs[:, heads] = layer.heads(heads).head_outputs()
        for operation, heads in operations:
            if operation.change is not None:
                heads = heads.to(layer.query.device)
                for pairs in groups:
                    changed = operation.change(AblatedHeads(self, number, pairs.part(layer), heads, pairs))
                    outputs[pairs.samples, heads, : pairs.length] = changed
        return outputs

    def groups_of(self, number: int, layer: Layer) -> "list[SentencePairs]":
        if self._groups is None:
            padded = layer.query.shape[2] if self.reading.uniform_over_padding else 0
            lengths, device = [max(padded, len(sentence)) for sentence in self._sentences], layer.query.device
            groups = equal_lengths(lengths, device)
            self._groups = [SentencePairs(group, self._sentences, self.reading, device) for group in groups]
        return self._groups


@dataclass(frozen=True)
class AblatedHeads:
    """The heads of one layer that an operation changes, on samples of one length; the argument of `Operation.change`.

    layer_number: from 0. head_numbers: [head], from 0, those to change. all_heads: the `Layer` with all its heads.
    """

    ablation: Ablation
    layer_number: int
    all_heads: Layer
    head_numbers: Tensor
    group: "SentencePairs"

    @cached_property
    def layer(self) -> Layer:
        return self.all_heads.heads(self.head_numbers)

    @property
    def mean_outputs(self) -> Float[Tensor, "head 1 channel"]:
        """Mean output of each head over tokens, from the `Ablation`; `InputError` for a wrong number of channels."""
        means, value = self.ablation.head_outputs[self.layer_number], self.all_heads.value
        if means.shape[-1] != value.shape[-1]:
            raise InputError(
                f"The mean head outputs have {means.shape[-1]} numbers for a head, but a head of the model has "
                f"{value.shape[-1]}; measure them on this model."
            )
        return means.to(value)[self.head_numbers][:, None]

    def changed(self, change: Change) -> Float[Tensor, "sample head query channel"]:
        """Return outputs after `change`: (attention [sample, head, row, key], slice of queries) -> other attention."""
        outputs = self.layer.zero_outputs()
        for block, layer, rows, attention in self.blocks():
            found, shape = change(attention, rows), list(attention.shape)
            if not isinstance(found, Tensor) or list(found.shape) != shape or not found.is_floating_point():
                raise InputError(
                    f"An operation has to return attention as it was given, floating-point numbers {shape}; found "
                    f"{f'{found.dtype} {list(found.shape)}' if isinstance(found, Tensor) else type(found).__name__}."
                )
            outputs[block] = found.to(attention.dtype) @ layer.value
        return outputs

    def blocks(self) -> Iterator[tuple[tuple[slice, ...], Layer, slice, Tensor]]:
        """Yield (place, layer, rows, attention) for each block: `rows`, a slice of the queries, of one head or of all.

        attention: [sample, head, row, key], before the operation, in memory that the next block overwrites. layer: the
        inputs of the block's heads. place: where the block's outputs belong in [sample, head, query, channel].
        """
        for heads, layer, rows in self.group.blocks_of_heads(self.layer):
            attention = layer.attention(rows, self.ablation.scratch.memory(layer, rows))
            yield (slice(None), heads, rows), layer, rows, attention


class SentencePairs(Group):
    """Samples of one length that know which pairs of tokens are within a sentence (intra) or between two (inter).

    sentences: a list for all samples of the batch: [token] number of each token's sentence, -1 for a special token.
    """

    def __init__(self, group: Group, sentences: list[np.ndarray], reading: Reading, device: torch.device):
        super().__init__(group.samples, group.length)
        padded = [np.pad(row, (0, self.length - len(row)), constant_values=-1) for row in sentences[self.samples]]
        self._given = np.stack(padded).astype(np.int64)
        sentence = torch.as_tensor(self._given, device=device)
        self._sentence = sentence.clamp_max(1) if reading.sentences == "segments" else sentence
        self._special_tokens = reading.special_tokens

    def left(self, dropped: Literal["intra", "inter"], start: int, stop: int) -> Bool[Tensor, "sample 1 row key"]:
        """Return for each query and key whether the pair is left, not dropped.

        dropped: pairs within a sentence (intra) or between sentences (inter); `Reading.special_tokens` decides whether
            pairs with a special token are dropped, too. Queries are tokens `start` to `stop` - 1, keys all tokens.
        """
        query, key = self._sentence[:, None, start:stop, None], self._sentence[:, None, None, :]
        in_sentences = (query >= 0) & (key >= 0)
        intra = (query == key) & in_sentences
        if self._special_tokens == "neither":
            return ~intra if dropped == "intra" else intra | ~in_sentences
        # A token's attention to itself is intra, even for special tokens: intra and inter together cover all pairs.
        position = torch.arange(self.length, device=self._sentence.device)
        intra |= position[start:stop, None] == position
        if dropped == "inter":
            return intra
        return in_sentences & ~intra if self._special_tokens == "cut" else ~intra

    def drawn(
        self, mask: Bool[Tensor, "#sample 1 query key"] | None, *, seed: int, layer: int, heads: int
    ) -> Int[Tensor, "sample token head"]:
        """Return for each token and head the index in the sample of another token, drawn at random.

        mask: whether a query may look at a key; None if all may. layer: number of the layer. heads: number of heads.
        A special token draws from the other visible special tokens, any other token from the other visible tokens that
        are not special. A token of padding, or with nothing to draw, gets its own index.
        """
        special, itself = self._sentence < 0, torch.arange(self.length, device=self._sentence.device)
        # All tokens but padding may look at themselves.
        real = torch.ones_like(special) if mask is None else mask[:, 0].diagonal(dim1=1, dim2=2).expand_as(special)
        numbers = np.zeros((*special.shape, heads), np.int64)
        for of_sample, sentence, tokens in zip(numbers, self._given, real.cpu().numpy(), strict=True):
            rng = np.random.default_rng(derive_seed(seed, layer, *sentence[tokens].tolist()))
            of_sample[tokens] = rng.integers(2**62, size=(tokens.sum(), heads))
        numbers, drawn = torch.as_tensor(numbers, device=special.device), []
        for rows in self.blocks(special.device):
            others = special[:, rows, None] == special[:, None]
            others.diagonal(rows.start, 1, 2).fill_(False)
            if mask is not None:
                others &= mask[:, 0, rows] & real[:, rows, None]
            rank = others.cumsum(-1)
            count = rank[..., -1:]
            chosen = torch.searchsorted(rank, numbers[:, rows] % count.clamp_min(1) + 1)
            drawn.append(chosen.where(count > 0, itself[rows, None]))
        return torch.cat(drawn, 1)


def _consecutive(heads: list[Tensor]) -> list[slice]:
    numbers = torch.cat(heads).tolist() if heads else []
    starts = [number for number in numbers if number - 1 not in numbers]
    stops = [number + 1 for number in numbers if number + 1 not in numbers]
    return [slice(start, stop) for start, stop in zip(starts, stops, strict=True)]
