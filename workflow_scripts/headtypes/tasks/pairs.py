"""Sentence pairs as inputs of a model, with sentences as questions and contexts have them, and their labels."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from headtypes.base.errors import InputError
from headtypes.tasks.pair_scoring import score_pairs
from headtypes.tasks.sentences import sentence_of, split_sentences
from headtypes.tasks.windows import Windows, build_windows, without_space


def prepare_windows(
    rows: Sequence[Mapping], tokenizer, *, kind: str, max_length: int, max_seq_length: int, **slides: int
) -> Windows:
    """Encode a task's questions or sentence pairs for evaluation.

    kind:  question_answering, or sentence_pair, which is cut at `max_seq_length` tokens and has one window.
    max_length: tokens of the longest input that the model takes.
    slides: doc_stride and max_query_length of `windows.build_windows`; none for sentence pairs.
    """
    if kind == "question_answering":
        return build_windows(rows, tokenizer, max_length=max_length, max_seq_length=max_seq_length, **slides)
    return build_pairs(rows, tokenizer, max_length=min(max_length, max_seq_length))


def build_pairs(pairs: Sequence[Mapping], tokenizer, *, max_length: int) -> Windows:
    """Encode sentence pairs, one window each, cut to `max_length` tokens from the longer sentence.

    pairs:     id, first and second each.
    tokenizer: a fast one.
    returns    windows whose `question` is the pair; sentence 0 is the first text and 1, 2, ... are the sentences of
        the second, into which char_start and char_end count.
    """
    if not pairs:
        raise InputError("There are no sentence pairs to encode.")
    second = [pair["second"] for pair in pairs]
    encoded = tokenizer(
        [pair["first"] for pair in pairs],
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
        offsets[of_second] = np.array([without_space(text, *each) for each in characters], int).reshape(-1, 2)
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
        question_ids=[pair["id"] for pair in pairs],
    )


def label_numbers(pairs: Sequence[Mapping], names: Sequence[str], where: str) -> np.ndarray:
    """The place of each pair's label among a model's: [pair] int64.

    pairs: id and label each, the label being text or a number.
    names: the model's labels in their order (`id2label`); where a model has only Transformers' own, LABEL_0 and so
        on, they are read as numbers.
    where: the model, for messages.
    Raises `InputError` where a pair has no label, or one that the model does not know.
    """
    places = {name.casefold(): place for place, name in enumerate(names)}
    if list(names) == [f"LABEL_{place}" for place in range(len(names))]:
        places = {str(place): place for place in range(len(names))}
    found = [places.get(str(pair["label"]).casefold()) for pair in pairs]
    if None in found:
        pair = pairs[found.index(None)]
        if pair["label"] is None:
            raise InputError(f"Pair {pair['id']} has no label; name their column in columns.label of the task.")
        raise InputError(
            f"{where} knows the labels {', '.join(places)}, and pair {pair['id']} has {pair['label']!r}; evaluate a "
            "model that was fine-tuned for these labels."
        )
    return np.array(found)


class SentencePairs:
    """Sentence pairs with labels, on which a model is evaluated."""

    columns = ("label",)

    def __init__(self, pairs: Sequence[Mapping], windows: Windows, names: Sequence[str], where: str):
        """names, where: the model's labels, and the model for messages, as in `label_numbers`."""
        if [pair["id"] for pair in pairs] != windows.question_ids:
            raise InputError("The windows were built of other pairs than these; build them again.")
        self._ids, self._names = windows.question_ids, names
        self._label = label_numbers(pairs, names, where)

    def read(self, output, sentences: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The predicted label of a batch of pairs, by its place among the model's."""
        logits = output.logits.float().cpu().numpy()
        if not np.isfinite(logits).all():
            raise InputError(
                "The model's logits are not finite, so no label can be chosen; run it in float32 or bfloat16, or "
                "check its weights."
            )
        return (logits.argmax(1),)

    def score(self, found: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """The predicted labels, and the scores of `pair_scoring.score_pairs`, from what was read of all pairs."""
        scores = score_pairs(self._ids, self._label, found[0], self._names)
        return dict(zip(self._ids, scores["predicted"], strict=True)), scores


def label_names(config) -> list[str]:
    """A classifier's labels in the order of its logits, from its Transformers configuration."""
    return [str(config.id2label[place]) for place in range(config.num_labels)]
