"""Whole attention maps of a few short samples, to be looked at; everything measured is reduced while the model runs."""

from contextlib import suppress

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from headtypes.analyses.maps.results import AttentionMaps
from headtypes.attention.batches import Batch
from headtypes.attention.one_pass import ModelOnTask
from headtypes.attention.reducers import Block, ListPerSample
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.tasks import Sample


class Maps(ListPerSample):
    """A reducer that keeps the whole attention of each sample, one after the other in batches of one.

    Its result is a list with [layer, head, query, key] float32 for each sample.
    """

    def start(self, batch: Batch) -> None:
        super().start(batch)
        self._layers: list[list[Tensor]] = []

    def add(self, block: Block) -> None:
        self.keep(block, block.attention[0])

    def keep(self, block: Block, rows: Tensor) -> None:
        """Keep what a figure shows of a block: [head, query, key]."""
        if block.is_first:
            self._layers.append([])
        self._layers[-1].append(rows.cpu().clone())

    def right(self) -> Bool[Tensor, "sample layer head query key"]:
        self._maps = torch.stack([torch.cat(rows, dim=1) for rows in self._layers])[None]
        return self._maps.isfinite()

    def of_batch(self) -> np.ndarray:
        return self._maps.numpy()


class KeyLengthsRead(Maps):
    """A reducer that keeps what turns the maps of each sample into norms, in batches of one.

    Its result is a list with [layer, head, key] float32 for each sample, the lengths of what each token hands over.
    """

    of = "norms"

    def add(self, block: Block) -> None:
        if block.is_first:
            self.keep(block, block.lengths[0, :, None])

    def of_batch(self) -> np.ndarray:
        return super().of_batch()[..., 0, :]


# The most tokens that a figure as wide as a page can label.
LEGIBLE_TOKENS = 20
# How many samples a reader can choose from where all heads are shown, and the most tokens of each.
SHOWN_SAMPLES, SHOWN_TOKENS = 8, 48


def map_attention(
    run: ModelOnTask, samples: list[Sample], *, kind: str, norms: bool = False, tokens: int = LEGIBLE_TOKENS
) -> AttentionMaps:
    """Run a model over the sample whose length is nearest to the one wanted, and keep its attention.

    kind:   of task, which says how its samples are cut.
    norms:  whether what turns attention into norms is read as well.
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
    question alone would fill the wanted length is skipped. If all are, that is doubled, until some sample can be cut to
    it.
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

    Those that need no cut come first; otherwise as `choose_sample`, whose sample it is where all are skipped.
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
