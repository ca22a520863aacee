"""One pass of a model over encoded samples, with any number of readers of its attention.

A *reducer* reads the attention of every head while the model runs: each layer's attention is handed to it in blocks
of query rows, without padding, and is never stored. `Entropy` in `tests/unit/attention/test_one_pass.py` is one.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.attention.hook import Batch, Group, Layer, Scratch, at_once, check_heads, equal_lengths, run_batches
from headtypes.attention.norms import KeyLengths, ResidualStream, scale_rows
from headtypes.attention.reducers import Block, Measurement, Of, Pass, Reducer
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.tasks import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.model_config import layers_and_heads
from headtypes.models.records import ModelRecord


def read_attention(
    model: PreTrainedModel,
    encoded: Encoded,
    reducers: Sequence[Reducer],
    *,
    batch_tokens: int,
    what: str,
    bar: tqdm | None = None,
) -> list[Any]:
    """Return the result of each reducer, from one forward pass for each batch of encoded samples.

    batch_tokens: most tokens of a batch, padded. what: name of the work, for messages.
    bar: a progress bar of samples that several calls share; by default one of this call alone.
    """
    about = Pass(len(encoded.lengths), *layers_and_heads(model), model.dtype)
    for reducer in reducers:
        reducer.begin(about)
    reads_stream = any(reducer.reads_stream for reducer in reducers)
    lengths = KeyLengths(model) if reads_stream or any(reducer.of == "norms" for reducer in reducers) else None
    stream = ResidualStream(model) if reads_stream else None

    def read_batch(batch: Batch, forward: Callable[["AttentionReader"], Any]) -> None:
        reader = AttentionReader(reducers, batch, lengths, stream)
        forward(reader)
        reader.finish(what)

    how = {"batch_tokens": batch_tokens, "what": what, "bar": bar}
    with stream.open() if stream else nullcontext():
        run_batches(model, encoded.input_ids, encoded.token_types, read_batch, **how)
    return [reducer.result() for reducer in reducers]


class AttentionReader:
    """A hook that hands the attention of each layer on one batch to reducers, and leaves the model as it is.

    lengths: measures the vectors that heads hand over or write; None if no reducer reads norms or the residual stream.
    stream: the model's residual stream; None if no reducer reads it.
    """

    def __init__(
        self,
        reducers: Sequence[Reducer],
        batch: Batch,
        lengths: KeyLengths | None = None,
        stream: ResidualStream | None = None,
    ):
        self._lengths, self._stream = lengths, stream
        self._norms = any(reducer.of == "norms" for reducer in reducers)
        self._reducers, self._in_blocks = reducers, any(reducer.reads_attention for reducer in reducers)
        self._by_head = all(reducer.by_head for reducer in reducers)
        self._groups = equal_lengths(batch.lengths, batch.device)
        self._scratch = Scratch()
        for reducer in reducers:
            reducer.start(batch)

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "batch head query channel"]:
        # Where it counts how often a map is read, fused attention reads none.
        fused = layer.is_plain and at_once(layer.query.device)
        outputs = layer.head_outputs() if fused or not self._in_blocks else layer.zero_outputs()
        if not self._in_blocks:
            for group in self._groups:
                group_outputs = outputs[group.samples, :, : group.length]
                heads, rows = slice(0, group_outputs.shape[1]), slice(0, group.length)
                self._add(Block(number, group, heads, rows, None, group_outputs, None))
            return outputs
        for group in self._groups:
            self._read_blocks(number, group, group.part(layer), outputs[group.samples, :, : group.length], fused)
        return outputs

    def finish(self, what: str) -> None:
        """Let reducers keep their numbers of the batch; raise `InputError`, naming `what`, for numbers such as NaN."""
        for reducer in self._reducers:
            check_heads(reducer.right(), what, reducer.fault)
            reducer.finish()

    def _read_blocks(self, number: int, group: Group, layer: Layer, outputs: Tensor, filled: bool) -> None:
        lengths = self._lengths(number, layer.value) if self._norms else None
        stream = self._stream and self._stream.latest[group.samples, : group.length].to(outputs.device)
        for heads, part, rows in group.blocks_of_heads(layer, self._by_head):
            memory = self._scratch.memory(part, rows)
            attention = part.attention(rows, memory)
            if not filled:
                outputs[:, heads, rows] = attention @ part.value
            mask, head_outputs = None if part.mask is None else part.mask[:, :, rows], outputs[:, heads, rows]
            to_none = None if part.sink is None else (1 - attention.sum(-1, dtype=torch.float32)).clamp_min(0)
            written = None if stream is None else self._lengths(number, head_outputs, heads)
            more = {"to_none": to_none, "stream": stream, "written": written}
            block = Block(number, group, heads, rows, memory, head_outputs, mask, **more)
            self._add(block)
            if lengths is not None:
                scaled = scale_rows(block.attention, lengths[:, heads])
                self._add(replace(block, memory=scaled, lengths=lengths[:, heads], to_none=None), "norms")

    def _add(self, block: Block, of: Of = "weights") -> None:
        for reducer in self._reducers:
            if reducer.of == of:
                reducer.add(block)


class ModelOnTask:
    """A fetched model that reads samples of a task; the model is loaded when it is first needed.

    batch_tokens: most tokens of a batch, padded. max_seq_length: most tokens of a sample, None for the model's limit.
    head: model head, a key of `loading.HEADS`; None for none. Attributes: what, names of model and task for messages;
        longest, the lesser of `max_seq_length` and the model's limit.
    """

    def __init__(
        self,
        record: ModelRecord,
        *,
        task: str,
        precision: str,
        batch_tokens: int = 1,
        max_seq_length: int | None = None,
        head: str | None = None,
    ):
        self.what = f"{record.name} on {task}"
        self.longest = min(record.max_length, max_seq_length or record.max_length)
        self.batch_tokens = batch_tokens
        self.record, self._precision, self._head = record, precision, head

    @cached_property
    def tokenizer(self) -> PreTrainedTokenizerFast:
        return load_tokenizer(self.record)

    @cached_property
    def model(self) -> PreTrainedModel:
        return load_model(self.record, self._precision, self._head)

    def encode(self, samples: list[Sample], kind: str) -> Encoded:
        return encode_samples(samples, self.tokenizer, kind, self.longest)

    def read(self, encoded: Encoded, *reducers: Reducer, batch_tokens: int | None = None) -> list[Any]:
        """Return each reducer's result, from one pass; batch_tokens: most tokens of a batch, None for the object's."""
        most = batch_tokens or self.batch_tokens
        return read_attention(self.model, encoded, reducers, batch_tokens=most, what=self.what)


def read_samples(
    run: ModelOnTask, samples: list[Sample], kind: str, measurements: Sequence[Measurement], norms: bool = False
) -> list[Any]:
    """Return each measurement's result on samples of a task, from one forward pass for each batch.

    kind: kind of the task, which decides how samples are cut. norms: whether to read norms besides attention.
    """
    encoded = run.encode(samples, kind)
    reducers = [list(each.reducers(run, encoded, norms)) for each in measurements]
    together = list(chain.from_iterable(reducers))
    read = iter(run.read(encoded, *together) if together else ())
    return [
        each.result(run, samples, encoded, list(islice(read, len(own))))
        for each, own in zip(measurements, reducers, strict=True)
    ]
