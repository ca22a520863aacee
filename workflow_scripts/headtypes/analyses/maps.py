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
    from headtypes.attention.batches import Batch
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
    """Attention of every head on one sample.

    attention: rows sum to one (in a file, to the precision of float16). tokens: as a person reads them.
    truncated: whether the sample was cut. lengths: of what each token hands over (`attention.norms`), or None.
    """

    attention: Annotated[Float32[np.ndarray, "layer head token token"], Stored(dtype=np.float16)]
    tokens: Annotated[list[str], Stored("token", " token")]
    sample_id: str
    truncated: bool
    lengths: Float32[np.ndarray, "layer head token"] | None = None


@dataclass(frozen=True)
class Examples:
    """The heads that show patterns best, on the last tokens of one segment.

    patterns: those of `PATTERNS` that the model can have; heads: layer and head of each, from 0; value: mean over all
        segments of the pattern's column.
    attention: from token to token among those shown, each row divided by its sum.
    tokens: as a person reads them; begins: whether the first token shown begins the segment.
    """

    patterns: Annotated[list[str], Stored("pattern", "example")]
    heads: Int64[np.ndarray, "example 2"]
    value: Float64[np.ndarray, " example"]
    attention: Float32[np.ndarray, "example token token"]
    tokens: Annotated[list[str], Stored("token", "token")]
    begins: bool
    sample_id: str


class Maps(ListPerSample):
    """A reducer that keeps the whole attention of each sample, one after the other in batches of one.

    The result is a list with [layer, head, query, key] float32 for each sample.
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
    """A reducer of the lengths that turn the maps of each sample into norms, in batches of one.

    The result is a list with [layer, head, key] float32 for each sample, the lengths of what each token hands over.
    """

    of = "norms"

    def add(self, block: Block) -> None:
        if block.has_first_row:
            self.keep(block, block.lengths[0, :, None])

    def of_batch(self) -> np.ndarray:
        return super().of_batch()[..., 0, :]


class LastTokens(Maps):
    """A reducer that keeps the attention among the last tokens of one sample: [layer, head, query, key] float32."""

    def __init__(self, tokens: int):
        self._tokens = tokens

    def add(self, block: Block) -> None:
        first = max(0, block.group.length - self._tokens)
        self.keep(block, block.attention[0, :, max(0, first - block.rows.start) :, first:])


def map_attention(
    run: ModelOnTask, samples: list[Sample], *, kind: str, norms: bool = False, tokens: int = LEGIBLE_TOKENS
) -> AttentionMaps:
    """Run a model over the sample whose length is nearest to the one wanted, and keep its attention.

    kind:   kind of task, which says how its samples are cut.
    norms:  whether the lengths that turn attention into norms are read as well.
    tokens: wanted length; a sample that is longer is cut to it, as far as its question allows.
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
    """Run a model over `count` samples of at most `tokens`, and keep the attention of each; as `map_attention`."""
    return _maps_of(run, *choose_samples(samples, run.tokenizer, kind, run.longest, tokens, count), norms)


def _maps_of(run: ModelOnTask, samples: list[Sample], encoded: Encoded, norms: bool) -> list[AttentionMaps]:
    attentions, *lengths = run.read(encoded, Maps(), *([KeyLengthsRead()] if norms else []), batch_tokens=1)
    tokens = [[readable(run.tokenizer, token) for token in ids] for ids in encoded.input_ids]
    ids, cut = [sample.id for sample in samples], map(bool, encoded.truncated)
    return list(map(AttentionMaps, attentions, tokens, ids, cut, *lengths))


def choose_sample(samples: list[Sample], tokenizer, kind: str, max_length: int, tokens: int) -> tuple[Sample, Encoded]:
    """Choose the sample whose length is nearest to the `tokens` wanted, and encode it, cut if it is longer.

    Among samples that are equally near, those that need no cut come first, then those drawn first. A sample whose
    question alone would fill the wanted length is skipped. If all samples are skipped, the wanted length is doubled,
    until some sample can be cut to it.
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
    """Choose the first `count` samples drawn, and encode them, each cut to the wanted length if it is longer.

    Samples that need no cut come first. A sample whose question alone would fill the wanted length is skipped; if all
    samples are skipped, the one of `choose_sample` is taken.
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
    """Run a model over one segment, and keep for each pattern the attention of the head that shows it best.

    surface: the model's surface patterns on these samples; kind: kind of task, as in `encoding.encode_samples`;
    tokens: how many of the segment's last tokens are kept.
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
    """Return the index of the first segment that has a [SEP] among its last tokens but one; else 0."""
    sep = 1 + SPECIAL_KINDS.index("sep")
    has_one = (index for index, kinds in enumerate(encoded.kinds) if (kinds[-tokens:-1] == sep).any())
    return next(has_one, 0)
