"""Attention of a loaded model in a text that somebody types, and its answers without some heads."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm
from transformers import PreTrainedTokenizerFast

from headtypes.analyses.distances.columns import head_features, lacks_cls, split
from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.analyses.maps.measure import KeyLengthsRead, Maps, readable
from headtypes.analyses.maps.results import AttentionMaps
from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import Batch, run_model
from headtypes.attention.norms import KeyLengths
from headtypes.attention.one_pass import AttentionReader
from headtypes.attention.operations import Reading, operations_by_head
from headtypes.attention.reducers import Pass, Reducer
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.records import Sample
from headtypes.data.windows import check_finite, without_space
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import HEADS, MissingHeadError, load_model
from headtypes.models.model_config import language_head, layers_and_heads
from headtypes.models.records import ModelRecord
from headtypes.pages.atlas.data import ResultFiles, gather, numbers_on

# What the text is called, and the tokens of the longest; a longer one is cut.
NAME, LONGEST = "your text", 128
# Candidates that are shown of the model as it is and of the model without heads; tokens of the longest answer.
_SHOWN, _LONGEST_ANSWER = 5, 30
_EXAMPLE = "The cat sat on the mat because it was tired."
# What a model with a head asks for, and a text and a second one to begin with.
_BEGINNINGS = {
    "question_answering": ("Write a question, and below it the text that answers it.", "Who sat on the mat?", _EXAMPLE),
    "masked_lm": ("Write {mask} for each word that is to be guessed.", "The cat sat on the {mask}.", None),
    None: ("The weights have no head that answers anything: attention alone changes.", _EXAMPLE, None),
}


def seen(
    record: ModelRecord,
    encoded: Encoded,
    read: Callable,
    tokenizer: PreTrainedTokenizerFast,
    files: ResultFiles,
    **features,
) -> dict:
    """Return the data of a model's atlas (`data.gather`), with the attention of its heads on one text or pair.

    read: reads the encoded text with reducers; norms are shown where it can. files: results of the model, as in
        `data.gather`, if there are any. features: distance_bins and first_token of `distances.results.read_distance`.
    Raises `InputError` where a head's attention is not finite, or does not sum to one.
    """
    bins, of_first = features["distance_bins"], features.get("first_token", True)
    reducers = [Maps(), DistanceFeatures(encoded.kinds, of_first and lacks_cls(encoded.kinds))]
    results = None
    with suppress(InputError):
        results = read(encoded, *reducers, KeyLengthsRead())
    (attention,), (shares,), *lengths = results or read(encoded, *reducers)
    tokens = [readable(tokenizer, token) for token in encoded.input_ids[0]]
    maps = AttentionMaps(attention, tokens, NAME, bool(encoded.truncated[0]), *(of_text for (of_text,) in lengths))
    data = gather(record, [(NAME, [maps])], files, distance_bins=bins, conditions={})
    distance, first = split(shares)
    values = head_features(distance, bins, first).reshape(record.layers * record.heads, -1)
    numbers = numbers_on(NAME, values, encoded.lengths, bins, first is not None)
    return {**data, "title": f"A text of yours in {record.name}", "features": numbers}


class Answer(NamedTuple):
    """The answer of a model to a text; values: [candidate], from 0 to 1 or in `unit`; name: of a candidate's index."""

    title: str
    values: Tensor
    name: Callable[[int], str]
    unit: str = ""

    def beside(self, whole: "Answer") -> dict:
        """Return title, unit, and rows of the likeliest candidates of both: name, value in the whole model, and value
        here.
        """
        best = {top for values in (whole.values, self.values) for top in np.argsort(-values.numpy())[:_SHOWN].tolist()}
        order = sorted(best, key=lambda candidate: -whole.values[candidate])
        rows = [[self.name(index), float(whole.values[index]), float(self.values[index])] for index in order]
        return {"title": self.title, "unit": self.unit, "rows": rows}


class Live:
    """A loaded model, and what it answers. It is not safe in several threads at once."""

    def __init__(self, record: ModelRecord, files: ResultFiles, *, precision: str, **features: int | bool):
        """Load the model with the head that its weights were saved with, if any; record, files, features: as in
        `seen`.
        """
        self.record, self._files, self._features = record, files, features
        named = record.architectures or ()
        saved = [name for name, head in HEADS.items() if name and head.types.get(record.model_type) in named]
        self._head = saved[0] if saved else language_head(record)
        try:
            self._model = load_model(record, precision, self._head)
        except MissingHeadError:
            self._model, self._head = load_model(record, precision), None
        self._tokenizer = load_tokenizer(record)
        # From one click to the next the text stays the same.
        self._text = lru_cache(maxsize=1)(self._read_whole)

    def page(self, first: str | None = None, second: str | None = None) -> dict:
        """Return the data of a page, with the model's answer to a first text, by default an example."""
        beginning = _BEGINNINGS.get(self._head, ("", _EXAMPLE, None))
        asks, *example = (text and text.format(mask=self._tokenizer.mask_token) for text in beginning)
        first, second = example if first is None else (first, second)
        read = self.read(first, second, [], self._files)
        live = {"asks": asks, "first": first, "second": second or "", "answers": read.pop("answers")}
        return {**read, "live": live}

    def read(self, first: str, second: str | None, off: Sequence[str], files: ResultFiles | None = None) -> dict:
        """Return the data of the page for a text, or two, computed while some heads are off.

        `answers` in it has the answers of the model with these heads off beside those of the whole model.
        off: heads whose output is zero, `layer-head` from 1. Their own attention is shown as it would be; that of later
            layers is that of a model without them. files: as in `seen`.
        Raises `InputError` where the text is empty, or the model has no such head.
        """
        sample, encoded, whole = self._text(first, second or None)
        answers: list[Answer] = []

        def read(_, *reducers: Reducer) -> list:
            answers[:] = self._pass(sample, encoded, off, reducers)
            return [reducer.result() for reducer in reducers]

        data = seen(self.record, encoded, read, self._tokenizer, files or {}, **self._features)
        return {**data, "answers": [now.beside(before) for now, before in zip(answers, whole, strict=True)]}

    def _read_whole(self, first: str, second: str | None) -> tuple[Sample, Encoded, list[Answer]]:
        if not all(text.strip() for text in (first, second) if text is not None):
            raise InputError("The text is empty; write one.")
        kind = "question_answering" if self._head == "question_answering" else "sentence_pair"
        sample = Sample(NAME, first, second)
        encoded = encode_samples([sample], self._tokenizer, kind, min(LONGEST, self.record.max_length))
        return sample, encoded, self._pass(sample, encoded, [], [])

    def _pass(self, sample: Sample, encoded: Encoded, off: Sequence[str], reducers: Sequence[Reducer]) -> list[Answer]:
        """Run the model once over a text, whose attention reducers read, and return its answers."""
        model, what = self._model, f"{self.record.name} on {NAME}"
        without_types = np.full((self.record.layers, self.record.heads), None, dtype=object)
        operations = operations_by_head(without_types, dict.fromkeys(off, "zero"), "off")
        for reducer in reducers:
            reducer.begin(Pass(1, *layers_and_heads(model), model.dtype))
        lengths = KeyLengths(model) if any(reducer.of == "norms" for reducer in reducers) else None
        readers, answers = [], []

        def hook(batch: Batch) -> Callable:
            reader = AttentionReader(reducers, batch, lengths)
            ablation = Ablation(operations, [np.zeros(length) for length in batch.lengths], Reading())
            readers[:] = [reader]
            # Of each layer the attention is read, and then what its heads hand on is changed.
            return lambda number, layer: (reader(number, layer), ablation(number, layer))[1]

        def finish(_batch, _hook, output) -> None:
            readers[0].finish(what)
            answers[:] = self._answers(output, sample, encoded.input_ids[0])

        inputs, bar = (encoded.input_ids, encoded.token_types), tqdm(disable=True)
        run_model(model, *inputs, hook=hook, finish=finish, batch_tokens=1, bar=bar)
        return answers

    def _answers(self, output: Any, sample: Sample, ids: list[int]) -> list[Answer]:
        """Return the model's answers to one text or pair. Raises `InputError` where a number of it is not finite."""
        if self._head == "question_answering":
            return self._spans(output, sample, len(ids)) if sample.second else []
        logits = None if self._head is None else _finite(output.logits[0])
        if self._head == "sequence_classification":
            label = self._model.config.id2label.get
            if len(logits) == 1:
                return [Answer("value", logits, label, "without a unit")]
            several = self._model.config.problem_type == "multi_label_classification"
            return [Answer("class", logits.sigmoid() if several else logits.softmax(0), label)]
        word, mask = partial(readable, self._tokenizer), self._tokenizer.mask_token
        if self._head == "masked_lm":
            masks = [at for at, token in enumerate(ids) if token == self._tokenizer.mask_token_id]
            return [Answer(f"{mask} {number}", logits[at].softmax(0), word) for number, at in enumerate(masks, 1)]
        if self._head == "causal_lm":
            losses = -logits[:-1].log_softmax(-1).gather(1, torch.tensor(ids)[1:, None])
            mean = Answer("loss", losses.mean(0), lambda _: f"mean over {len(losses)} tokens", "nats per token")
            return [Answer("next token", logits[-1].softmax(0), word), *([mean] if len(losses) else [])]
        return []

    def _spans(self, output: Any, sample: Sample, length: int) -> list[Answer]:
        """Return the spans of the second text, by the sum of start and end logit (Devlin et al. 2019, section 4.2)."""
        cut = {"truncation": "only_second", "max_length": length}
        read = self._tokenizer(sample.first, sample.second, **cut, return_offsets_mapping=True)
        in_text = torch.tensor([sequence == 1 for sequence in read.sequence_ids(0)])
        distance = torch.arange(length) - torch.arange(length)[:, None]
        allowed = (distance >= 0) & (distance < _LONGEST_ANSWER) & in_text & in_text[:, None]
        start, end = (_finite(logits[0]) for logits in (output.start_logits, output.end_logits))
        scores = (start[:, None] + end).masked_fill(~allowed, -torch.inf)
        offsets = [without_space(sample.second, *span) for span in read["offset_mapping"]]

        def name(span: int) -> str:
            first, last = divmod(span, length)
            return sample.second[offsets[first][0] : offsets[last][1]]

        return [Answer("answer", scores.flatten().softmax(0), name)] if allowed.any() else []


def _finite(logits: Tensor) -> Tensor:
    values = logits.double().cpu()
    check_finite(values.numpy(), "logits are")
    return values
