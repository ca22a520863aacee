"""A kind of task: its rows, samples and metrics, what a module of `kinds/` declares, and all kinds by their names."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from headtypes.core.errors import InputError, nearest
from headtypes.core.files import StrPath, numbered_rows, write_json_lines

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import torch
    from transformers import PreTrainedTokenizerBase

    from headtypes.data.windows import Windows
    from headtypes.models.records import ModelRecord


class StrictRecord:
    """A record that is read only if it has all fields, of the right types, and no others."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)


Record = TypeVar("Record", bound=StrictRecord)


@dataclass(frozen=True, slots=True)
class Sample(StrictRecord):
    """One input of a model: one text, or two texts that it reads together."""

    id: str
    first: str
    second: str | None


def write_records(path: StrPath, records: Sequence[StrictRecord]) -> None:
    write_json_lines(path, (_adapter(type(record)).dump_python(record) for record in records))


def read_records(path: StrPath, record: type[Record]) -> list[Record]:
    """Read the records of a file; `InputError` names the damaged line and field, or a file without rows."""
    adapter, records = _adapter(record), []
    for number, line in numbered_rows(path):
        try:
            records.append(adapter.validate_json(line))
        except ValidationError as error:
            first, what = error.errors(include_url=False)[0], f"not a valid {record.__name__.lower()}"
            problem = ": ".join(map(str, [*first["loc"][:1], first["msg"]]))
            raise InputError(f"{path}, line {number} is {what} ({problem}); delete the file and run again.") from error
    return records


@cache
def _adapter(record: type[Record]) -> TypeAdapter[Record]:
    return TypeAdapter(record)


# Of a table of scores: over how many tokens the sums of a row are. Where it lacks this column, every row counts once.
SIZES = "tokens"


@dataclass(frozen=True)
class Metric:
    """One measure of how well a model does.

    A *drop* is how much a metric falls, or rises where lower is better; positive is worse.

    name, unit: in files, and of the metric; title, label: in a sentence, and above a column.
    column: in a table of scores with a row for each question, pair or document. The metric is its mean or, where the
        table has `SIZES`, its sum divided by the sum of these.
    decimals: number that is shown; beside: another number of `Kind.mean_scores` that tables show beside it.
    note:   the explanation on a page with tables of it.
    """

    name: str
    unit: str
    higher_is_better: bool
    title: str
    label: str
    column: str
    decimals: int = 2
    beside: str = ""
    note: str = ""

    @property
    def steps(self) -> str:
        return "points" if self.unit == "%" else self.unit

    @property
    def reach(self) -> tuple[float, float] | None:
        """The least and the largest drop that a question can have; None where there is no end."""
        return (-100.0, 100.0) if self.unit == "%" else None

    @property
    def change(self) -> str:
        return "drop" if self.higher_is_better else "rise"

    def drop(self, before, after):
        """Return the loss from one value to another, numbers or arrays of them; positive if it is for the worse."""
        return before - after if self.higher_is_better else after - before


EXACT_MATCH = Metric("exact_match", "%", higher_is_better=True, title="exact match", label="EM", column="exact_match")
F1 = Metric("f1", "%", higher_is_better=True, title="F1", label="F1", column="f1")
ACCURACY = Metric("accuracy", "%", higher_is_better=True, title="accuracy", label="Acc.", column="correct")
NORMALISED_ACCURACY = Metric(
    "accuracy_normalised",
    "%",
    higher_is_better=True,
    title="normalised accuracy",
    label="Acc. norm.",
    column="correct_normalised",
    note="On multiple choice, a model answers with the choice that it finds likeliest after the question: "
    "*Acc.* by the sum of the log-likelihoods of the choice's tokens, *Acc. norm.* by this sum divided by the "
    "choice's number of characters; `acc` and `acc_norm` of the Language Model Evaluation Harness.",
)
LOSS = Metric(
    "loss",
    "nats per token",
    higher_is_better=False,
    title="loss",
    label="Loss",
    column="loss",
    decimals=3,
    beside="perplexity",
    note="On texts, the score is the loss, the mean cross entropy of a predicted token in nats, with intervals "
    "over documents, or pairs of texts; perplexity is its exponential. What a condition costs is by how much "
    "the loss rises: here too, a positive number is for the worse.",
)

# Of each kind of task that models answer: its metrics, the main one first, and what rows are called, in the plural.
MEASURES: dict[str, tuple[tuple[Metric, ...], str]] = {
    "question_answering": ((EXACT_MATCH, F1), "questions"),
    # F1 is no mean over pairs, so that it has no interval.
    "sentence_pair": ((ACCURACY, F1), "pairs"),
    "multiple_choice": ((ACCURACY, NORMALISED_ACCURACY), "questions"),
    "text": ((LOSS,), "documents"),
}
METRICS: dict[str, Metric] = {metric.name: metric for metrics, _ in MEASURES.values() for metric in metrics}
MAIN_METRICS: dict[str, Metric] = {metrics[0].name: metrics[0] for metrics, _ in MEASURES.values()}


def counted_by(metrics: Collection[Metric]) -> str:
    """Return the name of the rows ("questions") of the first kind that has all of these metrics."""
    return next((counted for known, counted in MEASURES.values() if set(metrics) <= set(known)), "rows")


def tested_metric(names: Collection[str]) -> Metric:
    """Choose the metric by which heads are compared: for answers F1, which tells worse ones too."""
    return F1 if EXACT_MATCH.name in names else next(it for name, it in MAIN_METRICS.items() if name in names)


# Of a kind: what a language model answers, with its head for masked words or for the next token.
LANGUAGE_MODEL = "language_model"

# How a table's columns are called, by the fields of a row; None for a kind that has no such fields.
Columns = Mapping[str, str] | None
# Takes the number of inputs that there are, and returns the indices of those that are wanted, in rising order.
Draw = Callable[[int], Sequence[int]]
# Answers by id, and a table of scores with one row for each.
Scored = tuple[dict[str, str], "pd.DataFrame"]


class Rows(list):
    """The rows of some data. left_out: how many of the data are not among them, by their sort."""

    def __init__(self, rows: Iterable, left_out: Mapping[str, int]):
        super().__init__(rows)
        self.left_out = {what: count for what, count in left_out.items() if count}


class DataColumn(NamedTuple):
    """A column of a table of data: its name unless the configuration gives another one, and what is in it."""

    default: str | None
    doc: str = ""


ID = DataColumn(None, "Column of the sample's id; without it, the row number.")


class Kind(ABC):
    """A kind of task.

    name, title: in the configuration, and in a sentence.
    row:        the class of its rows, a dataclass that is a `records.StrictRecord`.
    form, formats: how a file of its data is read (`fetching.read_file`): as `json`, as a `table` with named columns, or
        as `files` that the kind itself reads; and the formats of such a file, in words.
    keys, source_keys: keys of a task, and of its source, in the configuration that only kinds which name them have.
    columns:    fields of a row whose column of a table the configuration can name.
    truncation: which text of a sample that is too long is cut, in a tokenizer's terms.
    running:    whether a tokenizer that separates no two texts joins those of a sample (`encoding.encode_samples`).
    head:       the head of the models that answer it (`models.loading.HEADS`), or `LANGUAGE_MODEL`; None if none can.
    window_keys, answer_keys: keys of the configuration's `windows` that determine what a model reads (in addition to
        `max_seq_length`), and what it answers.
    windows_of_row: about how many inputs as long as itself a row becomes, for estimates of time.
    without_reading: keys of the configuration's `ablation` that mean nothing on it.
    metrics:    how good answers are, the main one first; counted: the name of rows, in the plural.
    target_names: arguments of the model's `forward` that take the columns of `training_targets`.
    answer_columns: names of the values that `read_answers` reads for each window.
    """

    name: ClassVar[str]
    row: ClassVar[type]
    title: ClassVar[str]
    form: ClassVar[Literal["json", "table", "files"]]
    formats: ClassVar[str]
    keys: ClassVar[tuple[str, ...]] = ()
    source_keys: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[Mapping[str, DataColumn]] = {}
    truncation: ClassVar[Literal["longest_first", "only_first", "only_second"]] = "longest_first"
    running: ClassVar[bool] = False
    head: ClassVar[str | None] = None
    window_keys: ClassVar[tuple[str, ...]] = ()
    answer_keys: ClassVar[tuple[str, ...]] = ()
    windows_of_row: ClassVar[int] = 1
    without_reading: ClassVar[tuple[str, ...]] = ()
    metrics: ClassVar[tuple[Metric, ...]] = ()
    counted: ClassVar[str] = "questions"
    target_names: ClassVar[tuple[str, ...]] = ("labels",)
    answer_columns: ClassVar[tuple[str, ...]] = ()

    @property
    def is_learned(self) -> bool:
        return self.head is not None and "training_file" in self.source_keys

    @abstractmethod
    def rows_of_file(self, data: Any, where: str, key: str, columns: Columns) -> list:
        """Return the rows of a file's data. Raises `InputError` if they do not have the form that the kind requires.

        data:    as `fetching.read_file` returns them; of the form `files`, the paths of one file or of all of a folder.
        where, key: the file or folder, and the task's `columns` in the configuration, for messages.
        columns: {field of a row: column of a table}, if the kind has any.
        """

    def rows_of_hub(self, data: Any, where: str, key: str, columns: Columns) -> list:
        """Return the rows of a dataset of the Hub, if the kind supports these; otherwise as `rows_of_file`."""
        raise InputError(f"{where}: a task of kind {self.name} cannot be read from the Hub; give a local file.")

    def draw_samples(self, rows: Sequence, draw: Draw) -> list[Sample]:
        """Return some of the inputs that the rows contain; draw: gives the indices of some of so many."""
        raise NotImplementedError(f"No inputs are drawn from a task of kind {self.name}.")

    def cut_windows(
        self,
        rows: Sequence,
        tokenizer: PreTrainedTokenizerBase,
        record: ModelRecord,
        *,
        max_seq_length: int,
        **shape: int,
    ) -> Windows:
        """Encode the rows as a model reads them.

        max_seq_length: most tokens of a window, for a model that takes as many.
        shape: the kind's `window_keys`; for the answers of a `LANGUAGE_MODEL`, the seed of the words that are hidden.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def answer_targets(self, rows: Sequence, windows: Windows, record: ModelRecord) -> np.ndarray:
        """Return the correct class of each of the head's softmaxes, such as start and end token: [window, softmax] int.

        Rows of windows without an answer are negative. Where windows have targets of their own, the number of tokens to
        predict.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def training_targets(self, rows: Sequence, windows: Windows) -> tuple[np.ndarray, list[str] | None]:
        """Return the targets from which a new model learns, none of them negative, and the names of its labels, if
        any.
        """
        raise NotImplementedError(f"No model is fine-tuned on a task of kind {self.name}.")

    def answer_logits(self, output: Any, mask: torch.Tensor) -> torch.Tensor:
        """Return the logits of each of the head's softmaxes, [input, class, softmax]; mask: [input, token] 1 for a real
        token.
        """
        return output.logits[:, :, None]

    def check_answerable(self, rows: Sequence, windows: Windows, record: ModelRecord) -> None:
        """Raise `InputError` unless the rows are those of the windows and the model can answer them."""
        from headtypes.data.windows import check_same

        check_same(rows, windows)

    def read_answers(self, output: Any, sentences: list[np.ndarray], **settings: int) -> tuple[np.ndarray, ...]:
        """Return the values in the model's output for a batch: an array [window] for each of `answer_columns`.

        sentences: [token] for each window, numbered as in `windows.Windows`; settings: the kind's `answer_keys`.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def score_answers(
        self, rows: Sequence, windows: Windows, record: ModelRecord, values: tuple[np.ndarray, ...]
    ) -> Scored:
        """Return answers by id, and a table of scores with a row for each; values: [window] for each of
        `answer_columns`.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def mean_scores(self, scores: pd.DataFrame) -> dict[str, float | int]:
        """Return the metrics and the number of answers (`n_` and the name of these), from the table of scores."""
        means = {metric.name: float(scores[metric.column].mean()) for metric in self.metrics}
        return {**means, f"n_{self.counted}": len(scores)}


# Editors count the lines of a file from its header.
_ROW_1 = "row 1 is the first below a header"


class TableKind(Kind):
    """A kind of task whose rows are those of a table, from a file or from a dataset of the Hub."""

    form = "table"

    def rows_of_hub(self, data, where, key, columns):
        return self.rows_of_file(data.to_pandas(), where, key, columns)


def checked_table(data: Any, where: str, key: str, columns: Iterable[str]) -> Any:
    """Return a table (a pandas.DataFrame) whose columns have text for names; where, key: as in `Kind.rows_of_file`.

    Raises `InputError` where it has no rows, or lacks one of the columns.
    """
    if data.empty:
        raise InputError(f"{where} has no rows.")
    table = data.set_axis(map(str, data.columns), axis=1)
    names = list(table)
    for column in columns:
        if column not in names:
            near = nearest(column, names)
            raise InputError(f"{key}: {where} has no column {column}.{near} It has {', '.join(names)}.")
    return table


def texts_of_rows(table: Any, where: str, columns: Sequence[str]) -> list[Any]:
    """Return the texts of two columns of a table. Raises `InputError` where a row has none in one of them."""
    texts = [table[column].to_numpy(object) for column in columns]
    for row, of_row in enumerate(zip(*texts, strict=True), start=1):
        if not all(isinstance(text, str) and text.strip() for text in of_row):
            raise InputError(f"{where}: row {row} has no text in {' or '.join(columns)}; {_ROW_1}.")
    return texts


def read_ids(table: Any, where: str, column: str | None) -> list[str]:
    """Return the ids of a table's rows, as text; without a column, their numbers. Raises `InputError` for a truth
    value.
    """
    ids = range(len(table)) if column is None else plain_values(table, where, column)
    for row, id_ in enumerate(ids, start=1):
        if isinstance(id_, bool):
            raise InputError(f"{where}: row {row} has {id_} in {column}; text or a whole number is needed; {_ROW_1}.")
    return list(map(str, ids))


def plain_values(table: Any, where: str, column: str) -> list[str | int | bool]:
    """Return ids or labels as they go into JSON: text and whole numbers."""
    plain = []
    for row, value in enumerate(table[column].to_numpy(object), start=1):
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # pandas turns whole numbers into floats where one is missing.
        if value == "" or not isinstance(value, str | int):
            raise InputError(
                f"{where}: row {row} has {value!r} in {column}; text or a whole number is needed; {_ROW_1}."
            )
        plain.append(value)
    return plain


# The class of each kind, which stands in the module of the kind's name, in the order in which documentation lists them.
_CLASSES = {
    "question_answering": "QuestionAnswering",
    "sentence_pair": "SentencePair",
    "multiple_choice": "MultipleChoice",
    "text": "Text",
    "treebank": "Treebank",
    "coreference": "Coreference",
}


def module_of(kind: str) -> str:
    return f"headtypes.data.kinds.{kind}"


class _Kinds(Mapping[str, Kind]):
    """The kinds by their names."""

    def __getitem__(self, name: str) -> Kind:
        return _loaded(name, _CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _loaded(name: str, kind: str) -> Kind:
    return getattr(importlib.import_module(module_of(name)), kind)()


KINDS: Mapping[str, Kind] = _Kinds()


def read_rows(path: StrPath, kind: str) -> list:
    """Read the rows of a task of some kind, as `tasks.write_records` wrote them; errors as in `read_records`."""
    return read_records(path, KINDS[kind].row)
