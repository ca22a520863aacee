"""The answers of models to the questions of a task, and the loss of the right answers."""

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
from headtypes.data.tasks import KINDS, LANGUAGE_MODEL, Scored
from headtypes.data.windows import Windows, check_finite
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord

# The column of scores with the cross entropy, in nats, of the span, label, choice or tokens that are right.
GOLD_LOSS = "gold_loss"
# A target that is not predicted, for `torch.nn.functional.cross_entropy`.
NO_TARGET = -100
# Logits over the vocabulary that are computed at a time; of GPT-2's, those of 670 tokens.
_LOGITS = 2**25


def load_for(record: ModelRecord, precision: str, kind: str) -> PreTrainedModel:
    head = KINDS[kind].head
    return load_model(record, precision, head=record.language_head if head == LANGUAGE_MODEL else head)


class SomeTokens:
    """A model's last linear layer, over the vocabulary, computed for some tokens of each batch alone.

    Attribute `owners`: [token] int, index of the input in the batch that each of the chosen tokens belongs to.
    """

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Make a model compute the logits of the chosen tokens alone; call `draw` before each forward pass."""
        decoder = model.get_output_embeddings()
        hook = decoder and decoder.register_forward_pre_hook(lambda _, arguments: (arguments[0][self._drawn],))
        try:
            yield
        finally:
            if hook:
                hook.remove()

    def draw(self, indices: list[np.ndarray]) -> None:
        """Choose the tokens of the next batch; indices: for each input, the positions of its chosen tokens, [token]."""
        self.owners = torch.as_tensor(np.repeat(np.arange(len(indices)), list(map(len, indices))))
        self._drawn = self.owners, torch.as_tensor(np.concatenate(indices))

    def logits(self, output: Any) -> Tensor:
        """Return the logits of the chosen tokens, [token, vocabulary], from a model's output.

        The output may hold the logits of all tokens, or of the chosen tokens alone.
        """
        return output.logits[self._drawn] if output.logits.dim() == 3 else output.logits


class Answers(SomeTokens):
    """An object that reads a model's answers: some values for each window, from the model's output for each batch.

    If `windows` has targets, the output is that of a language model, read at the tokens to predict. Otherwise, the
    output is the logits of the model head's classes.
    kind: kind of task, such as `question_answering`; settings: values of the kind's `answer_keys`.
    targets: right classes of each window, as `Kind.answer_targets` returns them; None if no loss is asked for.
    Attribute `columns`: names of the values: `Kind.answer_columns`, and with targets also `GOLD_LOSS`. For a language
    model, "loss" and "tokens" stand in place of `Kind.answer_columns`: the summed cross entropy of the tokens to
    predict, in nats, and the number of these tokens.
    """

    def __init__(self, kind: str, windows: Windows, targets: np.ndarray | None = None, **settings: int):
        self._kind, self._targets, self._tokens, self._settings = KINDS[kind], targets, None, settings
        if windows.targets is not None:
            self._tokens, self._wanted = windows.predicted_tokens, np.split(windows.targets, windows.offsets[1:-1])
        self.columns = self._kind.answer_columns if self._tokens is None else ("loss", "tokens")
        if targets is not None:
            self.columns += (GOLD_LOSS,)

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """Return the most tokens of a batch, with padding, for which no more than about 2**25 logits are computed.

        batch_tokens: upper limit of the result; vocabulary: number of tokens that the model knows.
        """
        if self._tokens is None:
            return batch_tokens
        share = self._tokens.sum() / max(1, sum(map(len, self._wanted)))
        return max(1, min(batch_tokens, int(_LOGITS / vocabulary / max(share, 1e-3))))

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        with nullcontext() if self._tokens is None else super().attached(model):
            yield

    def start(self, windows: np.ndarray) -> None:
        self._batch = windows
        if self._tokens is not None:
            self.draw([np.flatnonzero(self._wanted[window] >= 0) for window in windows])

    def token_loss_sums(self, output: Any) -> Tensor:
        """Return the summed cross entropy, in nats, of the tokens to predict in each window, [window] float64.

        output: the language model's output for the batch.
        """
        logits = self.logits(output)
        targets = np.concatenate([self._wanted[window] for window in self._batch])
        wanted = torch.as_tensor(targets[targets >= 0].astype(np.int64)).to(logits.device)
        losses = _cross_entropy(logits, wanted).double()
        return losses.new_zeros(len(self._batch)).index_add(0, self.owners.to(logits.device), losses)

    def class_losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """Return the cross entropy of each window's right classes, mean over softmaxes of the head, [window], in nats.

        output: the model's output for the batch; given: the arguments that the model was called with, by name.
        """
        logits = self._kind.answer_logits(output, given["attention_mask"])
        targets = torch.as_tensor(self._targets[self._batch].clip(0)).to(logits.device)
        return _cross_entropy(logits, targets).mean(1)

    def read(self, output: Any, sentences: list[np.ndarray], given: Mapping[str, Tensor]) -> tuple[np.ndarray, ...]:
        """Return an array [window] for each of `columns`, from the model's output for a batch.

        sentences: for each window, the sentence number of each token, -1 for a special token, [token].
        given: the arguments that the model was called with, by name.
        """
        if self._tokens is None:
            values = self._kind.read_answers(output, sentences, **self._settings)
            if self._targets is None:
                return values
            is_whole = (self._targets[self._batch] >= 0).all(1)
            losses = np.where(is_whole, self.class_losses(output, given).cpu().numpy(), np.nan)
        else:
            losses = self.token_loss_sums(output).cpu().numpy()
            check_finite(losses, "loss is")
            values = losses, self._tokens[self._batch]
        return values if self._targets is None else (*values, losses)

    def scored(self, rows: Sequence, windows: Windows, record: ModelRecord, table: pd.DataFrame) -> Scored:
        """Return {id: answer} and a table of scores with one row for each question, pair or document.

        table: the values of all windows, with the columns `columns`.
        With targets, the scores have the column `GOLD_LOSS`, in nats. For a question, the column is the mean over the
        windows that hold the whole answer, NaN if no window does. For a language model, the column is the sum over the
        tokens to predict; in multiple choice, over the tokens of the right choice.
        """
        values = [table[name].to_numpy() for name in self.columns if name != GOLD_LOSS]
        answers, scores = self._kind.score_answers(rows, windows, record, tuple(values))
        if self._targets is not None:
            gold = table[GOLD_LOSS].where((self._targets >= 0).all(1)).groupby(windows.question)
            of_row = gold.mean() if self._tokens is None else gold.sum(min_count=1)
            scores[GOLD_LOSS] = of_row.set_axis(windows.question_ids)[scores["id"]].to_numpy()
        return answers, scores


class AnswerLoss(Answers):
    """The loss of which gradients are taken: the mean cross entropy of each window's right answer.

    kind: kind of task, such as `text`. targets: [window, softmax] right classes of each window (`Kind.answer_targets`).
    what: name of the work, for the message if no window holds a whole answer.
    Attribute `windows`: [chosen] int, indices of the windows that hold a whole answer.
    """

    def __init__(self, kind: str, windows: Windows, targets: np.ndarray, what: str):
        super().__init__(kind, windows, targets)
        self.windows = np.flatnonzero((targets >= 0).all(1))
        if not len(self.windows):
            raise InputError(f"{what}: no window holds a whole answer; make windows.max_seq_length larger.")

    def start(self, windows: np.ndarray) -> None:
        """Prepare for the forward pass of a batch; windows: indices into the attribute `windows`."""
        super().start(self.windows[windows])

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """Return the loss of each input of the batch, [input], in nats.

        output: the model's output for the batch; given: the arguments that the model was called with, by name.
        """
        if self._tokens is None:
            return self.class_losses(output, given)
        sums = self.token_loss_sums(output)
        return sums / torch.as_tensor(self._tokens[self._batch]).to(sums)


def token_losses(logits: Tensor, targets: Tensor, owners: Tensor, inputs: int) -> Tensor:
    """Return the mean cross entropy of the predicted tokens of each input, [input], in nats.

    logits: [prediction, vocabulary]; targets: [prediction] int64, id of the right token, -100 if it does not count.
    owners: [prediction] int64, index of the input; inputs: number of inputs, each with a prediction that counts.
    """
    losses = _cross_entropy(logits, targets)
    totals = losses.new_zeros(inputs).index_add(0, owners, losses)
    return totals / torch.bincount(owners[targets != NO_TARGET], minlength=inputs)


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    # Half precision is too coarse for the loss.
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return cross_entropy(logits, targets, ignore_index=NO_TARGET, reduction="none")
