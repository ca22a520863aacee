"""The hook into the attention of every supported model, and the model run with hooks in batches.

Transformers asks its `AttentionInterface` for the function that turns queries, keys and values into head outputs. The
function registered here calls a *hook* with each layer. The hook travels as a keyword argument of the model's forward
pass.
"""

import ctypes
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from tqdm import tqdm
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import sdpa_mask

from headtypes.core.errors import InputError
from headtypes.core.progress import progress
from headtypes.models.architectures import check_layer, check_layers, check_number_of_heads, through_interface
from headtypes.models.model_config import padding_token
from headtypes.models.placement import device_of

# The name by which the hook is registered with Transformers.
ATTENTION = "headtypes"
# Pairs of a query and a key that are computed at a time, for every head: with 16 heads, 2 MB in float32, which stay in
# the processor's cache. Smaller blocks lose more in calls than they gain.
_BLOCK_PAIRS = 2**15
# The same on a GPU, which small blocks would leave waiting for calls: 128 MB. A batch that does not fit is halved.
_GPU_PAIRS = 2**21
# The same where one head is computed at a time: 1 MB in float32.
_HEAD_PAIRS = 2**18
# Tokens from which it is faster to compute heads on their own.
LONG = 1024
# With fewer query rows at a time, the keys are read too often.
LEAST_ROWS = 32
# Added before the logarithm, so that 0 ln 0 is 0; it changes no float32 above 1e-22.
_TINY = np.float32(1e-30)


@dataclass(frozen=True)
class Layer:
    """The inputs of one attention layer in a forward pass; keys and values that heads share are repeated for each head.

    mask: true where attention is allowed, false for padding and, in causal and local layers, for other tokens that a
        query must not see; None if attention is allowed everywhere.
    scale: factor of the scores before the softmax.
    cap: limit of the scores: a score s becomes cap * tanh(s / cap) (Gemma 2); None for scores as they are.
    bias: number added to each score, for positions (MPNet, ALiBi).
    sink: score of no token (gpt-oss), which enters the softmax of each row: a share of the row then goes to no token.
    """

    query: Float[Tensor, "batch head query channel"]
    key: Float[Tensor, "batch head key channel"]
    value: Float[Tensor, "batch head key value_channel"]
    mask: Bool[Tensor, "#batch 1 query key"] | None
    scale: float
    cap: float | None = None
    bias: Float[Tensor, "#batch head #query key"] | None = None
    sink: Float[Tensor, " head"] | None = None

    @property
    def is_plain(self) -> bool:
        return self.cap is None and self.bias is None and self.sink is None

    def heads(self, heads: Tensor | slice) -> "Layer":
        # Unlike this, `index_select` copies all heads first if they lie scattered.
        return replace(
            self,
            query=self.query[:, heads],
            key=self.key[:, heads],
            value=self.value[:, heads],
            bias=None if self.bias is None else self.bias[:, heads],
            sink=None if self.sink is None else self.sink[heads],
        )

    def uniform(self) -> "Layer":
        return replace(self, query=torch.zeros_like(self.query), cap=None, bias=None, sink=None)

    def at_temperature(self, number: float) -> "Layer":
        cap, bias, sink = (None if part is None else part / number for part in (self.cap, self.bias, self.sink))
        return replace(self, scale=self.scale / number, cap=cap, bias=bias, sink=sink)

    def scores(self, rows: slice, out: Tensor | None = None) -> Float[Tensor, "batch head row key"]:
        """Return the scaled products of query rows with all keys, without bias, cap or mask; in `out` if given."""
        return torch.matmul(self.query[:, :, rows] * self.scale, self.key.transpose(-1, -2), out=out)

    def attention(self, rows: slice, scratch: Tensor | None = None) -> Float[Tensor, "batch head row key"]:
        """Return the attention of the query rows `rows`; each row sums to one, or to less in a layer with a sink.

        scratch: memory from `Scratch.memory`, of which the result is then a view; the rest of the memory becomes zero.
            None for new memory.
        """
        keys = self.key.shape[2]
        out = None if scratch is None else scratch[:, :, : rows.stop - rows.start, :keys]
        scores = self._in_softmax(rows, out)
        # The softmax with one score more is the softmax without it, times the share of all but that one.
        share = None if self.sink is None else self._above_sink(scores).sigmoid()
        if scratch is None:
            out = torch.softmax(scores, -1)
        elif scratch.shape == scores.shape:
            torch.softmax(scratch, -1, out=scratch)
        else:
            scratch[..., keys:] = -torch.inf
            torch.softmax(scratch, -1, out=scratch)
            scratch[:, :, out.shape[2] :] = 0
        return out if share is None else torch.mul(out, share, out=None if scratch is None else out)

    def renormalised(self, attention: Tensor, rows: slice) -> Float[Tensor, "batch head row key"]:
        """Return `attention`, each row divided in place by its sum; a row of zeros stays as it is.

        attention: attention of the query rows `rows`, some of it set to zero.
        In a layer with a sink, the sum includes the share that goes to no token.
        """
        rest = attention.sum(-1, keepdim=True)
        if self.sink is not None:
            # What goes to no token cannot be taken away.
            rest = rest + (-self._above_sink(self._in_softmax(rows))).sigmoid()
        return attention.div_(rest.clamp_min(torch.finfo(attention.dtype).tiny))

    def _above_sink(self, scores: Tensor) -> Float[Tensor, "batch head row 1"]:
        return scores.logsumexp(-1, keepdim=True) - self.sink[:, None, None]

    def _in_softmax(self, rows: slice, out: Tensor | None = None) -> Float[Tensor, "batch head row key"]:
        scores = self.scores(rows, out)
        if self.cap is not None:
            scores = torch.mul(torch.tanh(scores / self.cap), self.cap, out=out)
        if self.bias is not None:
            scores = torch.add(scores, self.bias[:, :, rows] if self.bias.shape[2] > 1 else self.bias, out=out)
        if self.mask is not None:
            # The mask is added, because a masked fill of all heads takes longer than their softmax on a CPU. Half of
            # the lowest number keeps the sum finite.
            forbidden = ~self.mask[:, :, rows]
            scores += torch.zeros_like(forbidden, dtype=scores.dtype).masked_fill_(
                forbidden, torch.finfo(scores.dtype).min / 2
            )
        return scores

    def head_outputs(self) -> Float[Tensor, "batch head query value_channel"]:
        """Return attention times values, before the output projection."""
        if self.is_plain:
            return scaled_dot_product_attention(self.query, self.key, self.value, attn_mask=self.mask, scale=self.scale)
        queries = self.query.shape[2]
        step = max(LEAST_ROWS, _most_pairs(self.query.device) // self.key.shape[2])
        rows = [slice(start, min(start + step, queries)) for start in range(0, queries, step)]
        return torch.cat([self.attention(block) @ self.value for block in rows], 2)

    def zero_outputs(self) -> Float[Tensor, "batch head query value_channel"]:
        return self.query.new_zeros((*self.query.shape[:3], self.value.shape[-1]))


Hook = Callable[[int, Layer], Tensor]


def _attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, forward=None, **kwargs):
    check_layer(module, attention_mask, kwargs)
    position_bias, s_aux = kwargs.get("position_bias"), kwargs.get("s_aux")
    sharing = query.shape[1] // key.shape[1]
    if sharing > 1:
        key, value = key.repeat_interleave(sharing, 1), value.repeat_interleave(sharing, 1)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    bias = None if position_bias is None else position_bias.to(query.dtype).expand(-1, query.shape[1], -1, -1)
    sink = None if s_aux is None else s_aux.to(query.dtype)
    layer = Layer(query, key, value, attention_mask, scale, kwargs.get("softcap"), bias, sink)
    outputs = layer.head_outputs() if forward is None else forward(layer)
    return outputs.transpose(1, 2).contiguous(), None


def _mask(*args, allow_is_causal_skip: bool = False, **kwargs) -> Tensor | None:
    # A causal mask is made in full, since blocks of query rows need their part of it.
    return sdpa_mask(*args, allow_is_causal_skip=False, **kwargs)


AttentionInterface.register(ATTENTION, _attend)
# Without a function for masks there would be no mask, and padding would be attended to without a word.
AttentionMaskInterface.register(ATTENTION, _mask)


def run(model: PreTrainedModel, inputs: dict[str, Tensor], hook: Hook):
    """Run a model on the keyword arguments `inputs`, with a hook, and return the model's output.

    Call this inside `with through_interface(model, ATTENTION)`.
    hook: takes each layer's number, from 0, and its `Layer`; returns head outputs [batch, head, query, channel].
    Raises `InputError` if attention does not come through Transformers' interface, or does more than `Layer` computes.
    """
    device, layers = next(iter(inputs.values())).device, 0

    def forward(layer: Layer) -> Tensor:
        # Layers are counted by call, since several may share one module (ALBERT).
        nonlocal layers
        number, layers = layers, layers + 1
        check_number_of_heads(model, layer.query.shape[1])
        # Heads of a model on several devices are read on the device of its inputs.
        moved = {name: each.to(device) for name, each in vars(layer).items() if isinstance(each, Tensor)}
        return hook(number, replace(layer, **moved)).to(layer.query.device)

    output = model(**inputs, forward=forward)
    check_layers(model, layers)
    return output


class Scratch:
    """Memory that is reused for each block's attention, since allocating memory takes as long as a softmax."""

    _memory: Tensor | None = None

    def memory(self, layer: Layer, rows: slice) -> Tensor:
        """Return memory for `layer.attention(rows, memory)`: [batch, head, >= row, >= key], until the next call."""
        count, keys = rows.stop - rows.start, layer.key.shape[2]
        if at_once(layer.query.device):
            # `sheared` reads past both ends of a row, so there is room; lengths of a multiple of 8 take fewer steps.
            count, keys = -(-count // LEAST_ROWS) * LEAST_ROWS, -(-(keys + LEAST_ROWS - 1) // 8) * 8
        shape = *layer.query.shape[:2], count, keys
        needed = LEAST_ROWS + math.prod(shape)
        if self._memory is None or self._memory.numel() < needed:
            self._memory = layer.query.new_empty(needed)
            self._memory[:LEAST_ROWS] = 0
        return self._memory[LEAST_ROWS:needed].view(shape)


def sheared(rows: Tensor, columns: int, *, before: int = 0, step: int = 1) -> Tensor:
    """Return a view of `rows` in which diagonals are columns: view[..., r, c] = rows[..., r, c + step * r - before].

    columns: number of the view's columns. A column outside of `rows` is read from the memory around the row, which the
    caller has to provide. The last axis of `rows` must have stride 1.
    """
    *strides, length, one = rows.stride()
    sizes, offset = (*rows.shape[:-1], columns), rows.storage_offset() - before
    return rows.as_strided(sizes, (*strides, length + step, one), offset)


class Group:
    """Consecutive samples of a batch (a slice) that have the same length in tokens."""

    def __init__(self, samples: slice, length: int):
        self.samples, self.length = samples, length
        self._cut_from: Tensor | None = None
        self._mask: Tensor | None = None

    def part(self, layer: Layer) -> Layer:
        """Return the layer with its tensors cut to the group's samples, without padding."""
        query, key, value = (tensor[self.samples, :, : self.length] for tensor in (layer.query, layer.key, layer.value))
        bias, mask = layer.bias, layer.mask
        if bias is not None:
            bias = bias[self.samples if len(bias) > 1 else slice(None), :, : self.length, : self.length]
        # Layers share a mask, and checking its values takes longer than comparing identities.
        if mask is not None and mask is not self._cut_from:
            cut = mask[self.samples if len(mask) > 1 else slice(None), :, : self.length, : self.length]
            self._cut_from, self._mask = mask, None if bool(cut.all()) else cut
        mask = None if mask is None else self._mask
        return replace(layer, query=query, key=key, value=value, mask=mask, bias=bias)

    def blocks(self, device: torch.device, pairs: int | None = None) -> Iterator[slice]:
        """Yield slices of the query rows that are computed at a time, each but the last a multiple of 32 rows.

        pairs: most pairs of a query and a key, of all samples together, in a slice; by default as suits the device.
        """
        parts = -(-(self.samples.stop - self.samples.start) * self.length**2 // (pairs or _most_pairs(device)))
        rows = -(-self.length // (parts * LEAST_ROWS)) * LEAST_ROWS
        for start in range(0, self.length, rows):
            yield slice(start, min(start + rows, self.length))

    def blocks_of_heads(self, layer: Layer, by_head: bool = True) -> Iterator[tuple[slice, Layer, slice]]:
        """Yield (slice of heads, the layer with these heads alone, slice of query rows) for each block of a layer.

        by_head: True for blocks of one head on a CPU if samples have 1024 or more tokens; else a block has all heads.
        """
        heads = layer.query.shape[1]
        if not by_head or self.length < LONG or at_once(layer.query.device):
            for rows in self.blocks(layer.query.device):
                yield slice(0, heads), layer, rows
            return
        for head in range(heads):
            # Copied, since products of what lies scattered take longer.
            single = layer.heads(slice(head, head + 1))
            copies = {name: getattr(single, name).contiguous() for name in ("query", "key", "value")}
            single = replace(single, **copies)
            for rows in self.blocks(layer.query.device, _HEAD_PAIRS):
                yield slice(head, head + 1), single, rows


def at_once(device: torch.device) -> bool:
    return device.type != "cpu"


def _most_pairs(device: torch.device) -> int:
    return _GPU_PAIRS if at_once(device) else _BLOCK_PAIRS


def equal_lengths(lengths: Sequence[int], device: torch.device) -> list[Group]:
    """Return groups of consecutive samples of equal length, each of as many samples as suit the device."""
    groups, start = [], 0
    for stop in range(1, len(lengths) + 1):
        ends = stop == len(lengths) or lengths[stop] != lengths[start]
        if ends or (stop - start + 1) * lengths[start] ** 2 > _most_pairs(device):
            groups.append(Group(slice(start, stop), lengths[start]))
            start = stop
    return groups


# Number of batches after which freed memory is returned: doing so more often costs time, less often memory.
_BATCHES_PER_RETURN = 4
# For each input a number for each of its tokens: the token's id, or the number of the text that it belongs to.
Rows = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Batch:
    """Inputs that are run together in one forward pass, with padding at their ends.

    samples: [sample] int, indices of these inputs among all inputs. lengths: number of tokens of each, without padding.
    inputs: keyword arguments of the forward pass.
    """

    samples: np.ndarray
    lengths: list[int]
    inputs: dict[str, Tensor]

    @property
    def device(self) -> torch.device:
        return self.inputs["input_ids"].device


def plan_batches(lengths: Sequence[int], batch_tokens: int) -> list[np.ndarray]:
    """Return for each batch the indices of its samples, [sample] int, from the number of tokens of each sample.

    batch_tokens: most tokens of a batch, with padding; a single longer sample is a batch, too.
    The longest samples come first, so that a batch that does not fit fails at once.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, int(lengths[order[start]])))
        batches.append(order[start : start + size])
        start += size
    return batches


def padded(rows: Rows, fill: int, device: torch.device, length: int | None = None) -> Tensor:
    """Return rows as one tensor [row, length] int64, with `fill` at their ends; by default as long as the longest."""
    filled = np.full((len(rows), length or max(map(len, rows))), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        filled[number, : len(row)] = row
    return torch.from_numpy(filled).to(device)


def model_inputs(
    input_ids: Rows, token_types: Rows | None, pad_token: int, device: torch.device, length: int | None = None
) -> dict[str, Tensor]:
    """Return keyword arguments of a forward pass, each [input, token] int64, padded to `length` or the longest input.

    The keys are input_ids, padded by `pad_token`, attention_mask and, unless `token_types` is None, token_type_ids.
    """
    ones = [[1] * len(row) for row in input_ids]
    others = {"attention_mask": ones} | ({} if token_types is None else {"token_type_ids": token_types})
    others = {name: padded(rows, 0, device, length) for name, rows in others.items()}
    return {"input_ids": padded(input_ids, pad_token, device, length), **others}


def run_batches(
    model: PreTrainedModel,
    input_ids: Rows,
    token_types: Rows | None,
    run_batch: Callable[[Batch, Callable[[Hook], Any]], None],
    *,
    batch_tokens: int,
    what: str = "",
    bar: tqdm | None = None,
    length: int | None = None,
    gradients: bool = False,
) -> None:
    """Call `run_batch` with each batch of the inputs, and with a function that runs the model on the batch.

    run_batch: takes a batch and the function; the function takes a hook, and returns the model's output. `run_batch`
        must store results last: a batch that does not fit into the GPU's memory comes again in halves, equally padded.
    batch_tokens: most tokens of a batch, with padding. what: name of the work, for the progress bar.
    bar: a progress bar of samples that several runs share; None for a bar of this run alone.
    length: number of tokens to which each input is padded; None for those of the longest input of its batch.
    gradients: whether a backward pass can follow a forward pass.
    """
    plan, pad_token = plan_batches([length or len(ids) for ids in input_ids], batch_tokens), padding_token(model.config)
    shared = nullcontext(bar) if bar is not None else progress(sum(map(len, plan)), what, "samples")
    with shared as shown, through_interface(model, ATTENTION), torch.inference_mode(not gradients):

        def forward(batch: Batch, hook: Hook) -> Any:
            output = run(model, batch.inputs, hook)
            shown.update(len(batch.samples))
            return output

        for number, samples in enumerate(plan, 1):
            ids = [input_ids[sample] for sample in samples]
            types = token_types and [token_types[sample] for sample in samples]
            texts = getattr(model.config, "type_vocab_size", None)
            if types and texts and (last := max(map(max, types))) >= texts:
                raise InputError(
                    f"{type(model).__name__} has type_vocab_size {texts} in its config.json, and its tokenizer gives "
                    f"type {last}; leave token_type_ids out of model_input_names in tokenizer_config.json."
                )
            inputs = model_inputs(ids, types, pad_token or 0, device_of(model), length)
            batch = Batch(samples, list(map(len, ids)), inputs)
            _halved_to_fit(lambda each: run_batch(each, partial(forward, each)), batch, shown)
            if number % _BATCHES_PER_RETURN == 0 and hasattr(ctypes.CDLL(None), "malloc_trim"):
                ctypes.CDLL(None).malloc_trim(0)


def check_heads(right: Bool[Tensor, "sample layer head ..."], what: str, fault: str) -> None:
    """Raise `InputError` with the name of the first head that has a false entry in `right`; do nothing if none has.

    what: the work, which begins the message. fault: what is wrong, such as `the attention of head {} is not finite`.
    """
    if not right.all():
        _, layer, head, *_ = (~right).nonzero()[0].tolist()
        raise InputError(
            f"{what}: {fault.format(f'{layer + 1}-{head + 1}')}; the model's weights are damaged, or its numbers "
            "overflow in this precision: compute in float32, or use other weights."
        )


def _halved_to_fit(run_batch: Callable[[Batch], None], batch: Batch, shown: tqdm) -> None:
    before = shown.n
    try:
        run_batch(batch)
        return
    except torch.OutOfMemoryError as error:
        shown.update(before - shown.n)
        if len(batch.samples) == 1:
            tokens = batch.inputs["input_ids"].shape[1]
            raise InputError(
                f"One input of {tokens} tokens does not fit into the GPU's memory; use a larger GPU, or "
                "compute.precision: bfloat16."
            ) from error
    # Outside the except clause, where the exception would keep the tensors of the batch that did not fit.
    torch.cuda.empty_cache()
    middle = len(batch.samples) // 2
    for half in (slice(middle), slice(middle, None)):
        inputs = {name: rows[half] for name, rows in batch.inputs.items()}
        _halved_to_fit(run_batch, Batch(batch.samples[half], batch.lengths[half], inputs), shown)


class EntropySums:
    """A function that returns the sum of x ln x over the last axis of a tensor of numbers x >= 0, with 0 ln 0 = 0."""

    _memory = np.empty(0, np.float32)

    def __call__(self, numbers: Tensor) -> Tensor:
        if numbers.device.type != "cpu":
            return -torch.special.entr(numbers).sum(-1)
        # NumPy's logarithm takes a quarter of the time of PyTorch's, and a product with it is a sum over each row.
        read = numbers.numpy()
        if self._memory.size < read.size:
            self._memory = np.empty(read.size, np.float32)
        logarithm = self._memory[: read.size].reshape(read.shape)
        np.log(np.add(read, _TINY, out=logarithm), out=logarithm)
        return torch.from_numpy(np.matmul(read[..., None, :], logarithm[..., None])[..., 0, 0])
