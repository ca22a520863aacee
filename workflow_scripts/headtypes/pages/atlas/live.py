"""A model that stays loaded, whose heads are switched off one click after the other on a text that somebody types."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import Batch, run_model
from headtypes.attention.hook import Layer
from headtypes.attention.one_pass import AttentionReader
from headtypes.attention.operations import OPERATIONS, Reading, head_of
from headtypes.attention.reducers import Pass, Reducer
from headtypes.core.errors import InputError
from headtypes.core.texts import check_text
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.model_config import layers_and_heads
from headtypes.models.records import ModelRecord
from headtypes.pages.atlas.data import Found
from headtypes.pages.atlas.live_answers import Answer, answers_of, kind_of, load_to_answer
from headtypes.pages.atlas.look import LONGEST, seen

NAME = "your text"
# What can be done to a head of which nothing but its attention is known, and that needs no number.
OFFERED = [
    name
    for name, it in OPERATIONS.items()
    if it.change and not (it.number or it.needs_head_outputs or it.needs_sentences)
]
_ASKS = {
    "question_answering": "This model answers questions: write one, and below it the text that holds the answer.",
    "masked_lm": "This model guesses words: write {mask} for each of those that it is to guess.",
    None: "This model's weights have no head that answers anything, so that only its attention is seen to change.",
}
_EXAMPLES = {
    "question_answering": ("Who sat on the mat?", "The cat sat on the mat because it was tired."),
    "masked_lm": ("The cat sat on the {mask} because it was tired.", None),
}
_EXAMPLE = ("The cat sat on the mat because it was tired.", None)


class Live:
    """A loaded model, and what it answers. It is not safe in several threads at once."""

    def __init__(
        self, record: ModelRecord, found: Found, *, precision: str, distance_bins: int, first_token: bool = True
    ):
        """record, found, precision, distance_bins, first_token: as in `look.look_at`."""
        self.record = record
        self._found, self._features = found, {"distance_bins": distance_bins, "first_token": first_token}
        self._model, self._head = load_to_answer(record, precision)
        self._tokenizer = load_tokenizer(record)
        self._last: _Text | None = None

    @property
    def example(self) -> tuple[str, str | None]:
        """A text, and a second one where the model needs it, to begin with."""
        first, second = _EXAMPLES.get(self._head, _EXAMPLE)
        return self._masked(first), second

    def page(self, first: str, second: str | None) -> dict:
        """The data of the page, as `look.look_at` returns them, with what the model answers to a first text."""
        read = self.read(first, second, OFFERED[0], [], self._found)
        live = {"operations": OFFERED, "first": first, "second": second or "", "answers": read.pop("answers")}
        return {**read, "live": live | {"asks": self._masked(_ASKS.get(self._head, ""))}}

    def read(
        self, first: str, second: str | None, operation: str, heads: Sequence[str], found: Found | None = None
    ) -> dict:
        """What every head looks at while some are changed, and what the model answers, beside the whole model.

        heads:  `layer-head` from 1, to which the operation, one of `OFFERED`, is applied. Their own attention is shown
            as it would be; that of later layers is that of a model without them.
        found:  results of the model that are shown as well, as in `look.look_at`.
        returns the data of a page of the text, and `answers` (`live_answers.Answer.beside`).
        Raises `InputError` where the text is empty, or there is no such head or operation.
        """
        text, operations = self._text(first, second), self._operations(operation, heads)
        answers: list[Answer] = []

        def read(_, *reducers: Reducer) -> list:
            answers[:] = self._pass(text.sample, text.encoded, operations, reducers)
            return [reducer.result() for reducer in reducers]

        data = seen(self.record, text.encoded, read, self._tokenizer, NAME, found or {}, **self._features)
        return {**data, "answers": [now.beside(whole) for now, whole in zip(answers, text.whole, strict=True)]}

    def _text(self, first: str, second: str | None) -> "_Text":
        """A text as the model reads it, with what the whole model answers; the same one need not be read again."""
        sample = Sample(NAME, first, second or None)
        if self._last is None or self._last.sample != sample:
            for text in filter(None, (first, second)):
                check_text(text, "the text")
            if not first.strip():
                raise InputError("The text is empty; write one.")
            longest = min(LONGEST, self.record.max_length)
            encoded = encode_samples([sample], self._tokenizer, kind_of(self._head), longest)
            whole = self._pass(sample, encoded, self._operations(OFFERED[0], []), [])
            self._last = _Text(sample, encoded, whole)
        return self._last

    def _pass(
        self, sample: Sample, encoded: Encoded, operations: np.ndarray, reducers: Sequence[Reducer]
    ) -> list[Answer]:
        """One forward pass over a text, whose attention reducers read; returns what the model answers."""
        what = f"{self.record.name} on {NAME}"
        for reducer in reducers:
            reducer.begin(Pass(what, np.arange(1), *layers_and_heads(self._model), self._model.dtype))
        answers: list[Answer] = []

        def finish(batch: Batch, reader: AttentionReader, output) -> None:
            reader.finish(what)
            answers.extend(answers_of(self._head, output, sample, encoded, self._model, self._tokenizer))

        run_model(
            self._model,
            encoded.input_ids,
            encoded.token_types,
            hook=lambda batch: _Changed(reducers, batch, operations),
            finish=finish,
            batch_tokens=1,
            bar=tqdm(disable=True),
        )
        return answers

    def _operations(self, operation: str, heads: Sequence[str]) -> np.ndarray:
        if operation not in OFFERED:
            raise InputError(f"There is no operation {operation} here; there are {', '.join(OFFERED)}.")
        operations = np.full((self.record.layers, self.record.heads), "keep", dtype=object)
        for name in heads:
            head = head_of(name)
            if head is None or not all(number < size for number, size in zip(head, operations.shape, strict=True)):
                raise InputError(
                    f"There is no head {name}; the model has {operations.shape[0]} layers of {operations.shape[1]} "
                    "heads, both counted from 1."
                )
            operations[head] = operation
        return operations

    def _masked(self, text: str) -> str:
        return text.format(mask=self._tokenizer.mask_token)


@dataclass(frozen=True)
class _Text:
    """A text that was read; whole: what the whole model answers to it."""

    sample: Sample
    encoded: Encoded
    whole: list[Answer]


class _Changed(AttentionReader):
    """The hook of one text: hands its attention to reducers, and changes what heads hand on."""

    def __init__(self, reducers: Sequence[Reducer], batch: Batch, operations: np.ndarray):
        super().__init__(reducers, batch)
        sentences = [np.zeros(length) for length in batch.lengths]
        self._ablation = Ablation(operations, sentences, Reading())

    def __call__(self, number: int, layer: Layer):
        super().__call__(number, layer)
        return self._ablation(number, layer)
