"""Sentence pairs as examples: one window each, divided into sentences as questions and contexts are, and a label."""

from collections.abc import Sequence

import numpy as np
from transformers import AutoConfig, PreTrainedTokenizerBase

from headtypes.core.errors import InputError
from headtypes.data.records import Pair
from headtypes.data.sentences import sentence_of, split_sentences
from headtypes.data.windows import Windows, without_space
from headtypes.models.outline import known_labels
from headtypes.models.records import ModelRecord


class PairExamples:
    """What a model reads of sentence pairs and should answer; implements `examples.Examples`."""

    target_names = ("labels",)

    def windows(
        self, rows: Sequence[Pair], tokenizer: PreTrainedTokenizerBase, *, max_length: int, max_seq_length: int
    ) -> Windows:
        """One window each, as `build_pairs` cuts them."""
        return build_pairs(rows, tokenizer, max_length=min(max_length, max_seq_length))

    def targets(self, rows: Sequence[Pair], windows: Windows, record: ModelRecord) -> np.ndarray:
        """The place of each pair's label among the model's: [pair, 1] int64."""
        return label_numbers(rows, labels_of(record), f"models.{record.name}")[:, None]

    def learned(self, rows: Sequence[Pair], windows: Windows) -> tuple[np.ndarray, list[str]]:
        """The place of each pair's label among those of all rows, [pair, 1] int64, and the sorted labels as names."""
        labels = sorted({row.label for row in rows})
        places = {label: place for place, label in enumerate(labels)}
        return np.array([[places[row.label]] for row in rows]), [str(label) for label in labels]


def build_pairs(pairs: Sequence[Pair], tokenizer, *, max_length: int) -> Windows:
    """Encode sentence pairs, one window each, cut to `max_length` tokens from the longer sentence.

    tokenizer: a fast one.
    returns    windows whose `question` is the pair; sentence 0 is the first text and 1, 2, ... are the sentences of
        the second, into which char_start and char_end count.
    """
    if not pairs:
        raise InputError("There are no sentence pairs to encode.")
    second = [pair.second for pair in pairs]
    encoded = tokenizer(
        [pair.first for pair in pairs],
        second,
        truncation="longest_first",
        max_length=max_length,
        padding=False,
        return_offsets_mapping=True,
    )
    boundaries = {text: split_sentences(text) for text in dict.fromkeys(second)}
    sentence, start, end = [], [], []
    for row, text in enumerate(second):
        # None, of special tokens, becomes NaN.
        part = np.array(encoded.sequence_ids(row), dtype=float)
        of_second = part == 1
        offsets = np.full((len(part), 2), -1)
        characters = np.array(encoded["offset_mapping"][row])[of_second].tolist()
        offsets[of_second] = np.array([without_space(text, *ends) for ends in characters], int).reshape(-1, 2)
        sentence.append(np.where(part == 0, 0, -1))
        sentence[-1][of_second] = 1 + sentence_of(offsets[of_second, 0], boundaries[text])
        start.append(offsets[:, 0])
        end.append(offsets[:, 1])
    has_types = "token_type_ids" in tokenizer.model_input_names
    return Windows(
        input_ids=np.concatenate(encoded["input_ids"]).astype(np.int32),
        token_type_ids=np.concatenate(encoded["token_type_ids"]).astype(np.int8) if has_types else None,
        sentence=np.concatenate(sentence).astype(np.int32),
        char_start=np.concatenate(start).astype(np.int32),
        char_end=np.concatenate(end).astype(np.int32),
        offsets=np.cumsum([0, *map(len, encoded["input_ids"])], dtype=np.int64),
        question=np.arange(len(pairs), dtype=np.int32),
        question_ids=[pair.id for pair in pairs],
    )


def label_numbers(pairs: Sequence[Pair], names: Sequence[str], where: str) -> np.ndarray:
    """The place of each pair's label among a model's: [pair] int64.

    names: the model's labels in their order (`labels_of`); where a model has only Transformers' own, LABEL_0 and so
        on, they are read as numbers.
    where: the model, for messages.
    Raises `InputError` if a pair has no label, or one that the model does not know.
    """
    places = known_labels(names)
    numbers = [places.get(str(pair.label).casefold()) for pair in pairs]
    if None in numbers:
        pair = pairs[numbers.index(None)]
        if pair.label is None:
            raise InputError(f"Pair {pair.id} has no label; name the column of the labels in the task's columns.label.")
        raise InputError(
            f"{where} knows the labels {', '.join(places)}, and pair {pair.id} has {pair.label!r}; evaluate a "
            "model that was fine-tuned for these labels, or say in the task's labels which of the model's each is."
        )
    return np.array(numbers)


def labels_of(record: ModelRecord) -> list[str]:
    """The labels of a fetched classifier, in the order of its logits (`id2label`)."""
    config = AutoConfig.from_pretrained(**record.pretrained)
    return [str(config.id2label[place]) for place in range(config.num_labels)]
