"""A model's own loss on what it reads: words that are masked, the next token, or the answers of a task.

These are the losses of Clark et al. 2019, section 3.2, and their counterparts for models with other heads.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from headtypes.core.seeds import derive_seed
from headtypes.data.answering import NO_TARGET, AnswerLoss, SomeTokens, token_losses
from headtypes.data.encoding import Encoded
from headtypes.data.masking import mask_words
from headtypes.data.windows import Windows

# Logits over the vocabulary that are computed at a time; of GPT-2's, those of 1,300 tokens.
_LOGITS = 2**26
# In `Loss.kinds`, a token that does not count as one that is attended to.
NOT_COUNTED = -1


class Loss(Protocol):
    """The loss of a model on each of its inputs.

    name:        what is asked, for the table.
    input_ids, token_types: of each input, as `batches.run_model` takes them.
    kinds:       [token] of each input, as in `encoding.Encoded`, or `NOT_COUNTED`.
    units:       [input] int, the sample that each input is part of: the windows of one question count as one sample.
    """

    name: str
    input_ids: Sequence[Sequence[int]]
    token_types: Sequence[Sequence[int]] | None
    kinds: list[np.ndarray]
    units: np.ndarray

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """At most so many tokens of a batch that its logits do not take more memory than its layers."""
        return batch_tokens

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Prepare a model for runs on batches, each of which `start` announces."""
        yield

    def start(self, inputs: np.ndarray) -> None:
        """Prepare for the run of a batch; inputs: which of all it has."""

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """The loss on each input of a batch, from the model's output: [input]; given: what the model was given."""


class MaskedWords(SomeTokens, Loss):
    """The mean cross entropy of the words that are masked in a text (`masking.mask_words`).

    The words drawn do not count as attended to: the figure of the paper is of *all unmasked tokens*.
    """

    name = "masked_words"

    def __init__(self, encoded: Encoded, ids: Sequence[str], tokenizer, seed: int):
        """ids: of the samples, in their order; a sample's words are drawn by its id and the seed alone.

        tokenizer: one that has a mask token.
        """
        chosen = [sample for sample, kinds in enumerate(encoded.kinds) if (kinds == 0).any()]
        read, vocabulary = encoded.of_some(chosen), np.unique(list(tokenizer.get_vocab().values()))
        seeds = [derive_seed(seed, ids[sample]) for sample in chosen]
        masked = [
            mask_words(tokens, kinds == 0, tokenizer.mask_token_id, vocabulary, of_sample)
            for tokens, kinds, of_sample in zip(read.input_ids, read.kinds, seeds, strict=True)
        ]
        self.input_ids, self.token_types = [words.input_ids for words in masked], read.token_types
        self.kinds = [_without(kinds, words.indices) for kinds, words in zip(read.kinds, masked, strict=True)]
        self.units = np.arange(len(chosen))
        self._masked = masked

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """As many as there is memory for the logits of the words drawn."""
        share = sum(len(words.indices) for words in self._masked) / max(1, sum(map(len, self.input_ids)))
        return min(batch_tokens, int(_LOGITS / vocabulary / max(share, 1e-3)))

    def start(self, inputs: np.ndarray) -> None:
        """Remember where the words drawn are."""
        self._of_batch = [self._masked[index] for index in inputs]
        self.draw([words.indices for words in self._of_batch])

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """From the logits of the words drawn."""
        targets = torch.as_tensor(np.concatenate([words.targets for words in self._of_batch]))
        logits = self.logits(output)
        return token_losses(logits, targets.to(logits.device), self.owners.to(logits.device), len(self._of_batch))


class NextToken(Loss):
    """The mean cross entropy of each next token of a text."""

    name = "next_token"

    def __init__(self, encoded: Encoded):
        read = encoded.of_some([sample for sample, ids in enumerate(encoded.input_ids) if len(ids) > 1])
        self.input_ids, self.token_types, self.kinds = read.input_ids, read.token_types, read.kinds
        self.units = np.arange(len(read.kinds))

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """As many as there is memory for the logits of."""
        return min(batch_tokens, _LOGITS // vocabulary)

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """From the logits of every token but the last, which is followed by none."""
        targets = given["input_ids"].masked_fill(given["attention_mask"] == 0, NO_TARGET)
        targets = torch.nn.functional.pad(targets[:, 1:], (0, 1), value=NO_TARGET)
        owners = torch.arange(len(targets), device=targets.device)[:, None].expand_as(targets)
        return token_losses(output.logits.flatten(0, 1), targets.flatten(), owners.flatten(), len(targets))


class Answers(AnswerLoss):
    """The mean cross entropy of a task's answers, as `ablation.importance` takes it."""

    def __init__(self, windows: Windows, targets: np.ndarray, kind_of: np.ndarray, kind: str, what: str):
        """targets: of all windows (`Kind.answer_targets`); kind_of: of each token (`tokens.token_kinds`)."""
        super().__init__(kind, windows, targets, what)
        self.name = kind
        self.input_ids, self.token_types, _ = (of and [of[window] for window in self.windows] for of in windows.texts)
        self.kinds = [kind_of[ids] for ids in self.input_ids]
        _, self.units = np.unique(windows.question[self.windows], return_inverse=True)


def _without(kinds: np.ndarray, indices: np.ndarray) -> np.ndarray:
    counted = kinds.copy()
    counted[indices] = NOT_COUNTED
    return counted
