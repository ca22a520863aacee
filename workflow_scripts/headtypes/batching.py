"""Batches of samples, planned by length and token budget, and filled with padding."""

from collections.abc import Sequence

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


def pad(rows: Sequence[Sequence[int]], fill: int, device: torch.device) -> Tensor:
    """Stack rows of different lengths, padded at the end: [row, longest] int64."""
    padded = np.full((len(rows), max(map(len, rows))), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return torch.from_numpy(padded).to(device)


def model_inputs(
    input_ids: Sequence[Sequence[int]],
    token_types: Sequence[Sequence[int]] | None,
    pad_token: int,
    device: torch.device,
) -> dict[str, Tensor]:
    """The keyword arguments of a forward pass: padded ids, mask and, where the model has them, token types."""
    inputs = {
        "input_ids": pad(input_ids, pad_token, device),
        "attention_mask": pad([[1] * len(row) for row in input_ids], 0, device),
    }
    if token_types is not None:
        inputs["token_type_ids"] = pad(token_types, 0, device)
    return inputs
