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

from headtypes.data.tasks import KINDS, LANGUAGE_MODEL, Scored
from headtypes.data.windows import Windows, check_finite
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord

# The column of scores with the cross entropy, in nats, of the span, label, choice or tokens that are right.
GOLD_LOSS = "gold_loss"
# Logits over the vocabulary that are computed at a time; of GPT-2's, those of 670 tokens.
_LOGITS = 2**25


def load_for(record: ModelRecord, precision: str, kind: str) -> PreTrainedModel:
    head = KINDS[kind].head
    return load_model(record, precision, head=record.language_head if head == LANGUAGE_MODEL else head)


def tokens_within(logits: int, batch_tokens: int, share: float, vocabulary: int) -> int:
    """Return the most tokens of a batch, at most `batch_tokens`, with no more than about so many `logits`.

    share: of the tokens, those whose logits are computed, `vocabulary` for each.
    """
    return max(1, min(batch_tokens, int(logits / vocabulary / max(share, 1e-3))))


class SomeTokens:
    """An object that lets a model's last layer compute logits for chosen tokens alone, and sums these tokens' loss."""

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        """Return a context in which a model computes logits of chosen tokens alone; call `draw` before each batch."""
        decoder = model.get_output_embeddings()
        hook = decoder and decoder.register_forward_pre_hook(lambda _, arguments: (arguments[0][self._drawn],))
        try:
            yield
        finally:
            if hook:
                hook.remove()

    def draw(self, indices: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> None:
        """Choose tokens of the next batch: for each input, their `indices` and the `right` ids to predict there."""
        self._inputs, owners = len(indices), np.repeat(np.arange(len(indices)), list(map(len, indices)))
        self._drawn = torch.as_tensor(owners), torch.as_tensor(np.concatenate(indices))
        self._right = torch.as_tensor(np.concatenate(right).astype(np.int64))

    def token_loss_sums(self, output: Any) -> Tensor:
        """Return the summed cross entropy of the chosen tokens of each input, [input] float64, in nats.

        output: the model's output for the batch, with the logits of all tokens, or of the chosen tokens alone.
        """
        logits = output.logits[self._drawn] if output.logits.dim() == 3 else output.logits
        losses = _cross_entropy(logits, self._right.to(logits.device)).double()
        return losses.new_zeros(self._inputs).index_add(0, self._drawn[0].to(logits.device), losses)


class Answers(SomeTokens):
    """An object that reads a model's answers to a task's windows from the model's output for each batch of windows.

    windows: the task's windows; if they hold tokens to predict, the model is a language model.
    kind: kind of task, such as `question_answering`; settings: values of the kind's `answer_keys`.
    targets: right classes of each window, as `Kind.answer_targets` returns them; None if their loss is not asked for.
    """

    def __init__(self, kind: str, windows: Windows, targets: np.ndarray | None = None, **settings: int):
        self._kind, self._targets, self._tokens, self._settings = KINDS[kind], targets, None, settings
        if windows.targets is not None:
            self._tokens, self._wanted = windows.predicted_tokens, np.split(windows.targets, windows.offsets[1:-1])

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        """Return how many tokens, padding included, a batch may have: at most `batch_tokens`.

        A language model gets fewer if it would compute more than about 2**25 logits; vocabulary: its number of tokens.
        """
        if self._tokens is None:
            return batch_tokens
        share = self._tokens.sum() / max(1, sum(map(len, self._wanted)))
        return tokens_within(_LOGITS, batch_tokens, share, vocabulary)

    @contextmanager
    def attached(self, model: PreTrainedModel) -> Iterator[None]:
        with nullcontext() if self._tokens is None else super().attached(model):
            yield

    def start(self, windows: np.ndarray) -> None:
        self._batch = windows
        if self._tokens is not None:
            of_batch = [self._wanted[window] for window in windows]
            self.draw([np.flatnonzero(ids >= 0) for ids in of_batch], [ids[ids >= 0] for ids in of_batch])

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """Return the mean cross entropy of the right classes in each window of the batch, [window], in nats.

        For a language model, it is that of the tokens to predict. A window without the answer has the right class 0.
        output: the model's output for the batch; given: the arguments that the model was called with, by name.
        """
        if self._tokens is None:
            return self.class_losses(output, given)
        sums = self.token_loss_sums(output)
        return sums / torch.as_tensor(self._tokens[self._batch]).to(sums)

    def class_losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        logits = self._kind.answer_logits(output, given["attention_mask"])
        targets = torch.as_tensor(self._targets[self._batch].clip(0)).to(logits.device)
        return _cross_entropy(logits, targets).mean(1)

    def read(self, output: Any, sentences: list[np.ndarray], given: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
        """Return the answers in a model's output for a batch, as {name: array [window]}.

        The arrays are those of `Kind.read_answers`. For a language model, they are "loss", the summed cross entropy of
        the tokens to predict, in nats, and "tokens", their number. If the object has `targets`, "gold_loss" is added:
        this sum again, or for any other model the mean cross entropy of the right classes, NaN without the answer.
        sentences: for each window, the sentence number of each token, -1 for a special token, [token].
        given: the arguments that the model was called with, by name.
        """
        if self._tokens is None:
            values = self._kind.read_answers(output, sentences, **self._settings)
            if self._targets is not None:
                is_whole = (self._targets[self._batch] >= 0).all(1)
                values[GOLD_LOSS] = np.where(is_whole, self.class_losses(output, given).cpu().numpy(), np.nan)
            return values
        losses = self.token_loss_sums(output).cpu().numpy()
        check_finite(losses, "loss is")
        values = {"loss": losses, "tokens": self._tokens[self._batch]}
        return values if self._targets is None else {**values, GOLD_LOSS: losses}

    def scored(self, rows: Sequence, windows: Windows, record: ModelRecord, table: pd.DataFrame) -> Scored:
        """Return {id: answer} and a table of scores with one row for each question, pair or document.

        table: a row for each window, with the arrays of `read` as columns.
        If the object has `targets`, the scores have the column "gold_loss", in nats: the mean over the windows of a
        question that hold the whole answer, NaN if none does. For a language model, it is the sum over the tokens to
        predict; in multiple choice, over the tokens of the right choice.
        """
        values = {name: table[name].to_numpy() for name in table if name != GOLD_LOSS}
        answers, scores = self._kind.score_answers(rows, windows, record, values)
        if self._targets is not None:
            gold = table[GOLD_LOSS].where((self._targets >= 0).all(1)).groupby(windows.question)
            of_row = gold.mean() if self._tokens is None else gold.sum(min_count=1)
            scores[GOLD_LOSS] = of_row.set_axis(windows.question_ids)[scores["id"]].to_numpy()
        return answers, scores


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    # Half precision is too coarse for the loss.
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return cross_entropy(logits, targets, reduction="none")
