"""What a model answers to one text: an answer, a class, the next token or a masked word, each with its probability."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.analyses.maps.measure import readable
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded
from headtypes.data.kinds.question_answering.kind import QuestionAnswering
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.data.records import Sample
from headtypes.data.windows import without_space
from headtypes.models.loading import HEADS, MissingHeadError, load_model
from headtypes.models.model_config import language_head
from headtypes.models.records import ModelRecord

# Candidates that are shown of the model as it is, and of the model with heads changed.
SHOWN = 5
# Tokens of the longest answer to a question, by default of the workflow.
LONGEST_ANSWER = 30


@dataclass(frozen=True)
class Answer:
    """One thing that a model says of a text.

    title:  what it is, such as `next token`.
    values: [candidate] float64, what is said of each candidate: its probability, from 0 to 1, or a value in `unit`.
    name:   of a candidate, by its index.
    """

    title: str
    values: np.ndarray
    name: Callable[[int], str]
    unit: str = ""

    def beside(self, whole: "Answer") -> dict:
        """This answer beside that of the whole model, for the page: the likeliest candidates of both.

        returns title, unit, and rows of a candidate's name, its value in the whole model, and its value here.
        """
        best = {*np.argsort(-whole.values)[:SHOWN].tolist(), *np.argsort(-self.values)[:SHOWN].tolist()}
        order = sorted(best, key=lambda candidate: -whole.values[candidate])
        rows = [[self.name(it), float(whole.values[it]), float(self.values[it])] for it in order]
        return {"title": self.title, "unit": self.unit, "rows": rows}


def load_to_answer(record: ModelRecord, precision: str) -> tuple[PreTrainedModel, str | None]:
    """Load a model with the head that its weights were saved with, one of `loading.HEADS`; without any, bare."""
    saved = [
        name
        for name, head in HEADS.items()
        if name and head.types.get(record.model_type) in (record.architectures or ())
    ]
    head = saved[0] if saved else language_head(record)
    try:
        return load_model(record, precision, head), head
    except MissingHeadError:
        return load_model(record, precision), None


def kind_of(head: str | None) -> str:
    """The kind of task by which texts are cut for a model with this head."""
    return QuestionAnswering.name if head == QuestionAnswering.head else SentencePair.name


def answers_of(
    head: str | None,
    output: Any,
    sample: Sample,
    encoded: Encoded,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
) -> list[Answer]:
    """What a model says of one text or pair, which it has read without padding.

    head:   of `loading.HEADS`; output: of the model with this head.
    Raises `InputError` where a number of it is not finite.
    """
    return _READERS[head](output, sample, encoded, model, tokenizer)


def _finite(logits: Tensor) -> Tensor:
    if not logits.isfinite().all():
        raise InputError("The model's logits are not finite; run it in float32 or bfloat16, or check its weights.")
    return logits.double().cpu()


def _span(output, sample, encoded, model, tokenizer) -> list[Answer]:
    """The spans of the second text, by the sum of start and end logit (Devlin et al. 2019, section 4.2)."""
    if not sample.second:
        return []
    length = len(encoded.input_ids[0])
    read = tokenizer(
        sample.first, sample.second, truncation="only_second", max_length=length, return_offsets_mapping=True
    )
    in_text = torch.tensor([sequence == 1 for sequence in read.sequence_ids(0)])
    start, end = (_finite(logits[0]) for logits in (output.start_logits, output.end_logits))
    distance = torch.arange(length) - torch.arange(length)[:, None]
    allowed = (distance >= 0) & (distance < LONGEST_ANSWER) & in_text & in_text[:, None]
    if not allowed.any():
        return []
    scores = (start[:, None] + end).masked_fill(~allowed, -torch.inf)
    offsets = [without_space(sample.second, *each) for each in read["offset_mapping"]]

    def name(span: int) -> str:
        first, last = divmod(span, length)
        return sample.second[offsets[first][0] : offsets[last][1]]

    return [Answer("answer", scores.flatten().softmax(0).numpy(), name)]


def _classes(output, sample, encoded, model, tokenizer) -> list[Answer]:
    """The labels of a classification; of a single one, its value."""
    logits, names = _finite(output.logits[0]), model.config.id2label
    if len(logits) == 1:
        return [Answer("value", logits.numpy(), lambda label: str(names[label]), "without a unit")]
    several = model.config.problem_type == "multi_label_classification"
    return [
        Answer("class", (logits.sigmoid() if several else logits.softmax(0)).numpy(), lambda label: str(names[label]))
    ]


def _next_token(output, sample, encoded, model, tokenizer) -> list[Answer]:
    """What comes next, and the mean loss of all tokens but the first."""
    logits, ids = _finite(output.logits[0]).log_softmax(-1), torch.tensor(encoded.input_ids[0])
    found = [Answer("next token", logits[-1].exp().numpy(), partial(readable, tokenizer))]
    if len(ids) > 1:
        loss = -logits[:-1].gather(1, ids[1:, None]).mean()
        said = f"mean over {len(ids) - 1} tokens"
        found.append(Answer("loss", np.array([float(loss)]), lambda _: said, "nats per token"))
    return found


def _masked_words(output, sample, encoded, model, tokenizer) -> list[Answer]:
    """The word of each mask."""
    places = [at for at, token in enumerate(encoded.input_ids[0]) if token == tokenizer.mask_token_id]
    return [
        Answer(
            f"{tokenizer.mask_token} {number}",
            _finite(output.logits[0, at]).softmax(0).numpy(),
            partial(readable, tokenizer),
        )
        for number, at in enumerate(places, start=1)
    ]


_READERS = {
    None: lambda *_: [],
    "question_answering": _span,
    "sequence_classification": _classes,
    "masked_lm": _masked_words,
    "causal_lm": _next_token,
}
