"""Sentence pairs as a kind of task: rows come from a table's columns, samples are the two sentences."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headtypes.core.errors import InputError, nearest
from headtypes.data.tasks import (
    ID,
    ROW_1,
    DataColumn,
    Kind,
    Rows,
    Sample,
    StrictRecord,
    checked_table,
    plain_values,
    read_ids,
)

if TYPE_CHECKING:
    import numpy as np

    from headtypes.models.records import ModelRecord


@dataclass(frozen=True, slots=True)
class Pair(StrictRecord):
    """Two texts, such as sentences, and their label; the label is None if the data have no labels."""

    id: str
    first: str
    second: str
    label: bool | int | str | None


class SentencePair(Kind):
    """The kind of task whose rows are pairs of texts with a label, which a classifier predicts."""

    name = "sentence_pair"
    row = Pair
    title = "sentence pairs"
    form = "table"
    formats = "TSV, CSV, JSONL or Parquet"
    keys = ("columns", "labels", "samples", "divided_by", "questions")
    source_keys = ("training_file",)
    columns: ClassVar = {
        "first": DataColumn("sentence1", "Column of the first text."),
        "second": DataColumn("sentence2", "Column of the second text."),
        "label": DataColumn(None, "Column of the right label; without it, pairs have none."),
        "id": ID,
    }
    head = "sequence_classification"

    def rows_of_file(self, data, where, key, columns):
        columns = dict(columns)
        # {label in the column: label that the pair gets}; None leaves rows out.
        called = columns.pop("labels", {})
        table = checked_table(data, where, key, columns.values())
        first, second = texts = [table[columns[name]].to_numpy(object) for name in ("first", "second")]
        for row, pair in enumerate(zip(*texts, strict=True), start=1):
            if not all(isinstance(text, str) and text.strip() for text in pair):
                raise InputError(
                    f"{where}: row {row} has no text in {columns['first']} or {columns['second']}; {ROW_1}."
                )
        ids = read_ids(table, where, columns.get("id"))
        labels = plain_values(table, where, columns["label"]) if "label" in columns else [None] * len(table)
        given = set(map(str, labels))
        # A label that only the training data have, or only these, is no mistake.
        for label in sorted(called.keys() - given):
            if meant := nearest(label, sorted(given - called.keys())):
                raise InputError(f"{key.removesuffix('.columns')}.labels: no row of {where} has {label!r}.{meant}")
        undecided = {label for label, name in called.items() if name is None}
        pairs = [
            Pair(id_, one, other, called.get(str(label), label))
            for id_, one, other, label in zip(ids, first, second, labels, strict=True)
            if str(label) not in undecided
        ]
        if not pairs:
            raise InputError(f"{key.removesuffix('.columns')}.labels: every row of {where} is left out; keep a label.")
        return Rows(pairs, {"rows whose label is null in labels": len(table) - len(pairs)})

    def draw_samples(self, rows, draw):
        return [Sample(rows[index].id, rows[index].first, rows[index].second) for index in draw(len(rows))]

    def cut_windows(self, rows, tokenizer, record, *, max_seq_length):
        from headtypes.data.encoding import encode_samples
        from headtypes.data.windows import windows_of_pairs

        samples = self.draw_samples(rows, range)
        encoded = encode_samples(samples, tokenizer, self.name, min(record.max_length, max_seq_length))
        texts = [(row.first, row.second) for row in rows]
        return windows_of_pairs(rows, range(len(rows)), encoded.encodings, texts, tokenizer)

    def answer_targets(self, rows, windows, record):
        return label_numbers(rows, record)[:, None]

    def training_targets(self, rows, windows):
        # The labels 1 and "1" are one label.
        import numpy as np

        given = {str(row.label): row.label for row in rows}
        labels = sorted(given, key=given.get if all(isinstance(label, int) for label in given.values()) else str)
        _check_labels(labels, "The training data have")
        indices = {label: index for index, label in enumerate(labels)}
        return {"labels": np.array([indices[str(row.label)] for row in rows])}, labels

    def read_answers(self, output, sentences):
        from headtypes.data.windows import check_finite

        logits = output.logits.float().cpu().numpy()
        check_finite(logits, "logits are")
        return {"label": logits.argmax(1)}

    def score_answers(self, rows, windows, record, values):
        """Return {id of a pair: name of its predicted label} and a table: id, label, predicted, correct of each pair.

        rows, windows: pairs, and the window of each. record: names the model's labels. values: {"label": [pair] int,
        predicted label's index among the logits}. All are in the order of rows. In the table, label and predicted are
        pandas categories, the model's labels; correct is 0 or 100. A pair without a label raises `InputError`.
        """
        import pandas as pd

        ids, label, predicted = windows.question_ids, label_numbers(rows, record), values["label"]
        columns = {"label": label, "predicted": predicted}
        names = labels_of(record)
        named = {column: pd.Categorical.from_codes(numbers, names) for column, numbers in columns.items()}
        scores = pd.DataFrame({"id": ids, **named, "correct": 100.0 * (label == predicted)})
        return dict(zip(ids, scores["predicted"], strict=True)), scores

    def mean_scores(self, scores):
        # With two labels, F1 is that of the second, as in GLUE's MRPC.
        means = {"accuracy": float(scores["correct"].mean())}
        labels = scores["label"].cat.categories
        if len(labels) == 2:
            label, predicted = (scores[column] == labels[1] for column in ("label", "predicted"))
            either = int(label.sum() + predicted.sum())
            means["f1"] = 200.0 * int((label & predicted).sum()) / either if either else 0.0
        return {**means, "n_pairs": len(scores)}


def label_numbers(pairs: Sequence[Pair], record: ModelRecord) -> np.ndarray:
    """Return the index of each pair's label among the model's labels, [pair] int64; case makes no difference.

    A model with the labels LABEL_0, LABEL_1, ... has the labels 0, 1, ... instead. A pair without a label, or with one
    that the model does not know, raises `InputError`.
    """
    import numpy as np

    names, where = labels_of(record), f"models.{record.name}"
    if list(names) == [f"LABEL_{index}" for index in range(len(names))]:
        names = list(map(str, range(len(names))))
    indices = {name.casefold(): index for index, name in enumerate(names)}
    numbers = [indices.get(str(pair.label).casefold()) for pair in pairs]
    if None in numbers:
        pair = pairs[numbers.index(None)]
        if pair.label is None:
            raise InputError(f"Pair {pair.id} has no label; name the column of the labels in the task's columns.label.")
        unknown = dict.fromkeys(str(other.label) for other, index in zip(pairs, numbers, strict=True) if index is None)
        line = ", ".join(f"{json.dumps(label, ensure_ascii=False)}: ..." for label in unknown)
        raise InputError(
            f"{where} knows the labels {', '.join(indices)}, and pair {pair.id} has {pair.label!r}, the first such "
            f"pair of {numbers.count(None):,}; write which of the model's each is into the task, as labels: {{{line}}}"
            ", with null for what is no label (rows that nobody could decide are then left out), or evaluate a model "
            "that was fine-tuned for these labels."
        )
    return np.array(numbers)


def labels_of(record: ModelRecord) -> list[str]:
    """Return a classifier's labels by logit; `InputError` if two differ in case alone, or it predicts a number."""
    from headtypes.models.model_config import config_of

    config = config_of(record)
    if config.num_labels == 1:
        raise InputError(
            f"models.{record.name}: {record.folder} predicts a number and not a label; leave models.{record.name}."
            "evaluate out."
        )
    labels = [str(config.id2label[index]) for index in range(config.num_labels)]
    _check_labels(labels, f"models.{record.name}: the config.json in {record.folder} has")
    return labels


def _check_labels(labels: Sequence[str], whose: str) -> None:
    known: dict[str, str] = {}
    for label in labels:
        if (other := known.setdefault(label.casefold(), label)) is not label:
            raise InputError(
                f"{whose} the labels {other!r} and {label!r}, which are taken for one; rename one of them."
            )
