"""Dependence of the loss on the attention to each kind of token (Clark et al. 2019, section 3.2, Figure 3).

The gradient with respect to the attention from token s to token t, taken as a free variable after the softmax, is the
product of the gradient with respect to the head's output at s with the value at t. The backward pass computes attention
anew, block by block, keeps no map, and comes upon these products on its way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.attention.hook import Batch, Group, Layer, Scratch, check_heads, equal_lengths, run_batches
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed
from headtypes.core.progress import warn
from headtypes.core.table_files import write_csv
from headtypes.data.answering import Answers, TokenLosses, tokens_within
from headtypes.data.encoding import SPECIAL_KINDS, Encoded, mask_words, sample_questions, token_kinds
from headtypes.data.tasks import KINDS, Sample, read_records, read_rows
from headtypes.data.windows import Windows, draw_part, read_windows
from headtypes.models.loading import MissingHeadError
from headtypes.models.model_config import layers_and_heads
from headtypes.models.records import ModelRecord, read_model_record

# Logits over the vocabulary that are computed at a time; of GPT-2's, those of 1,300 tokens.
_LOGITS = 2**26
# The kind of a masked word in `Loss.kinds`: Figure 3 of Clark et al. (2019) is about *all unmasked tokens*.
_NOT_COUNTED = -1


class Loss(TokenLosses):
    """The loss of a language model on each of some texts: the mean cross entropy of the tokens to predict in the text.

    texts: in their `kinds`, -1 is a masked token, which does not count as a token that is attended to.
    predicted: for each text two arrays [prediction], indices of tokens and right ids: masked tokens with their original
        ids or, for a decoder, tokens with the ids of the tokens that follow.
    """

    name: str

    def __init__(self, texts: Encoded, predicted: list[tuple[np.ndarray, np.ndarray]]):
        self.input_ids, self.token_types, self.kinds = texts.input_ids, texts.token_types, texts.kinds
        self._predicted = predicted
        self.units = np.arange(len(predicted))

    def batch_tokens(self, batch_tokens: int, vocabulary: int) -> int:
        share = sum(len(indices) for indices, _ in self._predicted) / max(1, sum(map(len, self.input_ids)))
        return tokens_within(_LOGITS, batch_tokens, share, vocabulary)

    def start(self, inputs: np.ndarray) -> None:
        indices, right = zip(*(self._predicted[text] for text in inputs), strict=True)
        self.choose(indices, right)
        self._predictions = torch.tensor(list(map(len, indices)))

    def losses(self, output: Any, given: Mapping[str, Tensor]) -> Tensor:
        sums = self.token_loss_sums(output)
        return sums / self._predictions.to(sums)


class MaskedWords(Loss):
    """The loss on masked words: the mean cross entropy of the words that are masked in a text."""

    name = "masked_words"

    def __init__(self, encoded: Encoded, ids: Sequence[str], tokenizer, seed: int):
        chosen = [sample for sample, kinds in enumerate(encoded.kinds) if (kinds == 0).any()]
        read, vocabulary = encoded.selected(chosen), np.unique(list(tokenizer.get_vocab().values()))
        seeds = [derive_seed(seed, ids[sample]) for sample in chosen]
        masked = [
            mask_words(tokens, kinds == 0, tokenizer.mask_token_id, vocabulary, of_sample)
            for tokens, kinds, of_sample in zip(read.input_ids, read.kinds, seeds, strict=True)
        ]
        kinds = [kinds.copy() for kinds in read.kinds]
        for of_text, words in zip(kinds, masked, strict=True):
            of_text[words.indices] = _NOT_COUNTED
        texts = replace(read, input_ids=[words.input_ids for words in masked], kinds=kinds)
        super().__init__(texts, [(words.indices, words.targets) for words in masked])


class NextToken(Loss):
    """The loss on the next token: the mean cross entropy of each next token of a text."""

    name = "next_token"

    def __init__(self, encoded: Encoded):
        read = encoded.selected([sample for sample, ids in enumerate(encoded.input_ids) if len(ids) > 1])
        super().__init__(read, [(np.arange(len(ids) - 1), np.array(ids[1:])) for ids in read.input_ids])


class _GoldAnswers(Answers):
    def __init__(self, windows: Windows, targets: np.ndarray, kind_of: np.ndarray, kind: str, what: str):
        super().__init__(kind, windows, targets)
        self._whole = np.flatnonzero((targets >= 0).all(1))
        if not len(self._whole):
            raise InputError(f"{what}: no window holds a whole answer; make windows.max_seq_length larger.")
        self.name = kind
        self.input_ids, self.token_types, _ = (of and [of[window] for window in self._whole] for of in windows.texts)
        self.kinds = [kind_of[ids] for ids in self.input_ids]
        _, self.units = np.unique(windows.question[self._whole], return_inverse=True)

    def start(self, inputs: np.ndarray) -> None:
        super().start(self._whole[inputs])


# The loss is multiplied by this in a precision in which small gradients would be lost, and its gradients are divided.
_LOSS_SCALE = {torch.float16: 2.0**10}


def measure_text_gradients(
    texts: list[Sample], record: ModelRecord, *, task: str, kind: str, samples: int, seed: int, **settings
) -> Gradients:
    """Return the gradients of a language model's loss on texts, with respect to its attention.

    The loss is on masked words or, of a decoder, on the next token. task: name of the task, for messages. kind: kind of
    task, such as `text`. samples: the most texts that are drawn, by the seed. settings: keyword arguments of
    `ModelOnTask`. Values are NaN if no text has a word to predict, or the model lacks an output layer or mask token.
    """
    run = ModelOnTask(record, task=f"{task}, gradients", head=record.language_head, **settings)

    def loss_of() -> Loss | str:
        drawn = sample_questions(texts, questions=samples, seed=seed)
        encoded = run.encode(drawn, kind)
        if record.language_head == "causal_lm":
            loss = NextToken(encoded)
        elif run.tokenizer.mask_token_id is None:
            return "has no mask token in its tokenizer"
        else:
            loss = MaskedWords(encoded, [sample.id for sample in drawn], run.tokenizer, seed)
        return loss if len(loss.units) else "finds no word to predict in any text"

    return _measured(run, loss_of)


def measure_answer_gradients(
    rows: list, windows: Windows, record: ModelRecord, *, task: str, kind: str, samples: int, seed: int, **settings
) -> Gradients:
    """Return the gradients of a fine-tuned model's loss on the gold answers of its task, with respect to its attention.

    rows, windows: all questions or pairs, and their windows. task: name of the task, for messages. kind: kind of task,
    such as `question_answering`. samples: the most rows that are drawn, by the seed. settings: keyword
    arguments of `ModelOnTask`. If the weights lack the model's output layer, values are NaN.
    """
    run = ModelOnTask(record, task=f"{task}, gradients", head=KINDS[kind].head, **settings)

    def loss_of() -> _GoldAnswers:
        drawn, of_drawn = draw_part(rows, windows, samples, seed)
        targets = KINDS[kind].answer_targets(drawn, of_drawn, record)
        return _GoldAnswers(of_drawn, targets, token_kinds(run.tokenizer), kind, run.what)

    return _measured(run, loss_of)


def _measured(run: ModelOnTask, loss_of: Callable[[], Loss | _GoldAnswers | str]) -> Gradients:
    # In place of a loss, `loss_of` can return the reason why there is none.
    try:
        run.model  # noqa: B018
        loss = loss_of()
    except MissingHeadError as error:
        loss = error.why
    if isinstance(loss, str):
        return Gradients(np.full((run.record.layers, run.record.heads, len(ATTENDED)), np.nan), None, 0, loss)
    gradients = gradients_by_kind(run.model, loss, run.batch_tokens, run.what)
    return Gradients(gradients, loss.name, int(loss.units.max()) + 1)


def gradients_by_kind(
    model: PreTrainedModel, loss: Loss | _GoldAnswers, batch_tokens: int, what: str
) -> Float[np.ndarray, "layer head kind"]:
    """Return each head's mean |dLoss / dA[s, t]| over all queries s and the keys t of one kind, then over samples.

    A is the head's attention, a free variable: keys that a causal or local layer hides from the query count, too.
    loss: the samples and the loss on them. batch_tokens: most tokens in a batch. what: name of the work in messages.
    The kinds of keys are `[SEP]`, `[CLS]`, comma or period, other tokens, and all of these; a masked word to be
    predicted is a query, but no key. A sample without a key of the kind is left out; NaN if no sample has such a key.
    """
    # Only head outputs need gradients; without those of the weights, less has to be kept.
    model.requires_grad_(False)
    members = [_members(kinds) for kinds in loss.kinds]
    means_of_inputs = np.zeros((len(members), *layers_and_heads(model), len(ATTENDED)))
    scale = _LOSS_SCALE.get(model.dtype, 1.0)

    def read_batch(batch: Batch, forward: Callable[[_AttentionGradients], Any]) -> None:
        loss.start(batch.samples)
        of_batch = [members[index] for index in batch.samples]
        gradients = _AttentionGradients(batch, of_batch, means_of_inputs.shape[1:3])
        output = forward(gradients)
        # A sample's attention affects no other sample's loss, so one backward pass gives the gradients of every sample.
        torch.autograd.grad(loss.losses(output, batch.inputs).sum() * scale, gradients.anchor)
        means_of_inputs[batch.samples] = gradients.means().double().cpu().numpy() / scale

    with loss.attached(model):
        run_batches(
            model,
            loss.input_ids,
            loss.token_types,
            read_batch,
            batch_tokens=loss.batch_tokens(batch_tokens, model.config.vocab_size),
            what=what,
            gradients=True,
        )
    check_heads(torch.from_numpy(means_of_inputs).isfinite(), what, "the gradient of head {} is not finite")
    units = loss.units.max() + 1
    sums, inputs = np.zeros((units, *means_of_inputs.shape[1:])), np.zeros((units, len(ATTENDED)))
    np.add.at(sums, loss.units, means_of_inputs)
    np.add.at(inputs, loss.units, np.stack([of_input.any(0) for of_input in members]))
    means, counts = sums / np.maximum(inputs, 1)[:, None, None], (inputs > 0).sum(0)
    return np.where(counts > 0, means.sum(0) / np.maximum(counts, 1), np.nan)


# A hook of a batch that changes no attention. The backward pass computes attention anew, and reads its gradients, block
# by block.
class _AttentionGradients:
    def __init__(self, batch: Batch, members: Sequence[Bool[np.ndarray, "token kind"]], shape: tuple[int, int]):
        # A scalar that every layer depends on.
        self.anchor = torch.zeros((), device=batch.device, requires_grad=True)
        self.groups = equal_lengths(batch.lengths, batch.device)
        self._members = {
            group.samples.start: torch.from_numpy(np.stack(members[group.samples])).to(batch.device)
            for group in self.groups
        }
        self._sums = torch.zeros(len(members), *shape, members[0].shape[1], dtype=torch.float64, device=batch.device)

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "batch head query channel"]:
        return _Attention.apply(layer.query, layer.key, layer.value, self.anchor, (layer, number, self))

    def means(self) -> Float[Tensor, "batch layer head kind"]:
        means = torch.empty_like(self._sums)
        for group in self.groups:
            pairs = group.length * self._members[group.samples.start].sum(1)
            means[group.samples] = self._sums[group.samples] / pairs.clamp(min=1)[:, None, None]
        return means

    def add(self, number: int, group: Group, gradient: Float[Tensor, "sample head row key"]) -> None:
        by_key = gradient.abs().sum(2, dtype=torch.promote_types(gradient.dtype, torch.float32))
        members = self._members[group.samples.start].to(by_key.dtype)
        self._sums[group.samples, number] += by_key @ members


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, anchor: Tensor, rest: tuple) -> Tensor:
        layer, number, gradients = rest
        ctx.save_for_backward(query, key, value)
        ctx.rest = replace(layer, query=None, key=None, value=None), number, gradients
        outputs = layer.zero_outputs()
        for group in gradients.groups:
            outputs[group.samples, :, : group.length] = group.part(layer).head_outputs()
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rest, number, gradients = ctx.rest
        query, key, value = ctx.saved_tensors
        layer, scratch = replace(rest, query=query, key=key, value=value), Scratch()
        # No layer below the first one needs gradients.
        further = [torch.zeros_like(tensor) for tensor in ctx.saved_tensors] if any(ctx.needs_input_grad[:3]) else []
        for group in gradients.groups:
            part, output_gradient = group.part(layer), gradient[group.samples, :, : group.length]
            below = [tensor[group.samples, :, : group.length] for tensor in further]
            for rows in group.blocks(query.device):
                row_gradient = output_gradient[:, :, rows]
                attention_gradient = torch.matmul(row_gradient, part.value.transpose(-1, -2))
                gradients.add(number, group, attention_gradient)
                if not below:
                    continue
                query_gradient, key_gradient, value_gradient = below
                attention = part.attention(rows, scratch.memory(part, rows))
                value_gradient += torch.matmul(attention.transpose(-1, -2), row_gradient)
                # The gradient of a softmax, whose share for no token has none.
                score_gradient = attention * (
                    attention_gradient - (attention * attention_gradient).sum(-1, keepdim=True)
                )
                if part.cap is not None:
                    score_gradient *= 1 - torch.tanh(part.scores(rows) / part.cap) ** 2
                query_gradient[:, :, rows] = torch.matmul(score_gradient, part.key) * part.scale
                key_gradient += torch.matmul(score_gradient.transpose(-1, -2), part.query[:, :, rows]) * part.scale
        return *(further or [None] * 3), torch.zeros_like(gradient[0, 0, 0, 0], dtype=torch.float32), None


def _members(kinds: np.ndarray) -> Bool[np.ndarray, "token kind"]:
    # In the order of `ATTENDED`.
    cls, sep, comma, period = (1 + SPECIAL_KINDS.index(name) for name in ("cls", "sep", "comma", "period"))
    of_kind = [kinds == sep, kinds == cls, np.isin(kinds, [comma, period]), kinds == 0, kinds != _NOT_COUNTED]
    return np.stack(of_kind, axis=-1)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    model = read_model_record(inputs.model)
    if inputs.answered_windows:
        rows, windows = read_rows(inputs.texts, spec["kind"]), read_windows(inputs.answered_windows)
        gradients = measure_answer_gradients(rows, windows, model, **spec)
    else:
        gradients = measure_text_gradients(read_records(inputs.texts, Sample), model, **spec)
    warn(provenance, gradients.warnings)
    write_csv(outputs.gradients, gradients.table())
