"""Batches of samples, planned by length and token budget, and filled with padding."""

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headtypes.base.errors import InputError

# Batches after which memory is given back: oftener costs time, seldomer memory.
_BATCHES_PER_RETURN = 4


class Part(NamedTuple):
    """One of several jobs that share the batches of a plan: its number, from 0, and how many there are."""

    number: int
    of: int


WHOLE = Part(0, 1)


def plan_batches(lengths: Sequence[int], batch_tokens: int, part: Part = WHOLE) -> list[np.ndarray]:
    """Divide samples into batches of at most `batch_tokens` padded tokens, or one sample that is longer.

    lengths: tokens of each sample. Samples of like length go together, the longest first, so that a batch that
    does not fit into memory shows at once; the plan depends on the lengths and the budget alone.
    part:    which of the batches are returned; the plan is that of all.
    returns the samples' indices, one array per batch.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, int(lengths[order[start]])))
        batches.append(order[start : start + size])
        start += size
    return batches[part.number :: part.of]


def batched(lengths: Sequence[int], batch_tokens: int, part: Part = WHOLE) -> np.ndarray:
    """The samples in a part of the batches: [sample] int64, in their order."""
    return np.sort(np.concatenate([np.empty(0, np.int64), *plan_batches(lengths, batch_tokens, part)]))


def pad(rows: Sequence[Sequence[int]], fill: int, device: torch.device, length: int | None = None) -> Tensor:
    """Stack rows of different lengths, padded at the end: [row, length] int64; by default to the longest."""
    padded = np.full((len(rows), length or max(map(len, rows))), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return torch.from_numpy(padded).to(device)


def model_inputs(
    input_ids: Sequence[Sequence[int]],
    token_types: Sequence[Sequence[int]] | None,
    pad_token: int,
    device: torch.device,
    length: int | None = None,
) -> dict[str, Tensor]:
    """The keyword arguments of a forward pass: padded ids, mask and, where the model has them, token types."""
    inputs = {
        "input_ids": pad(input_ids, pad_token, device, length),
        "attention_mask": pad([[1] * len(row) for row in input_ids], 0, device, length),
    }
    if token_types is not None:
        inputs["token_type_ids"] = pad(token_types, 0, device, length)
    return inputs


def rows_of(tokens: np.ndarray | None, offsets: np.ndarray) -> list[np.ndarray] | None:
    """The tokens of each row, of rows that stand one after another: row `i` has tokens[offsets[i] : offsets[i + 1]]."""
    return None if tokens is None else np.split(tokens, offsets[1:-1])


def run_batches(
    model: torch.nn.Module,
    input_ids: Sequence[Sequence[int]],
    token_types: Sequence[Sequence[int]] | None,
    batch_tokens: int,
    step: Callable[[np.ndarray, dict[str, Tensor]], None],
    *,
    length: int | None = None,
    part: Part = WHOLE,
) -> None:
    """Call `step` with each batch of `plan_batches`, and its `model_inputs` on the model's device.

    step:   does all of its work or, where the GPU's memory is too small for it, raises and has done none; it is then
        called with each half of the batch, at the same padded length, so that results stay what they were.
    length: tokens that every sample is padded to; by default the longest of its batch.
    part:   as in `plan_batches`.
    """
    lengths = [length or len(ids) for ids in input_ids]
    for number, batch in enumerate(plan_batches(lengths, batch_tokens, part), start=1):
        ids = [input_ids[index] for index in batch]
        types = None if token_types is None else [token_types[index] for index in batch]
        inputs = model_inputs(ids, types, model.config.pad_token_id or 0, model.device, length)
        _halved_to_fit(step, batch, inputs)
        if number % _BATCHES_PER_RETURN == 0:
            _return_memory()


def _return_memory() -> None:
    """Give back what the C library keeps of freed memory.

    Batches of ever other shapes leave gaps in it, which the next ones do not fit: they add up to several times what is
    in use. Only glibc, the C library of most Linux systems, has and needs this.
    """
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


def _halved_to_fit(step: Callable, batch: np.ndarray, inputs: dict[str, Tensor]) -> None:
    try:
        step(batch, inputs)
        return
    except torch.OutOfMemoryError as error:
        if len(batch) == 1:
            tokens = inputs["input_ids"].shape[1]
            raise InputError(
                f"One input of {tokens} tokens does not fit into the GPU's memory; use a larger GPU, or "
                "compute.precision: bfloat16."
            ) from error
    # Outside of the handler, which would keep the tensors of the batch that was too large.
    torch.cuda.empty_cache()
    for half in (slice(len(batch) // 2), slice(len(batch) // 2, None)):
        _halved_to_fit(step, batch[half], {name: tensor[half] for name, tensor in inputs.items()})
