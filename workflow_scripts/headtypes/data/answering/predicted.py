"""The tokens that a language model is to predict in a batch of windows, and its loss on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from headtypes.data.answering.losses import logits_of_some, token_loss_sums
from headtypes.data.windows import Windows

# Logits over the vocabulary that are computed at a time; of GPT-2's, those of 670 tokens.
_LOGITS = 2**25


class PredictedTokens:
    """Computes the losses of a language model on the targets of windows, and no logits of other tokens."""

    def __init__(self, windows: Windows):
        """windows: with targets."""
        self._targets = np.split(windows.targets, windows.offsets[1:-1])
        self._places = [np.flatnonzero(targets >= 0) for targets in self._targets]

    @property
    def tokens(self) -> np.ndarray:
        """How many tokens of each window are to be predicted: [window] int64."""
        return np.array([len(places) for places in self._places], np.int64)

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """As many as there is memory for the logits of the tokens to be predicted."""
        share = self.tokens.sum() / max(1, sum(map(len, self._targets)))
        return max(1, min(batch_tokens, int(_LOGITS / vocabulary / max(share, 1e-3))))

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Let the last linear layer, over the vocabulary, be computed for the tokens to be predicted alone."""
        with logits_of_some(model, lambda: self._drawn):
            yield

    def start(self, windows: np.ndarray) -> None:
        """Remember where the tokens are in a batch; windows: [window] which of all windows it has."""
        places = [self._places[window] for window in windows]
        owners = np.repeat(np.arange(len(places)), list(map(len, places)))
        self._drawn = torch.as_tensor(owners), torch.as_tensor(np.concatenate(places))
        wanted = [self._targets[window][self._places[window]] for window in windows]
        self._wanted = torch.as_tensor(np.concatenate(wanted).astype(np.int64))
        self._inputs = len(places)

    def loss_sums(self, output: Any) -> Tensor:
        """The sum of the cross entropies of the tokens of each window of the batch, in nats: [window] float64."""
        logits = output.logits
        # All tokens, where a model computes its logits in a way of its own.
        logits = logits[self._drawn] if logits.dim() == 3 else logits
        wanted, owners = self._wanted.to(logits.device), self._drawn[0].to(logits.device)
        return token_loss_sums(logits, wanted, owners, self._inputs)
