"""Whole attention maps of a few short samples, to be looked at: for the atlas, and for figures of both papers.

No number is measured on maps. Only what runs a model loads PyTorch, since others read the files.
"""

from __future__ import annotations

import sys
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
# Tokens that Clark's Figure 1 shows, and the most that a figure as wide as a page can label.
TOKENS, LEGIBLE_TOKENS = 15, 20
# How many samples a reader can choose from where all heads are shown, and the most tokens of each.
SHOWN_SAMPLES, SHOWN_TOKENS = 8, 48


@dataclass(frozen=True)
class AttentionMaps:
    """The attention of every head on one sample; each row sums to one (in a file, to the precision of float16).

    attention: [layer, head, query, key]. tokens: as a reader sees them. truncated: whether the sample was cut. lengths:
    [layer, head, token] of what each token hands over (`attention.norms`); None if norms were not read.
    """

    attention: Annotated[Float32[np.ndarray, "layer head token token"], Stored(dtype=np.float16)]
    tokens: Annotated[list[str], Stored("token", " token")]
    sample_id: str
    truncated: bool
    lengths: Float32[np.ndarray, "layer head token"] | None = None


@dataclass(frozen=True)
class Examples:
    """The attention, on one segment, of the head that shows each pattern of Clark et al. (2019, Figure 1) best.

    patterns: names of the patterns. heads: [pattern, 2] layer and head, from 0. value: [pattern] the head's number that
    defines the pattern, such as the share of its attention to the next token, mean over all segments. attention:
    [pattern, query, key], of the tokens shown; each row is divided by its sum. begins: whether they begin the segment.
    """

    patterns: Annotated[list[str], Stored("pattern", "example")]
    heads: Int64[np.ndarray, "example 2"]
    value: Float64[np.ndarray, " example"]
    attention: Float32[np.ndarray, "example token token"]
    tokens: Annotated[list[str], Stored("token", "token")]
    begins: bool
    sample_id: str


class Maps(ListPerSample):
    """A reducer whose result is the attention among the last tokens of each sample, [layer, head, query, key].

    tokens: the number of tokens, all by default. Batches must be of one sample.
    """

    def __init__(self, tokens: int = sys.maxsize):
        self._tokens = tokens

    def start(self, batch: Batch) -> None:
        super().start(batch)
        self._layers: list[list[Tensor]] = []

    def add(self, block: Block) -> None:
        first = max(0, block.group.length - self._tokens)
        self.keep(block, block.attention[0, :, max(0, first - block.rows.start) :, first:])

    def keep(self, block: Block, rows: Tensor) -> None:
        if block.rows.start == 0:
            self._layers.append([])
        self._layers[-1].append(rows.cpu().clone())

    def right(self) -> Bool[Tensor, "sample layer head query key"]:
        import torch

        self._maps = torch.stack([torch.cat(rows, dim=1) for rows in self._layers])[None]
        return self._maps.isfinite()

    def of_batch(self) -> np.ndarray:
        return self._maps.numpy()


class KeyLengthsRead(Maps):
    """A reducer of the length of what each token hands over, [layer, head, key]; attention times it gives norms."""

    of = "norms"

    def add(self, block: Block) -> None:
        if block.rows.start == 0:
            self.keep(block, block.lengths[0, :, None])

    def of_batch(self) -> np.ndarray:
        return super().of_batch()[..., 0, :]


def map_samples(
    run: ModelOnTask, samples: list[Sample], *, kind: str, norms=False, tokens=SHOWN_TOKENS, count=SHOWN_SAMPLES
) -> list[AttentionMaps]:
    """Return all heads' attention on each of up to `count` samples, cut to `tokens` tokens if longer.

    kind: kind of task, such as `text`. norms: whether lengths of what tokens hand over are read, too. If `count` is 1,
    the sample with the length nearest to `tokens` is taken; else the first that need no cut, then longer ones. A cut
    removes the end of the sample's second text for question answering, else of the longer (or only) text.
    """
    samples, encoded = choose_samples(samples, run.tokenizer, kind, run.longest, tokens, count)
    attentions, *lengths = run.read(encoded, Maps(), *([KeyLengthsRead()] if norms else []), batch_tokens=1)
    read = [[readable(run.tokenizer, token) for token in ids] for ids in encoded.input_ids]
    ids, cut = [sample.id for sample in samples], map(bool, encoded.truncated)
    return list(map(AttentionMaps, attentions, read, ids, cut, *lengths))


def choose_samples(
    samples: list[Sample], tokenizer, kind: str, max_length: int, tokens: int, count: int = 1
) -> tuple[list[Sample], Encoded]:
    tokens, chosen = min(tokens, max_length), []
    lengths = encode_samples(samples, tokenizer, kind, max_length).lengths
    off = [abs(length - tokens) if count == 1 else 0 for length in lengths]
    for index in sorted(range(len(samples)), key=lambda index: (off[index], lengths[index] > tokens)):
        # A question alone may fill all tokens.
        with suppress(InputError):
            encode_samples([samples[index]], tokenizer, kind, tokens)
            chosen.append(samples[index])
        if len(chosen) == count:
            break
    if not chosen:
        return choose_samples(samples, tokenizer, kind, max_length, 2 * tokens)
    return chosen, encode_samples(chosen, tokenizer, kind, tokens)


def readable(tokenizer, token_id: int) -> str:
    # A byte-level token may be a space or part of a character, which only its raw form shows.
    text = tokenizer.decode([token_id]).strip()
    return text if text and "\ufffd" not in text else tokenizer.convert_ids_to_tokens(token_id)


def map_examples(
    run: ModelOnTask, samples: list[Sample], surface: Surface, *, kind: str, tokens: int = TOKENS
) -> Examples:
    """Return the attention, on one segment, of the heads that show patterns of Clark et al. (2019, Figure 1) best.

    The segment is the first with a [SEP] in its last `tokens` tokens, the final token aside, or, if none has one, the
    first of all. Its last `tokens` tokens are shown. surface: patterns of all heads on all samples. kind: of task.
    """
    chosen = choose_segment(run.encode(samples, kind), tokens)
    encoded = run.encode([samples[chosen]], kind)
    ((attention,),) = run.read(encoded, Maps(tokens), batch_tokens=1)
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
    sep = 1 + SPECIAL_KINDS.index("sep")
    has_one = (index for index, kinds in enumerate(encoded.kinds) if (kinds[-tokens:-1] == sep).any())
    return next(has_one, 0)
