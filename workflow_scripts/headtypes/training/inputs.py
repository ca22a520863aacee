"""The inputs of fine-tuning: examples in the order in which they are learned, and batches of them."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from headtypes.data.windows import Windows

# Batches consist of examples of similar length, grouped within stretches of this many batches.
_STRETCH = 50


def plan_order(lengths: np.ndarray, batch_size: int, steps: int, rng: np.random.Generator) -> list[int]:
    """Plan the order in which examples are learned: `batch_size` times `steps` of their indices, batch after batch.

    lengths: [example] tokens of each.

    Every example is used once before any is used again. Within each stretch of batches, examples are grouped by length,
    so that there is little padding, and the batches are shuffled. Transformers' own `group_by_length` leaves them
    longest first and draws anew in every epoch; here the whole run is planned, so that a resumed one continues exactly.
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
    """Windows with their targets, in a planned order, as arguments of a model's `forward`.

    targets: [window, softmax] int; target_names: of its columns; order: indices of windows.
    """

    def __init__(self, windows: Windows, targets: np.ndarray, target_names: Sequence[str], order: Sequence[int]):
        self._windows, self._targets, self._target_names, self._order = windows, targets, target_names, order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, index: int) -> dict[str, list[int] | int]:
        window = self._order[index]
        tokens = self._windows.tokens(window)
        example = {"input_ids": self._windows.input_ids[tokens].tolist()}
        if self._windows.token_type_ids is not None:
            example["token_type_ids"] = self._windows.token_type_ids[tokens].tolist()
        return {**example, **dict(zip(self._target_names, self._targets[window].tolist(), strict=True))}


def padding_collator(pad_token: int) -> Callable[[list[dict]], dict[str, torch.Tensor]]:
    """Make a collator that pads examples on the right, so that positions of answers remain valid.

    pad_token: of the model itself, since classification heads of decoders find the end of a text by it.
    """

    def collate(examples: list[dict]) -> dict[str, torch.Tensor]:
        masked = [{**example, "attention_mask": [1] * len(example["input_ids"])} for example in examples]
        columns = {name: [torch.as_tensor(example[name]) for example in masked] for name in masked[0]}
        fill = {"input_ids": pad_token}
        return {
            name: pad_sequence(values, batch_first=True, padding_value=fill.get(name, 0))
            if values[0].ndim
            else torch.stack(values)
            for name, values in columns.items()
        }

    return collate
