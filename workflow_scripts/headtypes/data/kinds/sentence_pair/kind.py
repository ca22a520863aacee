"""Sentence pairs as a kind of task: rows come from a table's columns, samples are the two sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from headtypes.core.errors import InputError, nearest
from headtypes.data.kinds.protocol import Kind
from headtypes.data.records import Pair, Sample

# The columns of the two sentences in each data set of the generated world.
_WORLD_COLUMNS = {"paraphrase": ("sentence1", "sentence2"), "entailment": ("premise", "hypothesis")}


class SentencePair(Kind):
    """Pairs of sentences with a label."""

    name = "sentence_pair"
    row = Pair
    form = "table"
    worlds = tuple(_WORLD_COLUMNS)
    keys = ("columns", "labels", "samples", "questions")
    source_keys = ("training_file", "training_split", "training_size")
    columns = ("first", "second", "label", "id")
    labels_in_columns = True
    truncation = "longest_first"
    head = "sequence_classification"

    def of_file(self, data: Any, where: str, key: str, columns: Mapping[str, Any] | None) -> list[Pair]:
        """The pairs of a table (a pandas.DataFrame).

        columns: those of first and second and, if there are any, of label and id; labels, what models call a label.
        """
        columns = dict(columns)
        called = columns.pop("labels", {})
        if data.empty:
            raise InputError(f"{where} has no rows.")
        present = [str(column) for column in data.columns]
        table = data.set_axis(present, axis=1)
        for column in columns.values():
            if column not in present:
                raise InputError(
                    f"{key}: {where} has no column {column}.{nearest(column, present)} It has {', '.join(present)}."
                )
        values = {field: table[column].to_numpy(object) for field, column in columns.items()}
        for row, texts in enumerate(zip(values["first"], values["second"], strict=True), start=1):
            if not all(isinstance(text, str) and text.strip() for text in texts):
                raise InputError(f"{where}: row {row} has no text in {columns['first']} or {columns['second']}.")
        ids = _plain(values["id"], where, columns["id"]) if "id" in columns else range(len(table))
        ids = [str(id_) for id_ in ids]
        if len(set(ids)) < len(ids):
            raise InputError(f"{key}.id: the column {columns['id']} of {where} holds an id more than once.")
        labels = _plain(values["label"], where, columns["label"]) if "label" in columns else [None] * len(table)
        labels = [called.get(str(label), label) for label in labels]
        return list(map(Pair, ids, values["first"], values["second"], labels))

    def of_hub(self, data: Any, where: str, key: str, columns: Mapping[str, Any] | None) -> list[Pair]:
        """The pairs of a dataset with such columns."""
        return self.of_file(data.to_pandas(), where, key, columns)

    def of_world(self, data: Any, world: str, split: str) -> list[Pair]:
        """The pairs that the world makes, numbered within their split."""
        first, second = _WORLD_COLUMNS[world]
        return [Pair(f"{split}-{number:05d}", row[first], row[second], row["label"]) for number, row in enumerate(data)]

    def samples(self, rows: Sequence[Pair], draw: Callable[[int], Sequence[int]]) -> list[Sample]:
        """Pairs without their labels."""
        return [Sample(rows[place].id, rows[place].first, rows[place].second) for place in draw(len(rows))]


def _plain(values: Iterable, where: str, column: str) -> list[str | int | bool]:
    """Ids or labels as they go into JSON: text and whole numbers."""
    plain = []
    for row, value in enumerate(values, start=1):
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # pandas turns whole numbers into floats where one is missing.
        if value == "" or not isinstance(value, str | int):
            raise InputError(f"{where}: row {row} has {value!r} in {column}; text or a whole number is needed.")
        plain.append(value)
    return plain
