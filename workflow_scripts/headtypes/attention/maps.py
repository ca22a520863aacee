"""Whole attention maps of a few short samples, to be looked at; everything measured is reduced while the model runs."""

from contextlib import suppress

import numpy as np
import torch
from jaxtyping import Float

from headtypes.attention.batches import Batch
from headtypes.attention.map_files import AttentionMaps
from headtypes.attention.one_pass import Block, Pass, Reducer, read_attention
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord


class Maps(Reducer):
    """A reducer that keeps the whole attention of one sample; its result is [layer, head, query, key] float32."""

    def start(self, batch: Batch) -> None:
        """Begin with no layers."""
        self._blocks: list[torch.Tensor] = []
        self._ends: list[int] = []

    def add(self, block: Block) -> None:
        """Keep the rows."""
        self.keep(block, block.attention[0])

    def keep(self, block: Block, rows: torch.Tensor) -> None:
        """Keep what a figure shows of a block: [head, query, key]."""
        self._blocks.append(rows.cpu().clone())
        if block.is_last:
            self._ends.append(len(self._blocks))

    def result(self) -> Float[np.ndarray, "layer head query key"]:
        """The attention maps."""
        starts = [0, *self._ends[:-1]]
        layers = [torch.cat(self._blocks[slice(*ends)], dim=1) for ends in zip(starts, self._ends, strict=True)]
        return torch.stack(layers).numpy()


class EachMaps(Maps):
    """A reducer that keeps the whole attention of each sample, one after the other in batches of one.

    Its result is a list with [layer, head, query, key] float32 for each sample, in their order.
    """

    def begin(self, about: Pass) -> None:
        """Begin with no samples."""
        self._of_samples: dict[int, np.ndarray] = {}

    def start(self, batch: Batch) -> None:
        """Begin with no layers of this sample."""
        super().start(batch)
        (self._sample,) = batch.samples

    def finish(self) -> None:
        """Keep the sample."""
        self._of_samples[self._sample] = super().result()

    def result(self) -> list[np.ndarray]:
        """The attention maps of each sample."""
        return [self._of_samples[sample] for sample in sorted(self._of_samples)]


# The most tokens that a figure as wide as a page can label.
LEGIBLE_TOKENS = 24
# How many samples a reader can choose from where all heads are shown, and the most tokens of each.
SHOWN_SAMPLES, SHOWN_TOKENS = 8, 48


def map_attention(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    precision: str,
    max_seq_length: int | None = None,
    tokens: int = LEGIBLE_TOKENS,
) -> AttentionMaps:
    """Run a model over the sample whose length is nearest to the one wanted, and keep its attention.

    record:    the model, as `models.fetching.fetch_model` found it.
    task, kind: name of the task, for messages, and how its samples are cut.
    precision: arithmetic of the forward pass.
    max_seq_length: most tokens of a sample, as in `encoding.encode_samples`.
    tokens:    wanted length; a sample that is longer is cut to it, as far as its question allows.
    Raises `InputError` where an attention is not finite.
    """
    tokenizer = load_tokenizer(record)
    max_length = min(record.max_length, max_seq_length or record.max_length)
    sample, encoded = choose_sample(samples, tokenizer, kind, max_length, tokens)
    model, what = load_model(record, precision), f"{record.name} on {task}"
    (attention,) = read_attention(model, encoded, [Maps()], batch_tokens=1, what=what)
    return _maps_of(attention, encoded, 0, sample, tokenizer, what)


def map_samples(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    precision: str,
    max_seq_length: int | None = None,
    tokens: int = SHOWN_TOKENS,
    count: int = SHOWN_SAMPLES,
) -> list[AttentionMaps]:
    """Run a model over a few samples, and keep the attention of each.

    tokens: the most tokens of a sample, as far as its question allows; count: how many samples, if there are as many.
    Other arguments as in `map_attention`. Raises `InputError` where an attention is not finite.
    """
    tokenizer, what = load_tokenizer(record), f"{record.name} on {task}"
    max_length = min(record.max_length, max_seq_length or record.max_length)
    chosen, encoded = choose_samples(samples, tokenizer, kind, max_length, tokens, count)
    (attentions,) = read_attention(load_model(record, precision), encoded, [EachMaps()], batch_tokens=1, what=what)
    return [
        _maps_of(attention, encoded, place, sample, tokenizer, what)
        for place, (attention, sample) in enumerate(zip(attentions, chosen, strict=True))
    ]


def _maps_of(
    attention: np.ndarray, encoded: Encoded, place: int, sample: Sample, tokenizer, what: str
) -> AttentionMaps:
    if not np.isfinite(attention).all():
        raise InputError(
            f"{what}: an attention is not finite; the model's weights are damaged, or its numbers overflow in this "
            "precision."
        )
    labels = [readable(tokenizer, token) for token in encoded.input_ids[place]]
    return AttentionMaps(attention, labels, sample.id, bool(encoded.truncated[place]))


def choose_sample(samples: list[Sample], tokenizer, kind: str, max_length: int, tokens: int) -> tuple[Sample, Encoded]:
    """The sample whose length is nearest to the one wanted, and its encoding, cut if it is longer.

    max_length: most tokens of a sample.
    tokens:     the wanted length.
    Among samples that are equally near, those that need no cut come first, then those drawn first. A sample whose
    question alone would fill the wanted length is skipped. If all are skipped, the wanted length is doubled, until some
    sample can be cut to it.
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
    """A few samples, those drawn first, and their encoding, each cut to the wanted length if it is longer.

    Arguments as in `choose_sample`; count: how many samples, if there are as many.
    Those that need no cut come first. A sample whose question alone would fill the wanted length is skipped. If all are
    skipped, it is the one sample that `choose_sample` finds.
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
    """A token as a person reads it."""
    # A byte-level token may be a space or part of a character, which only its raw form shows.
    text = tokenizer.decode([token_id]).strip()
    return text if text and "\ufffd" not in text else tokenizer.convert_ids_to_tokens(token_id)
