"""Batches of samples, planned by length and token budget, and filled with padding."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor


def plan_batches(lengths: Sequence[int], batch_tokens: int) -> list[np.ndarray]:
    """Divide samples into batches of at most `batch_tokens` padded tokens, or one sample that is longer.

    lengths: tokens of each sample. Samples of like length go together, the longest first, so that a batch that
    does not fit into memory shows at once; the plan depends on the lengths and the budget alone.
    returns the samples' indices, one array per batch.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, int(lengths[order[start]])))
        batches.append(order[start : start + size])
        start += size
    return batches


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


def input_batches(
    model: torch.nn.Module,
    input_ids: Sequence[Sequence[int]],
    token_types: Sequence[Sequence[int]] | None,
    batch_tokens: int,
    length: int | None = None,
) -> Iterator[tuple[np.ndarray, dict[str, Tensor]]]:
    """The batches of `plan_batches`, each with its `model_inputs` on the model's device.

    length: tokens that every sample is padded to; by default the longest of its batch.
    """
    lengths = [length or len(ids) for ids in input_ids]
    for batch in plan_batches(lengths, batch_tokens):
        ids = [input_ids[index] for index in batch]
        types = None if token_types is None else [token_types[index] for index in batch]
        yield batch, model_inputs(ids, types, model.config.pad_token_id or 0, model.device, length)
