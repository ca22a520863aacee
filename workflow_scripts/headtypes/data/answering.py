"""Models with the head that a kind of task needs: what they answer, and the loss of what they should answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from headtypes.core.errors import InputError
from headtypes.data.kinds.protocol import LANGUAGE_MODEL, Scored
from headtypes.data.kinds.registry import KINDS
from headtypes.data.windows import Windows, check_finite
from headtypes.models.loading import load_model
from headtypes.models.model_config import language_head
from headtypes.models.records import ModelRecord

# The column of scores with the cross entropy, in nats, of the span, label, choice or tokens that are right.
GOLD_LOSS = "gold_loss"
# A target that is not predicted, for `torch.nn.functional.cross_entropy`.
NO_TARGET = -100
# Logits over the vocabulary that are computed at a time; of GPT-2's, those of 670 tokens.
_LOGITS = 2**25


def load_for(record: ModelRecord, precision: str, kind: str) -> PreTrainedModel:
    """Load a fetched model with the head that answers a kind of task; otherwise as `loading.load_model`."""
    head = KINDS[kind].head
    return load_model(record, precision, head=language_head(record) if head == LANGUAGE_MODEL else head)


class _Outputs:
    """A model's outputs for windows, batch by batch; of windows with targets of their own, only these have logits."""

    def __init__(self, kind: str, windows: Windows):
        self._kind = KINDS[kind]
        self._predicted = None if windows.targets is None else PredictedTokens(windows)

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """At most so many padded tokens of a batch; vocabulary: how many tokens the model knows."""
        return self._predicted.batch_tokens(batch_tokens, vocabulary) if self._predicted else batch_tokens

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Prepare a model for runs on batches, each of which `start` announces."""
        with self._predicted.attached(model) if self._predicted else nullcontext():
            yield

    def start(self, windows: np.ndarray) -> None:
        """Prepare for the run of a batch; windows: [window] which of all windows it has."""
        self._batch = windows
        if self._predicted:
            self._predicted.start(windows)


class Answers(_Outputs):
    """What a model answers: values read from its output for each window.

    columns: names of the values: the kind's, or, where windows have targets of their own, the sum of their cross
        entropies in nats, and how many they are; and, with targets, the loss of what is right.
    """

    def __init__(self, kind: str, windows: Windows, targets: np.ndarray | None = None, **settings: int):
        """targets: as `Kind.answer_targets` gives them, [window, softmax]; settings: the kind's `answer_keys`."""
        super().__init__(kind, windows)
        self._targets, self._settings = targets, settings
        self.columns = ("loss", "tokens") if self._predicted else self._kind.answer_columns
        if targets is not None:
            self.columns += (GOLD_LOSS,)

    def read(self, output: Any, sentences: list[np.ndarray], given: Mapping[str, Tensor]) -> tuple[np.ndarray, ...]:
        """The values of a batch: an array [window] for each of `columns`.

        sentences: as in `Kind.read_answers`; given: what the model was given.
        """
        if self._predicted is None:
            values = self._kind.read_answers(output, sentences, **self._settings)
            losses = None if self._targets is None else self._gold_losses(output, given)
        else:
            losses = self._predicted.loss_sums(output).cpu().numpy()
            check_finite(losses, "loss is")
            values = losses, self._predicted.tokens[self._batch]
        return values if self._targets is None else (*values, losses)

    def scored(self, rows: Sequence, windows: Windows, record: ModelRecord, table: pd.DataFrame) -> Scored:
        """Score answers as `Kind.score_answers` does, from what windows gave; with targets, add the gold loss.

        That is the mean over the windows that hold the whole of it, or where tokens are predicted their sum, which
        `SIZES` divides; NaN where no window does.
        """
        values = [table[name].to_numpy() for name in self.columns if name != GOLD_LOSS]
        answers, scores = self._kind.score_answers(rows, windows, record, tuple(values))
        if self._targets is not None:
            gold = table[GOLD_LOSS].where((self._targets >= 0).all(1)).groupby(windows.question)
            of_row = gold.sum(min_count=1) if self._predicted else gold.mean()
            scores[GOLD_LOSS] = of_row.set_axis(windows.question_ids)[scores["id"]].to_numpy()
        return answers, scores

    def _gold_losses(self, output: Any, given: Mapping[str, Tensor]) -> np.ndarray:
        """[window]; NaN of one without a target."""
        targets = self._targets[self._batch]
        logits = self._kind.answer_logits(output, given["attention_mask"])
        losses = _cross_entropy(logits, torch.as_tensor(targets.clip(0)).to(logits.device)).mean(1).cpu().numpy()
        return np.where((targets >= 0).all(1), losses, np.nan)


class AnswerLoss(_Outputs):
    """The mean cross entropy of what each window's answer consists of, of which gradients are taken.

    That is the kind's `answer_targets`, or the tokens to predict where windows have targets of their own.
    windows: [chosen] int, those of all windows that hold a whole answer.
    """

    def __init__(self, kind: str, windows: Windows, targets: np.ndarray, what: str):
        """targets: as `Kind.answer_targets` gives them, [window, softmax]; what: the work, for the message.

        Raises `InputError` where no window holds a whole answer.
        """
        super().__init__(kind, windows)
        self.windows = np.flatnonzero((targets >= 0).all(1))
        if not len(self.windows):
            raise InputError(f"{what}: no window holds a whole answer; make windows.max_seq_length larger.")
        self._targets = targets

    def start(self, windows: np.ndarray) -> None:
        """Prepare for the run of a batch; windows: [input] which of `windows` it has."""
        super().start(self.windows[windows])

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """The loss of each input of the batch; given: what the model was given."""
        if self._predicted is None:
            logits = self._kind.answer_logits(output, given["attention_mask"])
            return _cross_entropy(logits, torch.as_tensor(self._targets[self._batch]).to(logits.device)).mean(1)
        sums = self._predicted.loss_sums(output)
        return sums / torch.as_tensor(self._predicted.tokens[self._batch]).to(sums)


class SomeTokens:
    """Has a model's last linear layer, over the vocabulary, computed for some tokens of each batch alone.

    owners: of these tokens, the input of the batch that each is in.
    """

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Prepare a model for runs on batches, for each of which `draw` says which tokens these are."""
        decoder = model.get_output_embeddings()
        hook = decoder and decoder.register_forward_pre_hook(lambda _, arguments: (arguments[0][self._drawn],))
        try:
            yield
        finally:
            if hook:
                hook.remove()

    def draw(self, indices: list[np.ndarray]) -> None:
        """Remember where the tokens are in a batch; indices: of each input."""
        self.owners = torch.as_tensor(np.repeat(np.arange(len(indices)), list(map(len, indices))))
        self._drawn = self.owners, torch.as_tensor(np.concatenate(indices))

    def logits(self, output: Any) -> Tensor:
        """Those of these tokens; a model that computes its logits in a way of its own has them of all."""
        return output.logits[self._drawn] if output.logits.dim() == 3 else output.logits


class PredictedTokens(SomeTokens):
    """Computes the losses of a language model on the targets of windows, and no logits of other tokens.

    tokens: how many tokens of each window are to be predicted, [window] int64.
    """

    def __init__(self, windows: Windows):
        """windows: with targets."""
        self._targets = np.split(windows.targets, windows.offsets[1:-1])
        self._indices = [np.flatnonzero(targets >= 0) for targets in self._targets]
        self.tokens = windows.predicted_tokens

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """As many as there is memory for the logits of the tokens to be predicted."""
        share = self.tokens.sum() / max(1, sum(map(len, self._targets)))
        return max(1, min(batch_tokens, int(_LOGITS / vocabulary / max(share, 1e-3))))

    def start(self, windows: np.ndarray) -> None:
        """Remember where the tokens are in a batch; windows: [window] which of all windows it has."""
        self.draw([self._indices[window] for window in windows])
        wanted = [self._targets[window][self._indices[window]] for window in windows]
        self._wanted = torch.as_tensor(np.concatenate(wanted).astype(np.int64))
        self._inputs = len(windows)

    def loss_sums(self, output: Any) -> Tensor:
        """The sum of the cross entropies of the tokens of each window of the batch, in nats: [window] float64."""
        logits = self.logits(output)
        wanted, owners = self._wanted.to(logits.device), self.owners.to(logits.device)
        losses = _cross_entropy(logits, wanted).double()
        return losses.new_zeros(self._inputs).index_add(0, owners, losses)


def token_losses(logits: Tensor, targets: Tensor, owners: Tensor, inputs: int) -> Tensor:
    """The mean cross entropy of the predicted tokens of each input of a batch: [input].

    logits: [prediction, vocabulary]; targets: [prediction] int64, or `NO_TARGET`, which does not count.
    owners: [prediction] int64, the input that each belongs to; every input has one that counts.
    """
    losses = _cross_entropy(logits, targets)
    totals = losses.new_zeros(inputs).index_add(0, owners, losses)
    return totals / torch.bincount(owners[targets != NO_TARGET], minlength=inputs)


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    # Half precision is too coarse for the loss.
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return cross_entropy(logits, targets, ignore_index=NO_TARGET, reduction="none")
