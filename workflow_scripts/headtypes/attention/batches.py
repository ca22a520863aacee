"""A model run over encoded inputs, in batches that are planned by length and token budget."""

import ctypes
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor
from tqdm import tqdm
from transformers import PreTrainedModel

from headtypes.attention.hook import Hook, open_attention, run
from headtypes.core.errors import InputError
from headtypes.core.progress import progress
from headtypes.models.model_config import padding_token
from headtypes.models.placement import device_of

# Number of batches after which freed memory is returned: doing so more often costs time, less often memory.
_BATCHES_PER_RETURN = 4
# For each input a number for each of its tokens: the token's id, or the number of the text that it belongs to.
Rows = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Batch:
    """Inputs that are run together in one forward pass.

    samples: [sample] int, indices of the batch's inputs among all inputs.
    lengths: number of tokens of each input, without padding.
    inputs:  keyword arguments of the forward pass, on the model's device; padding stands at the end.
    """

    samples: np.ndarray
    lengths: list[int]
    inputs: dict[str, Tensor]

    @property
    def device(self) -> torch.device:
        return self.inputs["input_ids"].device

    def halves(self) -> list["Batch"]:
        middle = len(self.samples) // 2
        return [
            Batch(self.samples[half], self.lengths[half], {name: rows[half] for name, rows in self.inputs.items()})
            for half in (slice(middle), slice(middle, None))
        ]


def plan_batches(lengths: Sequence[int], batch_tokens: int) -> list[np.ndarray]:
    """Return the indices of the samples of each batch, from the lengths alone.

    lengths:      number of tokens of each sample.
    batch_tokens: most tokens of a batch, with padding; a single longer sample is a batch, too.
    Samples of similar length are in one batch. The longest samples come first, so that a batch that does not fit into
    memory fails at once.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, int(lengths[order[start]])))
        batches.append(order[start : start + size])
        start += size
    return batches


def pad(rows: Rows, fill: int, device: torch.device, length: int | None = None) -> Tensor:
    """Return rows of different lengths as one tensor [row, length] int64, padded at the end with `fill`.

    length: length of the padded rows; by default that of the longest row.
    """
    padded = np.full((len(rows), length or max(map(len, rows))), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return torch.from_numpy(padded).to(device)


def model_inputs(
    input_ids: Rows, token_types: Rows | None, pad_token: int, device: torch.device, length: int | None = None
) -> dict[str, Tensor]:
    """Return the keyword arguments of a forward pass: input_ids, attention_mask and, with segments, token_type_ids.

    input_ids:   ids of each input's tokens, without padding; pad_token: id with which `input_ids` is padded.
    token_types: segment of each token; None for a model without segments.
    length:      number of tokens with padding; by default that of the longest input.
    Each argument is a tensor [input, token] int64.
    """
    inputs = {
        "input_ids": pad(input_ids, pad_token, device, length),
        "attention_mask": pad([[1] * len(row) for row in input_ids], 0, device, length),
    }
    if token_types is not None:
        inputs["token_type_ids"] = pad(token_types, 0, device, length)
    return inputs


def run_model(
    model: PreTrainedModel,
    input_ids: Rows,
    token_types: Rows | None,
    *,
    hook: Callable[[Batch], Hook],
    finish: Callable[[Batch, Any, Any], None],
    **how,
) -> None:
    """Run a model over inputs, with one forward pass for each batch of `run_batches`.

    input_ids, token_types: ids and segments of each input's tokens, without padding; token_types is None for a model
        without segments.
    hook:   function that makes the hook of a batch; the hook is called with each layer of the batch's forward pass.
    finish: called with each batch, its hook, and the model's output. The function must do everything that can fail
        before it stores a result, since a batch that does not fit into memory is run again.
    how:    the other arguments of `run_batches`, such as `batch_tokens`.
    """

    def run_batch(batch: Batch, shown: tqdm) -> None:
        made = hook(batch)
        finish(batch, made, run(model, batch.inputs, made))
        shown.update(len(batch.samples))

    run_batches(model, input_ids, token_types, run_batch, **how)


def run_batches(
    model: PreTrainedModel,
    input_ids: Rows,
    token_types: Rows | None,
    run_batch: Callable[[Batch, tqdm], None],
    *,
    batch_tokens: int,
    what: str = "",
    unit: str = "samples",
    bar: tqdm | None = None,
    length: int | None = None,
    gradients: bool = False,
) -> None:
    """Call a function with each batch of `plan_batches`, while the model's attention is open (`hook.open_attention`).

    input_ids, token_types: ids and segments of each input's tokens, without padding; token_types is None for a model
        without segments.
    run_batch: called with each batch and the progress bar, which `run_batch` has to update. A batch that does not fit
        into the GPU's memory comes again in halves, padded to the same length so that results stay the same.
    batch_tokens: most tokens of a batch, with padding.
    what, unit: names of the work and of its inputs, for the progress bar; bar: a progress bar that several runs share.
    length:    tokens to which every input is padded; by default those of the longest input of its batch.
    gradients: whether a backward pass can follow the forward pass.
    Raises `InputError` if one input alone does not fit, or the model's heads cannot be read.
    """
    plan, pad_token = plan_batches([length or len(ids) for ids in input_ids], batch_tokens), padding_token(model.config)
    shared = nullcontext(bar) if bar is not None else progress(sum(map(len, plan)), what, unit)
    with shared as shown, open_attention(model), torch.inference_mode(not gradients):
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
            _halved_to_fit(run_batch, Batch(samples, list(map(len, ids)), inputs), shown)
            if number % _BATCHES_PER_RETURN == 0:
                _return_memory()


def check_heads(right: Bool[Tensor, "sample layer head ..."], what: str, fault: str) -> None:
    """Raise `InputError` with the name of the first head for which `right` is false; do nothing if all are true.

    right: false for a number that cannot be right, such as NaN; what: the work, with model and task, for the message.
    fault: message about a head `{}`, such as `the attention of head {} is not finite`.
    """
    if not right.all():
        _, layer, head, *_ = (~right).nonzero()[0].tolist()
        raise InputError(
            f"{what}: {fault.format(f'{layer + 1}-{head + 1}')}; the model's weights are damaged, or its numbers "
            "overflow in this precision: compute in float32, or use other weights."
        )


def _return_memory() -> None:
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


def _halved_to_fit(run_batch: Callable[[Batch, tqdm], None], batch: Batch, shown: tqdm) -> None:
    before = shown.n
    try:
        run_batch(batch, shown)
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
    for half in batch.halves():
        _halved_to_fit(run_batch, half, shown)
