"""Whole attention maps of a few short samples, to be looked at: for the atlas, and for figures of both papers.

No number is measured on maps; every number is reduced while the model runs. PyTorch is loaded by what runs a model
alone, since others read the files.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from headtypes.attention.reducers import Block, ListPerSample
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import Stored
from headtypes.data.encoding import SPECIAL_KINDS, Encoded, encode_samples

if TYPE_CHECKING:
    from torch import Tensor

    from headtypes.analyses.surface.measure import Surface
    from headtypes.attention.hook import Batch
    from headtypes.attention.one_pass import ModelOnTask
    from headtypes.data.tasks import Sample

# Patterns of Clark's Figure 1, and the column of surface patterns in which the head shown has the largest value.
PATTERNS = {"broad": "entropy", "next": "next", "sep": "sep", "punctuation": "punctuation"}
# As many tokens as Clark's Figure 1 shows.
TOKENS = 15
# The most tokens that a figure as wide as a page can label.
LEGIBLE_TOKENS = 20
# How many samples a reader can choose from where all heads are shown, and the most tokens of each.
SHOWN_SAMPLES, SHOWN_TOKENS = 8, 48


@dataclass(frozen=True)
class AttentionMaps:
    """The attention of every head on one sample.

    attention: [layer, head, query, key]; each row sums to one (in a file, to the precision of float16).
    tokens: the sample's tokens as a person reads them. sample_id: the id of the sample.
    truncated: whether the sample was cut.
    lengths: [layer, head, token] length of the vector that each token hands over through the head
        (`attention.norms`); None if norms were not read.
    """

    attention: Annotated[Float32[np.ndarray, "layer head token token"], Stored(dtype=np.float16)]
    tokens: Annotated[list[str], Stored("token", " token")]
    sample_id: str
    truncated: bool
    lengths: Float32[np.ndarray, "layer head token"] | None = None


@dataclass(frozen=True)
class Examples:
    """The attention of the heads that show the patterns of Clark et al. (2019, Figure 1) best, on one segment.

    Only the segment's last tokens are kept.

    patterns: [example] names of the patterns that the model can have. heads: [example, 2] layer and head, from 0.
    value: [example] the head's mean over all segments of the number that defines the pattern.
    attention: [example, query, key] among the tokens shown; each row is divided by its sum.
    tokens: the tokens as a person reads them. begins: whether the first token shown begins the segment.
    sample_id: the id of the segment.
    """

    patterns: Annotated[list[str], Stored("pattern", "example")]
    heads: Int64[np.ndarray, "example 2"]
    value: Float64[np.ndarray, " example"]
    attention: Float32[np.ndarray, "example token token"]
    tokens: Annotated[list[str], Stored("token", "token")]
    begins: bool
    sample_id: str


class Maps(ListPerSample):
    """A reducer, run with a model, that keeps the whole attention of each sample.

    The result is a list with an array for each sample, [layer, head, query, key] float32. Batches must be of one
    sample.
    """

    def start(self, batch: Batch) -> None:
        super().start(batch)
        self._layers: list[list[Tensor]] = []

    def add(self, block: Block) -> None:
        self.keep(block, block.attention[0])

    def keep(self, block: Block, rows: Tensor) -> None:
        if block.has_first_row:
            self._layers.append([])
        self._layers[-1].append(rows.cpu().clone())

    def right(self) -> Bool[Tensor, "sample layer head query key"]:
        import torch

        self._maps = torch.stack([torch.cat(rows, dim=1) for rows in self._layers])[None]
        return self._maps.isfinite()

    def of_batch(self) -> np.ndarray:
        return self._maps.numpy()


class KeyLengthsRead(Maps):
    """A reducer, run with a model, that keeps the lengths that turn attention into norms.

    The result is a list with an array for each sample, [layer, head, key] float32: the length of the vector that each
    token hands over through the head. Batches must be of one sample.
    """

    of = "norms"

    def add(self, block: Block) -> None:
        if block.has_first_row:
            self.keep(block, block.lengths[0, :, None])

    def of_batch(self) -> np.ndarray:
        return super().of_batch()[..., 0, :]


class LastTokens(Maps):
    """A reducer, run with a model, that keeps the attention among the last tokens of each sample.

    tokens: how many of the last tokens are kept. The result is a list with an array for each sample, [layer, head,
    query, key] float32. Batches must be of one sample.
    """

    def __init__(self, tokens: int):
        self._tokens = tokens

    def add(self, block: Block) -> None:
        first = max(0, block.group.length - self._tokens)
        self.keep(block, block.attention[0, :, max(0, first - block.rows.start) :, first:])


def map_attention(
    run: ModelOnTask, samples: list[Sample], *, kind: str, norms: bool = False, tokens: int = LEGIBLE_TOKENS
) -> AttentionMaps:
    """Return the attention of every head on the sample whose length is nearest to the one wanted.

    run: the model on its task. samples: the samples to choose from.
    kind: the kind of task, which says how samples are cut.
    norms: whether the lengths that turn attention into norms are read as well.
    tokens: the wanted length; a longer sample is cut to this length, as far as its question allows.
    """
    sample, encoded = choose_sample(samples, run.tokenizer, kind, run.longest, tokens)
    (maps,) = _maps_of(run, [sample], encoded, norms)
    return maps


def map_samples(
    run: ModelOnTask,
    samples: list[Sample],
    *,
    kind: str,
    norms: bool = False,
    tokens: int = SHOWN_TOKENS,
    count: int = SHOWN_SAMPLES,
) -> list[AttentionMaps]:
    """Return the attention of every head on the `count` samples of at most `tokens` that `choose_samples` chooses.

    run: the model on its task. samples: the samples to choose from.
    kind: the kind of task, which says how samples are cut.
    norms: whether the lengths that turn attention into norms are read as well.
    """
    return _maps_of(run, *choose_samples(samples, run.tokenizer, kind, run.longest, tokens, count), norms)


def _maps_of(run: ModelOnTask, samples: list[Sample], encoded: Encoded, norms: bool) -> list[AttentionMaps]:
    attentions, *lengths = run.read(encoded, Maps(), *([KeyLengthsRead()] if norms else []), batch_tokens=1)
    tokens = [[readable(run.tokenizer, token) for token in ids] for ids in encoded.input_ids]
    ids, cut = [sample.id for sample in samples], map(bool, encoded.truncated)
    return list(map(AttentionMaps, attentions, tokens, ids, cut, *lengths))


def choose_sample(samples: list[Sample], tokenizer, kind: str, max_length: int, tokens: int) -> tuple[Sample, Encoded]:
    """Return the sample whose length is nearest to `tokens`, and its encoding, cut to `tokens` if it is longer.

    Among equally near samples, samples that need no cut come first, then samples drawn earlier. A sample whose question
    alone would fill the wanted length is skipped. If all samples are skipped, the wanted length is doubled until one
    fits.
    kind: the kind of task, which says how samples are cut. max_length: the most tokens that the model takes.
    tokens: the wanted length.
    """
    tokens = min(tokens, max_length)
    lengths = encode_samples(samples, tokenizer, kind, max_length).lengths
    for index in sorted(range(len(samples)), key=lambda index: (abs(lengths[index] - tokens), lengths[index] > tokens)):
        try:
            return samples[index], encode_samples([samples[index]], tokenizer, kind, tokens)
        except InputError:
            continue
    return choose_sample(samples, tokenizer, kind, max_length, 2 * tokens)


def choose_samples(
    samples: list[Sample], tokenizer, kind: str, max_length: int, tokens: int, count: int
) -> tuple[list[Sample], Encoded]:
    """Return up to `count` of the samples, and the same samples encoded, each cut to `tokens` if it is longer.

    Samples that need no cut come first, and otherwise samples keep their order. A sample whose question alone would
    fill the wanted length is skipped. If all samples are skipped, the one sample of `choose_sample` is returned.
    kind: the kind of task, which says how samples are cut. max_length: the most tokens that the model takes.
    tokens: the wanted length.
    """
    tokens, chosen = min(tokens, max_length), []
    lengths = encode_samples(samples, tokenizer, kind, max_length).lengths
    for index in sorted(range(len(samples)), key=lambda index: lengths[index] > tokens):
        with suppress(InputError):
            encode_samples([samples[index]], tokenizer, kind, tokens)
            chosen.append(samples[index])
        if len(chosen) == count:
            break
    if not chosen:
        sample, encoded = choose_sample(samples, tokenizer, kind, max_length, tokens)
        return [sample], encoded
    return chosen, encode_samples(chosen, tokenizer, kind, tokens)


def readable(tokenizer, token_id: int) -> str:
    # A byte-level token may be a space or part of a character, which only its raw form shows.
    text = tokenizer.decode([token_id]).strip()
    return text if text and "\ufffd" not in text else tokenizer.convert_ids_to_tokens(token_id)


def map_examples(
    run: ModelOnTask, samples: list[Sample], surface: Surface, *, kind: str, tokens: int = TOKENS
) -> Examples:
    """Return the attention, on one segment, of the heads that show patterns of Clark et al. (2019, Figure 1) best.

    The patterns are broad attention, and attention to the next token, to [SEP] and to punctuation.
    surface: the model's surface patterns (shares of attention to kinds of tokens, and entropies) on these samples.
    kind: the kind of task, which says how samples are cut. tokens: how many of the segment's last tokens are kept.
    """
    chosen = choose_segment(run.encode(samples, kind), tokens)
    encoded = run.encode([samples[chosen]], kind)
    ((attention,),) = run.read(encoded, LastTokens(tokens), batch_tokens=1)
    (ids,) = encoded.input_ids
    labels = [readable(run.tokenizer, token) for token in ids[-tokens:]]
    values = {pattern: surface.mean(column) for pattern, column in PATTERNS.items()}
    values = {pattern: of_heads for pattern, of_heads in values.items() if not np.isnan(of_heads).any()}
    heads = np.array([np.unravel_index(of_heads.argmax(), of_heads.shape) for of_heads in values.values()])
    shown = attention[tuple(heads.T)]
    sums = shown.sum(axis=-1, keepdims=True)
    shown = np.divide(shown, sums, out=np.zeros_like(shown), where=sums > 0)
    largest = np.array([of_heads.max() for of_heads in values.values()])
    return Examples(list(values), heads, largest, shown, labels, len(ids) <= tokens, samples[chosen].id)


def choose_segment(encoded: Encoded, tokens: int) -> int:
    """Return the index of the first segment with a [SEP] among its last `tokens` tokens; 0 if there is none.

    The very last token does not count.
    """
    sep = 1 + SPECIAL_KINDS.index("sep")
    has_one = (index for index, kinds in enumerate(encoded.kinds) if (kinds[-tokens:-1] == sep).any())
    return next(has_one, 0)
