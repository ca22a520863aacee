"""One pass of a model over encoded samples, with any number of readers of its attention.

A *reducer* reads the attention of every head while the model runs: each layer's attention is handed to it in blocks
of query rows, without padding, and is never stored. Several reducers share one forward pass. A reducer of the entropy
of each head's attention, for example, is

    class Entropy(PerSample):
        def add(self, block):
            entropy = -torch.xlogy(block.attention, block.attention).sum(-1)
            self.values[block.group.samples, block.layer] += entropy.sum(-1) / block.group.length

    (entropy,) = read_attention(model, encoded, [Entropy()], batch_tokens=4096, what="entropy")

`run.ModelOnTask` does the same with a model that the workflow has fetched.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from tqdm import tqdm
from transformers import PreTrainedModel

from headtypes.attention.batches import Batch, check_heads, run_model
from headtypes.attention.blocks import Group, Scratch, at_once, equal_lengths
from headtypes.attention.hook import Layer
from headtypes.attention.norms import KeyLengths, scale_rows
from headtypes.attention.reducers import Block, Pass, Reducer
from headtypes.attention.settings import Of
from headtypes.attention.streams import ResidualStream
from headtypes.data.encoding import Encoded
from headtypes.models.model_config import layers_and_heads


def read_attention(
    model: PreTrainedModel,
    encoded: Encoded,
    reducers: Sequence[Reducer],
    *,
    batch_tokens: int,
    what: str,
    bar: tqdm | None = None,
) -> list[Any]:
    """Return the result of every reducer, in one forward pass per batch of encoded samples.

    model:  on any device, in evaluation mode, however it was loaded.
    batch_tokens: padded tokens of a batch; what: the work, for messages; bar: progress that several passes share.
    Raises `InputError` where the model's heads cannot be read, or a result cannot be right, as with weights that are
    not
    finite.
    """
    about = Pass(len(encoded.lengths), *layers_and_heads(model), model.dtype)
    for reducer in reducers:
        reducer.begin(about)
    reads_stream = any(reducer.reads_stream for reducer in reducers)
    lengths = KeyLengths(model) if reads_stream or any(reducer.of == "norms" for reducer in reducers) else None
    stream = ResidualStream(model) if reads_stream else None

    with stream.open() if stream else nullcontext():
        run_model(
            model,
            encoded.input_ids,
            encoded.token_types,
            hook=lambda batch: AttentionReader(reducers, batch, lengths, stream),
            finish=lambda batch, reader, output: reader.finish(what),
            batch_tokens=batch_tokens,
            what=what,
            bar=bar,
        )
    return [reducer.result() for reducer in reducers]


class AttentionReader:
    """The hook of one batch: hands the attention of its layers to reducers, and leaves it as it is."""

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
        """Return the head outputs of a layer; those of padding are zero where they come from blocks of attention."""
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
            self._read_blocks(number, group, group.of(layer), outputs[group.samples, :, : group.length], fused)
        return outputs

    def finish(self, what: str) -> None:
        """Let the reducers keep what they read of the batch, which has run.

        Raises `InputError` where that is not right; what: name of the work, for the message.
        """
        for reducer in self._reducers:
            check_heads(reducer.right(), what, reducer.fault)
            reducer.finish()

    def _read_blocks(self, number: int, group: Group, layer: Layer, outputs: Tensor, filled: bool) -> None:
        """Hand over the attention of a group, and fill in its head outputs unless that is done."""
        lengths = self._lengths(number, layer) if self._norms else None
        stream = self._stream and self._stream.latest[group.samples, : group.length].to(outputs.device)
        for heads, part, rows in group.blocks_of_heads(layer, self._by_head):
            memory = self._scratch.of(part, rows)
            attention = part.attention(rows, memory)
            if not filled:
                outputs[:, heads, rows] = attention @ part.value
            mask, head_outputs = None if part.mask is None else part.mask[:, :, rows], outputs[:, heads, rows]
            to_none = None if part.sink is None else (1 - attention.sum(-1, dtype=torch.float32)).clamp_min(0)
            written = None if stream is None else self._lengths.of(number, heads, head_outputs)
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
