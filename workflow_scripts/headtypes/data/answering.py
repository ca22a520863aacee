"""The answers of models to the questions of a task, and the loss of the right answers."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
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
    """Return the number of tokens for a batch: `batch_tokens`, or fewer, so that there are at most `logits` logits.

    share: share of the tokens, 0 to 1, that logits are computed for. vocabulary: number of logits of one such token.
    """
    return max(1, min(batch_tokens, int(logits / vocabulary / max(share, 1e-3))))


class TokenLosses:
    """A language model's losses at tokens that `choose`, called for each batch, names; `token_loss_sums` sums them."""

    def attached(self, model: PreTrainedModel) -> AbstractContextManager:
        """Return a context in which a language model computes logits only at the tokens that `choose` has set."""
        decoder = model.get_output_embeddings()
        hook = decoder and decoder.register_forward_pre_hook(lambda _, arguments: (arguments[0][self._chosen],))
        # Only language models have such a layer.
        return hook or nullcontext()

    def choose(self, tokens: Sequence[np.ndarray], ids: Sequence[np.ndarray]) -> None:
        """Set the tokens of the next batch at which losses are computed, and the `ids` of the tokens to predict there.

        tokens: for each input, indices from 0 of masked tokens or, in a causal model, of tokens before predicted ones.
        """
        self._inputs, owners = len(tokens), np.repeat(np.arange(len(tokens)), list(map(len, tokens)))
        self._chosen = torch.as_tensor(owners), torch.as_tensor(np.concatenate(tokens))
        self._right = torch.as_tensor(np.concatenate(ids).astype(np.int64))

    def token_loss_sums(self, output: Any) -> Tensor:
        """Return each input's sum of cross entropies at chosen tokens, [input] float64 in nats, from the output."""
        logits = output.logits[self._chosen] if output.logits.dim() == 3 else output.logits
        losses = _cross_entropy(logits, self._right.to(logits.device)).double()
        return losses.new_zeros(self._inputs).index_add(0, self._chosen[0].to(logits.device), losses)


class Answers(TokenLosses):
    """A reader of a model's output for batches of windows: `read` returns answers, `losses` losses of right answers.

    targets: result of `Kind.answer_targets`, such as [window, 1] index of the label for pairs, or [window, 2] the first
        and last token of the answer for questions. None if the losses of right answers are not asked for.
    settings: arguments of the kind's `read_answers`, such as max_answer_length for questions.
    """

    def __init__(self, kind: str, windows: Windows, targets: np.ndarray | None = None, **settings: int):
        self._kind, self._targets, self._tokens, self._settings = KINDS[kind], targets, None, settings
        if windows.targets is not None:
            self._tokens, self._wanted = windows.predicted_tokens, np.split(windows.targets, windows.offsets[1:-1])

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        if self._tokens is None:
            return batch_tokens
        share = self._tokens.sum() / max(1, sum(map(len, self._wanted)))
        return tokens_within(_LOGITS, batch_tokens, share, vocabulary)

    def start(self, windows: np.ndarray) -> None:
        self._batch = windows
        if self._tokens is not None:
            of_batch = [self._wanted[window] for window in windows]
            self.choose([np.flatnonzero(ids >= 0) for ids in of_batch], [ids[ids >= 0] for ids in of_batch])

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        """Return the mean cross entropy of the right answer in each window of the batch, [window] in nats.

        output: the model's output for the batch. given: keyword arguments of the model's call, such as attention_mask.
        The right answer is the object's `targets`: the label of a pair; a question's first and last token of the answer
        (token 0 for both in a window without the whole answer). For a language model, it is the tokens to predict.
        """
        if self._tokens is None:
            return self._class_losses(output, given)
        sums = self.token_loss_sums(output)
        return sums / torch.as_tensor(self._tokens[self._batch]).to(sums)

    def _class_losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        logits = self._kind.answer_logits(output, given["attention_mask"])
        targets = torch.as_tensor(self._targets[self._batch].clip(0)).to(logits.device)
        return _cross_entropy(logits, targets).mean(1)

    def read(self, output: Any, sentences: list[np.ndarray], given: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
        """Return the answers in a model's output for a batch, as {name: array [window]}.

        sentences: of each window [token] sentence numbers, -1 for a special token. given: the model call's arguments.
        For pairs, the name is "label": index of the predicted label, from 0. For questions, names are "score", "start"
        and "end": sum of logits of the best span, and the span's first and last token, from 0 in the window.
        For a language model: "loss", cross entropy in nats, summed over the tokens to predict; "tokens", their number.
        An object made with `targets` adds "gold_loss", in nats: for a language model the "loss"; for others the mean
        cross entropy of the right label or of the answer's two ends, NaN in a window without the whole answer.
        """
        if self._tokens is None:
            values = self._kind.read_answers(output, sentences, **self._settings)
            if self._targets is not None:
                is_whole = (self._targets[self._batch] >= 0).all(1)
                values[GOLD_LOSS] = np.where(is_whole, self._class_losses(output, given).cpu().numpy(), np.nan)
            return values
        losses = self.token_loss_sums(output).cpu().numpy()
        check_finite(losses, "loss is")
        values = {"loss": losses, "tokens": self._tokens[self._batch]}
        return values if self._targets is None else {**values, GOLD_LOSS: losses}

    def scored(self, rows: Sequence, windows: Windows, record: ModelRecord, table: pd.DataFrame) -> Scored:
        """Return {id: answer}, and a table of scores with one row for each question, pair or document in `rows`.

        windows: all windows of `rows`. table: one row for each window, with the arrays of `read` as columns.
        Scores have the columns of the kind's `score_answers`, such as id and f1. If the object has `targets`, they also
        have "gold_loss", in nats: for questions the mean over the windows with the whole answer, NaN without any; for a
        language model the sum over the tokens to predict; for multiple choice the same sum over the right choice alone.
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
