"""What fine-tuning reads: examples in the order in which they are learned, and batches of them."""

import copy
from collections.abc import Sequence

import numpy as np
import torch
from transformers import DataCollatorWithPadding, PreTrainedTokenizerBase

from headtypes.tasks.windows import Windows

# Batches are made of samples of like length, drawn from stretches of this many batches.
_STRETCH = 50


def plan_order(lengths: np.ndarray, batch_size: int, steps: int, rng: np.random.Generator) -> list[int]:
    """The samples in the order in which they are learned, `batch_size` times `steps` of them, batch after batch.

    lengths: [sample] tokens of each.

    Every sample comes once before any comes again. Within a stretch of batches samples are put together by length, so
    that little is padded, and the batches come in random order. Transformers' own grouping by length
    (`train_sampling_strategy="group_by_length"`) leaves the batches of a stretch in order, the longest first, so that
    length and learning rate go together, and draws from the global generator in the middle of a run. Here the whole
    run is planned beforehand: a resumed one skips what it has seen and goes on exactly as it would have.
    """
    wanted = batch_size * steps
    passes = -(-wanted // len(lengths))
    order = np.concatenate([rng.permutation(len(lengths)) for _ in range(passes)])[:wanted]
    batches: list[np.ndarray] = []
    for start in range(0, wanted, batch_size * _STRETCH):
        stretch = order[start : start + batch_size * _STRETCH]
        stretch = stretch[np.argsort(lengths[stretch], kind="stable")].reshape(-1, batch_size)
        batches += [stretch[i] for i in rng.permutation(len(stretch))]
    return np.concatenate(batches).tolist()


class PlannedExamples(torch.utils.data.Dataset):
    """Windows with their targets, in a planned order, as arguments of a model's `forward`."""

    def __init__(self, windows: Windows, targets: np.ndarray, target_names: Sequence[str], order: Sequence[int]):
        """targets: [window, class] int, with the names of its columns; order: places of windows."""
        self._windows, self._targets, self._target_names, self._order = windows, targets, target_names, order

    def __len__(self) -> int:
        """The number of examples in the plan."""
        return len(self._order)

    def __getitem__(self, index: int) -> dict[str, list[int] | int]:
        """The example that the plan has at `index`."""
        window = self._order[index]
        tokens = self._windows.tokens(window)
        example = {"input_ids": self._windows.input_ids[tokens].tolist()}
        if self._windows.token_type_ids is not None:
            example["token_type_ids"] = self._windows.token_type_ids[tokens].tolist()
        return {**example, **dict(zip(self._target_names, self._targets[window].tolist(), strict=True))}


def padding_collator(tokenizer: PreTrainedTokenizerBase) -> DataCollatorWithPadding:
    """What makes batches of examples, padded to the longest and masked there.

    The padding is on the right, whatever the tokenizer's own side, so that the places of answers stay; a tokenizer
    without a token for it takes its first, which is masked.
    """
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.padding_side = "right"
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(0)
    return DataCollatorWithPadding(tokenizer)
