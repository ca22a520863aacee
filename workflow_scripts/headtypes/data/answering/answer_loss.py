"""The loss of a model's right answers on a task's windows, of which importance and gradients are taken."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from headtypes.core.errors import InputError
from headtypes.data.answering.losses import answer_losses
from headtypes.data.answering.predicted import PredictedTokens
from headtypes.data.windows import Windows


class AnswerLoss:
    """The mean cross entropy of what each window's answer consists of.

    That is the label, or the first and last token, or, where windows have targets of their own, the tokens that a
    language model is to predict.

    windows: [chosen] int, those of all windows that hold a whole answer.
    """

    def __init__(self, windows: Windows, targets: np.ndarray, what: str):
        """targets: as `examples.Examples.targets` gives them, [window, softmax]; negative for a window to be left out.

        Raises `InputError` where no window is left; what: the work, for the message.
        """
        self.windows = np.flatnonzero((targets >= 0).all(1))
        if not len(self.windows):
            raise InputError(f"{what}: no window holds a whole answer; make windows.max_seq_length larger.")
        self._targets = targets
        self._predicted = None if windows.targets is None else PredictedTokens(windows)

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """At most so many padded tokens of a batch; vocabulary: how many tokens the model knows."""
        return self._predicted.batch_tokens(batch_tokens, vocabulary) if self._predicted else batch_tokens

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Prepare a model for runs on batches, each of which `start` announces."""
        with self._predicted.attached(model) if self._predicted else nullcontext():
            yield

    def start(self, places: np.ndarray) -> None:
        """Prepare for the run of a batch; places: [input] which of `windows` it has."""
        self._batch = self.windows[places]
        if self._predicted:
            self._predicted.start(self._batch)

    def losses(self, output: Any, mask: Tensor) -> Tensor:
        """The loss of each input of the batch, from the model's output; mask: [input, token] 1 for a real token."""
        if self._predicted is None:
            return answer_losses(output, mask, torch.as_tensor(self._targets[self._batch]))
        sums = self._predicted.loss_sums(output)
        return sums / torch.as_tensor(self._predicted.tokens[self._batch]).to(sums)
